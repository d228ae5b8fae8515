"""What looks like a secret and is none: public halves, examples, ids, what memfs itself makes."""

import base64
import json
import random
import struct

import pytest

from memfs.core import records
from memfs.core.records import Passage
from memfs.hosts import markdown
from memfs.importers import undo, writers
from memfs.importers.writers import MemoryContents
from memfs.secrets import find_secrets
from memfs.store import clock, commits, journal, store_paths
from memfs.team import membership, protocol
from tests.secrets.samples import UUID

LOTS = random.Random(3)  # noqa: S311 - the same at every run


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def ssh(kind: str, *sizes: int) -> str:
    """A public key as ssh writes it: the name of the algorithm, and numbers, with their lengths."""
    parts = [kind.encode(), *(LOTS.randbytes(size) for size in sizes)]
    return encode(b"".join(struct.pack(">I", len(part)) + part for part in parts))


SSH = {
    "ssh-ed25519": ssh("ssh-ed25519", 32),
    "ssh-rsa": ssh("ssh-rsa", 3, 257),
    "ssh-dss": ssh("ssh-dss", 129, 21, 128, 128),
    "ecdsa-sha2-nistp256": ssh("ecdsa-sha2-nistp256", 8, 65),
    "sk-ssh-ed25519@openssh.com": ssh("sk-ssh-ed25519@openssh.com", 32, 4),
    "ssh-ed25519-cert-v01@openssh.com": ssh("ssh-ed25519-cert-v01@openssh.com", 32, 32, 200),
}


@pytest.mark.parametrize("kind", SSH)
@pytest.mark.parametrize(
    "text",
    [
        *("{key}", "{kind} {key} bob@laptop", "the key is {kind} {key}"),
        'command="/bin/true",no-pty {kind} {key} bob@laptop',
        "github.com,140.82.121.4 {kind} {key}\ngit.acme.dev {kind} {key}",
        "|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= {kind} {key}",
        *('public_key = "{kind} {key}"', "DEPLOY_KEY={kind} {key}"),
        *("- name: deploy\n  key: {kind} {key}\n", '{{"key": "{kind} {key} bob@laptop"}}'),
    ],
)
def test_a_public_key_of_ssh_is_none(text: str, kind: str) -> None:
    assert find_secrets(text.format(kind=kind, key=SSH[kind])) == []


# How the DER of a public key begins, and of a certificate.
PUBLIC = {
    "RSA": "30820122300d06092a864886f70d01010105000382010f003082010a0282010100",
    "P-256": "3059301306072a8648ce3d020106082a8648ce3d030107034200",
    "P-384": "3076301006072a8648ce3d020106052b81040022036200",
    "Ed25519": "302a300506032b6570032100",
    "a certificate": "3082030930820" + "1f1a0030201020214",
}


@pytest.mark.parametrize("kind", PUBLIC)
def test_a_public_key_and_a_certificate_are_none(kind: str) -> None:
    body = encode(bytes.fromhex(PUBLIC[kind]) + LOTS.randbytes(260))
    name = "CERTIFICATE" if kind == "a certificate" else "PUBLIC KEY"
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    armoured = f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----\n"
    for text in (
        armoured,
        armoured[:300],
        json.dumps({"pem": armoured}),
        f"ca.crt: {encode(armoured.encode())}",
        body,
        f"PUBLIC_KEY={body}",
        f"pubkey: {body}",
        f'"x5c": ["{body}"]',
        f"<X509Certificate>{body}</X509Certificate>",
        f"v=DKIM1; k=rsa; p={body}",
    ):
        assert find_secrets(text) == [], text


def test_what_follows_an_armour_that_does_not_end_is_looked_through() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    for name in ("CERTIFICATE", "PGP SIGNED MESSAGE", "PUBLIC KEY"):
        text = f"-----BEGIN {name}-----\n\npassword = plover-Xk29\n{token}\n-----END {name}-----"
        assert [each.type for each in find_secrets(text)] == ["password", "github-token"]


def test_a_private_key_with_its_public_half_is_one() -> None:
    text = (
        f"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPublic-Lines: 6\n{SSH['ssh-rsa']}\n"
        f"Private-Lines: 1\n{encode(LOTS.randbytes(45))}\nPrivate-MAC: {'3f9a' * 16}\n"
    )
    assert [each.type for each in find_secrets(text)] == ["private-key"]


AWS = "AKIA" + "IOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"


@pytest.mark.parametrize(
    "text",
    [
        *AWS,
        f"AWS_ACCESS_KEY_ID={AWS[0]}\nAWS_SECRET_ACCESS_KEY={AWS[1]}\n",
        f'aws_secret_access_key = "{AWS[1]}"',
        f"https://x.dev/?X-Amz-Credential={AWS[0]}%2F20130524%2Fus-east-1%2Fs3",
        "stripe.api_key = 'sk_" + "test_4eC39HqLyjWDarjtT1zdp7dc'",
        "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "GITHUB_TOKEN=ghp_" + "x" * 36,
        "AKIA" + "X" * 16,
    ],
)
def test_what_vendors_print_as_an_example_is_none(text: str) -> None:
    assert find_secrets(text) == []


