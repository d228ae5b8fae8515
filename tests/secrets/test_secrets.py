"""Finding and redacting secrets. Every sample is put together here, so that no file holds one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.secrets import Secret, find_secrets, redact
from memfs.secrets.heuristics import is_wordy
from memfs.secrets.token_formats import FORMATS
from tests.secrets.samples import B64, GITHUB, HEAD, HEX, MIXED, TAIL, UUID, values

TOKENS = {
    "aws-access-key": "AKIA" + "Q3EXZ7LMNP2RSTV4",
    "github-token": GITHUB,
    "gitlab-token": "glp" + "at-" + MIXED[:20],
    "slack-token": "xox" + "b-" + "123456789012-" + MIXED[:24],
    "stripe-key": "sk_" + "live_" + MIXED[:24],
    "google-api-key": "AI" + "za" + MIXED[:35],
    "anthropic-key": "sk-" + "ant-api03-" + MIXED,
    "openai-key": "sk-" + "proj-" + MIXED,
    "npm-token": "npm" + "_" + MIXED[:36],
    "pypi-token": "py" + "pi-" + MIXED + MIXED[:20],
    "sendgrid-key": "S" + "G." + MIXED[:22] + "." + MIXED[:43],
    "twilio-key": "S" + "K" + HEX[:32],
    "digitalocean-token": "dop" + "_v1_" + HEX[:64],
    "shopify-token": "shp" + "at_" + HEX[:32],
    "square-token": "sq0" + "atp-" + MIXED[:22],
    "huggingface-token": "h" + "f_" + MIXED[:34],
    "databricks-token": "da" + "pi" + HEX[:32],
    "docker-token": "dckr" + "_pat_" + MIXED[:27],
    "vault-token": "hv" + "s." + MIXED[:24],
    "age-key": "AGE-" + "SECRET-KEY-1" + MIXED.upper()[:55],
    "telegram-token": "123456789" + ":A" + "A" + MIXED[:33],
    "memfs-token": "mft" + "_" + MIXED[:43],
    "discord-token": "M" + MIXED[:23] + "." + MIXED[:6] + "." + MIXED[:27],
    "azure-client-secret": "abc" + "8Q~" + MIXED[:34],
    "jwt": "ey" + "J" + MIXED[:30] + "." + MIXED[:40] + "." + MIXED[:43],
    "slack-webhook": "hooks.slack" + ".com/services/" + "T0AB12CD3/B0EF45GH6/" + MIXED[:24],
    "password-hash": "$6" + "$" + MIXED[:8] + "$" + MIXED + MIXED[:30],
}


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_known_by_its_form(kind: str) -> None:
    text = f"we use {TOKENS[kind]} for that"
    start = text.index(TOKENS[kind])
    assert find_secrets(text) == [Secret(kind, start, start + len(TOKENS[kind]))]
    assert redact(text) == f"we use [redacted:{kind}] for that"


SIGNATURE = "aY3%2Fu%2BKd" + MIXED[:20] + "%3D"


@pytest.mark.parametrize(
    ("address", "signature"),
    [
        ("https://b.s3.acme.dev/k?X-Amz-Expires=3600&X-Amz-Signature={}", HEX[:64]),
        ("https://b.s3.acme.dev/k?X-Amz-Expires=3600\\u0026X-Amz-Signature={}", HEX[:64]),
        ("https://b.s3.acme.dev/k?X-Amz-Expires=3600&amp;X-Amz-Signature={}", HEX[:64]),
        ("u=https%3A%2F%2Fb.acme.dev%2Fk%3FX-Amz-Expires%3D1%26X-Amz-Signature%3D{}", HEX[:64]),
        ("https://b.s3.acme.dev/k?Expires=17&Signature={}", SIGNATURE),
        ("https://storage.acme.dev/b/o?X-Goog-Expires=900&X-Goog-Signature={}", HEX),
        ("https://a.blob.acme.dev/c/f?sv=2022-11-02&sp=r&sig={}", SIGNATURE),
        ("https://a.blob.acme.dev/c/f?sig={}&sv=2022-11-02", SIGNATURE),
        ("SharedAccessSignature sr=ns.acme.dev&sig={}&se=1", SIGNATURE),
        ("https://d1.acme.dev/f?Expires=17&Signature={}&Key-Pair-Id=K2JC", f"{MIXED}~{MIXED}__"),
        ("Cookie: CloudFront-Signature={}", f"{MIXED}~{MIXED}__"),
        ("https://x.acme.dev/k?q-sign-algorithm=sha1&q-signature={}", HEX[:40]),
    ],
)
def test_the_signature_of_an_address_is_a_secret(address: str, signature: str) -> None:
    assert values(address.format(signature)) == [signature]
    assert find_secrets(address.format("required")) == []
    assert find_secrets(address.format("YOUR_SIGNATURE_GOES_HERE")) == []


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\n    ", '" +\n"'])
def test_a_private_key_is_one_secret_however_it_is_wrapped(newline: str) -> None:
    key = newline.join([HEAD, *(B64[at : at + 64] for at in range(0, 192, 64)), TAIL])
    assert values(f"before {key} after") == [key]


def test_a_private_key_that_was_cut_off_is_a_secret_to_its_last_line() -> None:
    assert redact(f"{HEAD}\n{B64[:64]}\n{B64[64:128]}\n") == "[redacted:private-key]"


WEAK, STRONG = "tr0ub4dor" + "&3", MIXED[:32]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f'password = "{WEAK}"', WEAK),
        (f"DB_PASSWORD={WEAK}\n", WEAK),
        (f"password: {WEAK}", WEAK),
        (f'{{"userPassword" : "{WEAK}"}}', WEAK),
        (f'{{\\"password\\":\\"{WEAK}\\"}}', WEAK),
        (f"'password' => '{WEAK}',", WEAK),
        (f"define('DB_PASSWORD', '{WEAK}');", WEAK),
        (f"<password>{WEAK}</password>", WEAK),
        (f"machine mail.acme.dev login bob password {WEAK}", WEAK),
        (f"tool --password {WEAK} --verbose", WEAK),
        (f"CREATE USER bob IDENTIFIED BY '{WEAK}';", WEAK),
        (f"export API_KEY={STRONG}", STRONG),
        (f"api-key: {HEX[:32]}", HEX[:32]),
        (f"clientSecret: '{HEX[:40]}'", HEX[:40]),
        (f"Authorization: Bearer {STRONG}", STRONG),
        (f"curl -H 'X-Api-Key: {STRONG}' https://acme.dev", STRONG),
        (f"curl -u bob:{WEAK} https://acme.dev", WEAK),
        (f"GET /v1/me?access_token={HEX[:40]}", HEX[:40]),
        (f"postgres://bob:{WEAK}@db.acme.dev:5432/main", WEAK),
        (f"https://bob:{WEAK}@git.acme.dev/repo.git", WEAK),
        (f"db.acme.dev:5432:main:bob:{WEAK}", WEAK),
        (f"MAILGUN_KEY={HEX[:32]}", HEX[:32]),
        (f"AccountName=a;AccountKey={B64[:86]}==;", B64[:86] + "=="),
        (f"- name: DB_PASSWORD\n  value: {WEAK}\n", WEAK),
        (f'{{"name": "API_TOKEN", "value": "{STRONG}"}}', STRONG),
        (f"<key>password</key>\n<string>{WEAK}</string>", WEAK),
        (f'variable "db_password" {{ default = "{WEAK}" }}', WEAK),
        (f'#define WIFI_PASSWORD "{WEAK}"', WEAK),
        (f"ansible_ssh_pass: {WEAK}", WEAK),
        (f"requirepass {WEAK}", WEAK),
        (f"The password for staging is `{WEAK}`.", WEAK),
        (f"**Password:** {WEAK}", WEAK),
        (f"| Password | `{WEAK}` |", WEAK),
        (f"Contraseña: {WEAK}", WEAK),
        (f"密码\uff1a{WEAK}", WEAK),
        (f"my acme api key is `{STRONG}`", STRONG),
        (f"acme-secret-{UUID}", UUID),
        (f'client = Client("{STRONG}")', STRONG),
        (f"acme_live_{STRONG}", f"acme_live_{STRONG}"),
        (f"echo {WEAK} | sudo -S true", WEAK),
        (f"mysql -h db -uroot -p{WEAK} shop", WEAK),
        (f"Server=db;User Id=sa;Password={STRONG};Database=shop", STRONG),
        (f"https://acme.dev/x?access_token={HEX[:40]}&page=2", HEX[:40]),
        (f"API_KEY={STRONG}\\nOTHER=1", STRONG),
        (f"https://{STRONG}@git.acme.dev/repo.git", STRONG),
        (f"-Dsonar.login={HEX[:40]}", HEX[:40]),
        (f'key = "{(MIXED + HEX)[:60]}"', (MIXED + HEX)[:60]),
    ],
)
def test_a_secret_is_known_by_its_key(text: str, secret: str) -> None:
    assert values(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}\n...\n{TAIL}",
        'password = "changeme"',
        'password: "<your-password>"',
        "API_KEY=your-api-key-here",
        "API_KEY=${API_KEY}",
        "API_KEY=$API_KEY",
        "token: {{ secrets.TOKEN }}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "const token = process.env.GITHUB_TOKEN;",
        'token = os.environ["GITHUB_TOKEN"]',
        'password = get_password("main")',
        "password = self.settings.password",
        "password: string;",
        "password=xxxxxxxxxxxx",
        "password: ********",
        "private_key: /etc/ssl/private/server.key",
        "SECRET_FILE=./config/secret.key",
        "max_tokens: 4096",
        "tokenizer = AutoTokenizer2048",
        "the password must have 8 characters",
        "postgres://postgres:postgres@localhost:5432/main",
        "postgres://user:password@db.acme.dev/main",
        "postgres://$USER:$PASSWORD@db.acme.dev/main",
        f"commit {HEX[:40]}",
        f'"integrity": "sha512-{B64[:86]}=="',
        f'resolved "https://registry.acme.dev/x.tgz#{HEX[:40]}"',
        '"id": "3f9a1c7e-5b2d-4064-8f9a-1c7e5b2d8064"',
        "image: acme/app@sha256:" + HEX[:64],
        "model: claude-sonnet-4-20250514",
        "see docs/decisions/2026-01-26-use-tokens-for-login.md",
        "password: 'password123'",
        "user.set_password('newpassword1')",
        "password: hashedPassword,",
        "- **Password**: AcmeAdmin66",
        "docker exec -i acme-mysql mysql -uroot -pAcmeAdmin66 acme",
        "the password is required, and hashed with SHA-256",
        "Pass `country` for that",
        "CLICKHOUSE_PASSWORD=clickhouse",
        "password: String!",
        "date -u +%Y-%m-%dT00:00:00.000Z",
        "tool --password=dbpass --database=prod2",
        "SLACK_BOT_TOKEN=xo" + "xb-your-bot-token",
        'client.files.delete("file_011' + MIXED[:20] + '")',
        'ssl_ciphers "ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384";',
        f"traceparent: 00-{HEX[:32]}-{HEX[:16]}-01",
        f"ACME_COMMIT={HEX[:40]}",
        "session 2026-01-05-3f9a1c7e-5b2d-4064-8f9a-1c7e5b2d8064",
        "pod-payment-7d4f8b9c-xk2l9",
        "[redacted:password] and password=[redacted:password]",
        "",
    ],
)
def test_what_only_looks_like_a_secret_is_left(text: str) -> None:
    assert find_secrets(text) == []
    assert redact(text) == text


def test_secrets_come_in_order_with_their_types() -> None:
    text = f"A_TOKEN={TOKENS['github-token']}\npassword: {WEAK}\n"
    assert [found.type for found in find_secrets(text)] == ["github-token", "password"]
    assert redact(text) == "A_TOKEN=[redacted:github-token]\npassword: [redacted:password]\n"


PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        *(form.anchor for form in FORMATS),
        *("password", "token", "=", ": ", '"', "'", "\\n", "\n", " ", "-u a:", "://", "@", "/"),
        *("[redacted:", "[redacted:token]", "]", "github", HEAD, TAIL, B64[:64], HEX[:40], WEAK),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=6))).map("".join))


@given(TEXTS)
def test_what_is_redacted_is_every_secret_and_nothing_else(text: str) -> None:
    at = 0
    for kind, start, end in find_secrets(text):
        assert kind
        assert at <= start < end <= len(text)
        at = end
    once = redact(text)
    assert find_secrets(once) == []
    assert redact(once) == once
    at = 0
    for left in re.split(r"\[redacted:[a-z0-9-]+\]", once):
        at = text.find(left, at)
        assert at >= 0
        at += len(left)


def test_redacting_stops_where_the_next_key_begins() -> None:
    text = f"?token={HEX[:40]}&page=2;password={WEAK};ssl=1"
    assert redact(text) == "?token=[redacted:token]&page=2;password=[redacted:password];ssl=1"
    assert redact(f"KEY={STRONG}\\nuser: bob") == "KEY=[redacted:api-key]\\nuser: bob"


def test_words_are_told_from_random_letters() -> None:
    for name in (
        "getUserById2",
        "2026-01-26-use-tokens-for-login",
        "XMLHttpRequest",
        "signing_key_v2",
    ):
        assert is_wordy(name), name
    for value in (STRONG, HEX[:32], MIXED[:20].lower(), "qxzvkjwqpfgh"):
        assert not is_wordy(value), value


@pytest.mark.parametrize(
    "before",
    [
        *("GH=\x1b[01;31m\x1b[K", "\x1b[m", "\\x1b[31m", "\\u001b[0K", "a\\u003d", "\\x22"),
        *("q=%22", "\\n", "GET https://github.com/Organisation/RepositoryName/"),
    ],
    ids=ascii,
)
def test_a_token_starts_behind_an_escape_and_in_a_path(before: str) -> None:
    token = TOKENS["github-token"]
    assert token not in redact(f"{before}{token}")
    assert token not in redact(f'{{"u": "{before}{token}"}}')


def test_letters_in_the_middle_of_base64_are_no_anchor() -> None:
    assert values(f"{B64[:60]}/{TOKENS['aws-access-key']}") == []
