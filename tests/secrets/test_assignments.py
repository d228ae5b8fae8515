"""Headers and sentences that hold a secret. Every sample is put together here."""

import pytest

from memfs.secrets import find_secrets
from tests.secrets.samples import HEX, PASSWORD, UUID, values

KEY = HEX[:32]
SIGNED, WORD, BERRY = "wombat!" + "77", "brak" + "sha", "blooberry"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        # A header of its own lets in.
        (f'curl -H "X-Acme-Access: {KEY}" https://acme.dev', KEY),
        ("curl -H 'Api-Token: 4rw7t2kq9x'", "4rw7t2kq9x"),
        (f"headers: {{ 'X-Acme-Access': '{KEY}' }}", KEY),
        (f'-H "Authorization: AcmeKey {UUID}"', UUID),
        (f'"Authorization": "AcmeKey {UUID}"', UUID),
        # A setting with a name of several parts may hold a plain word.
        (f"spring.datasource.username=bob\nspring.datasource.password={WORD}\n", WORD),
        # Words with a sign and a number, in prose.
        (f"The password is {SIGNED}", SIGNED),
        (f'the admin password is "{SIGNED}".', SIGNED),
        (f"the root password was changed to {SIGNED}", SIGNED),
        (f"password equals {SIGNED}", SIGNED),
        (f"Use password {SIGNED} to log in", SIGNED),
        # A quoted word that is said to be a password.
        *((f"The default password is {each}{BERRY}{each} for now", BERRY) for each in "\"'`"),
    ],
)
def test_a_secret_is_known_by_what_is_beside_it(text: str, secret: str) -> None:
    assert values(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "the password for the staging db is SECRET",
        "The password for the staging database on the server in the cellar is SECRET.",
        "password for bob@acme.dev: SECRET",
        "the admin password for staging, password admin: SECRET",
        "pass phrase of the gpg key = SECRET",
        *("Het wachtwoord van de staging-database is SECRET", "mot de passe admin : SECRET"),
        *("Password (staging): SECRET", "use SECRET as the password"),
        *("please set SECRET as the admin password.", "the credentials are bob / SECRET"),
        *("das Passwort für die Staging-DB ist SECRET", "Das Datenbankpasswort lautet SECRET."),
        *("Kennwort: SECRET", "SECRET ist das Kennwort für den Server"),
        *("Die Zugangsdaten lauten admin / SECRET", "Zugangsdaten: bob / SECRET"),
        *("le mot de passe de la base de staging est SECRET", "Mot de passe : SECRET"),
        *("identifiants : bob / SECRET", "mdp: SECRET"),
        *("la contraseña de la base de datos es SECRET", "Contraseña para staging: SECRET"),
        *("la clave del servidor es SECRET", "credenciales: bob / SECRET"),
        *("la password del db di staging è SECRET", "la password per il server: SECRET"),
        *("credenziali: bob / SECRET", "a senha do banco de staging é SECRET", "Senha: SECRET"),
    ],
)
def test_a_password_in_a_sentence_is_found_in_six_languages(text: str) -> None:
    assert values(text.replace("SECRET", PASSWORD)) == [PASSWORD]


@pytest.mark.parametrize(
    "text",
    [
        # Names in programs, and of versions.
        *("    password: SecretStr", "    def visit_Pass(self, n: ast3.Pass) -> PassStmt:"),
        *("module.exports.PassThrough = CollectPassThrough", "  password: readPassword,"),
        *("Buffer.from(password, 'base64')", "apt\tpasswd\t1:4.13+dfsg1-1+deb12u1"),
        'MovedAttribute("HTTPPasswordMgr", "urllib2", "urllib.request")',
        # Sentences about passwords.
        *(f"the password is {each}required{each}" for each in "\"'`"),
        "the password manager of choice is 1Password",
        "the algorithm of the password hash is PBKDF2-SHA512",
        "Use SHA-256 as the password hash",
        "the password for the user is stored as a hash",
        "das Passwort für die Datenbank steht im Tresor",
        "le mot de passe de la base est obligatoire",
        "la clave primaria es user_id",
        "mot clé : développement",
        "Pass type_comments=True to get them",
        "'passwd', 'splitport', 'splituser'",
        "`PWD=word` is a password where a user is named",
        # What lets nobody in.
        f"-H 'X-Request-Id: {UUID}'",
        f'-H "X-Acme-Trace: {KEY}"',
        "Authorization: Bearer <token from the dashboard>",
        'curl -H "Api-Token: token-for-tests-1"',
        'curl -H "Authorization: Bearer token123"',
        "https://acme.dev/issues?q=is%3Aissue+is%3Aopen+label%3Aarea-mcp",
        f"Acme.Data, Version=4.1.3.0, Culture=neutral, PublicKeyToken={KEY[:16]}",
        "Pass: Minimal permissions suffice",
        "the password is base64-encoded",
        "the password is changed to something new",
        "use password authentication@v2 for that",
    ],
)
def test_what_holds_no_password_is_left(text: str) -> None:
    assert find_secrets(text) == []