THINGS = (
    "Vercel org organization tenant job account project team workspace user request deployment run "
    "app subscription customer device session Netlify sentry"
).split()


@pytest.mark.parametrize("thing", THINGS)
def test_a_uuid_is_an_id(thing: str) -> None:
    for text in (
        f"{thing} {UUID}",
        f"{thing}: {UUID}",
        f"the {thing} is {UUID}",
        f"{thing}_id={UUID}",
        f"Vercel {thing} {UUID}",
        f"Heroku {thing} {UUID}",
        f"AZURE_{thing.upper()}_ID={UUID}",
        f'{{"{thing}": "{UUID}", "key": "{UUID}"}}',
    ):
        assert find_secrets(text) == [], text
    for name in ("key", "idempotency_key", "Idempotency-Key", "primary_key"):
        assert find_secrets(f"{name}: {UUID}") == []


@pytest.mark.parametrize(
    "text", [f"api_key={UUID}", f"HEROKU_API_KEY={UUID}", f"heroku: {UUID}", f"token: {UUID}"]
)
def test_a_uuid_whose_own_key_says_so_is_a_secret(text: str) -> None:
    assert [text[each.start : each.end] for each in find_secrets(text)] == [UUID]


@pytest.mark.parametrize(
    "word", "Wrong Falsches Invalid Incorrect Example Dummy Fake Test Bad Sample".split()
)
@pytest.mark.parametrize(
    "text",
    [
        *("Password: {}", "2. Enter password: {}", "- **Password**: {}", "| Password | {} |"),
        *('password = "{}"', "Kennwort: {}", "enter the password {} and go on"),
    ],
)
def test_a_value_that_is_called_wrong_opens_nothing(text: str, word: str) -> None:
    for value in (f"{word}Password123", f"{word.lower()}_password_1", f"{word}Pass1!"):
        assert find_secrets(text.format(value)) == [], value


@pytest.mark.parametrize(
    "text", ["enter an incorrect password: Kob4!deru", "wrong_password = 'kob4deru9'"]
)
def test_nor_does_one_whose_name_says_that_it_is_wrong(text: str) -> None:
    assert find_secrets(text) == []


# What memfs names its own things with, made by its own functions.
TEXT = "the build takes four minutes\n"
PASSAGE = Passage(clock.unique(), TEXT, "2026-05-03T10:00:00Z", 5, (), "")
OURS = {
    "passage": PASSAGE.id,
    "file of a passage": writers.make_name(PASSAGE),
    "import": undo.make_id(),
    "key of an import": undo.hash_text(TEXT),
    "block": journal.digest(TEXT),
    "fact": records.make_id("a", "b", "c"),
    "folder of a session": store_paths.file_name("a session / of 2026"),
    "folder of a long session": store_paths.file_name("x/" * 99),
    "message of a team": protocol.compute_id("claude", UUID, UUID, "", "user", TEXT),
    "origin of a project": protocol.hash_origin("https://git.acme.dev/shop.git"),
    "server of a team": membership.make_key("https://team.acme.dev"),
    "mark of a chat": markdown.hash_lines([TEXT]),
    "version of git": commits.blob_id(TEXT.encode(), 40),
    "session": UUID,
}


@pytest.mark.parametrize("what", OURS)
@pytest.mark.parametrize(
    "text",
    [
        *("{}", "{}\n", "see {} for that", "the passage {} says so", "id: {}", "session {}"),
        '{{"id": "{}", "marks": ["{}"], "digest": "{}", "path": "archive/2026-05/{}.md"}}',
        *("local/imports/{}.json", "memfs archive show {}"),
        "[2026-05-03, {}] the build takes four minutes",
    ],
)
def test_what_memfs_makes_is_no_secret(text: str, what: str) -> None:
    assert find_secrets(text.replace("{}", OURS[what])) == []


def test_the_names_of_exported_notes_are_none() -> None:
    words = (
        "token killer api key secret auth look known issues rust build where client linear"
        " slack session openai stripe gateway optimized commands and the of to 2 v1 10"
    ).split()
    for _ in range(400):
        title = " ".join(LOTS.choices(words, k=LOTS.randint(3, 9)))
        passage = Passage(clock.unique(), f"# {title}\n\n{TEXT}", "2026-05-03T10:00:00Z", 5, (), "")
        for note in writers.write_basic_memory(MemoryContents("x", (), (passage,), {})).values():
            assert find_secrets(note.decode()) == []
