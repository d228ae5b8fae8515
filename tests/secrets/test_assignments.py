"""Headers and sentences that hold a secret. Every sample is put together here."""

from __future__ import annotations

import pytest

from memfs.secrets import find_secrets
from tests.secrets.growth import check_growth

MIXED = "q7Rw2ZtK9mXc4VbN8sLd6HfJ3gPy5TuA1eWo0iCx7RkB2nMv9QzD4hYs"
HEX = "3f9a1c7e5b2d8064" * 2
UUID = "3f9a1c7e-5b2d-4064-8f9a-1c7e5b2d8064"
SIGNED = "wombat!" + "77"


def values(text: str) -> list[str]:
    return [text[found.start : found.end] for found in find_secrets(text)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f'curl -H "X-Acme-Access: {HEX}" https://acme.dev', HEX),
        ("curl -H 'Api-Token: 4rw7t2kq9x'", "4rw7t2kq9x"),
        (f"headers: {{ 'X-Acme-Access': '{HEX}' }}", HEX),
        (f'-H "Authorization: AcmeKey {UUID}"', UUID),
        (f'"Authorization": "AcmeKey {UUID}"', UUID),
    ],
)
def test_a_header_of_its_own_lets_in(text: str, secret: str) -> None:
    assert values(text) == [secret]


def test_a_setting_with_a_name_of_several_parts_may_hold_a_plain_word() -> None:
    word = "brak" + "sha"
    assert values(f"spring.datasource.username=bob\nspring.datasource.password={word}\n") == [word]


@pytest.mark.parametrize(
    "text",
    [
        "The password is SECRET",
        'the admin password is "SECRET".',
        "the root password was changed to SECRET",
        "password equals SECRET",
        "Use password SECRET to log in",
    ],
)
def test_words_with_a_sign_and_a_number_are_a_password_in_prose(text: str) -> None:
    assert values(text.replace("SECRET", SIGNED)) == [SIGNED]


SPOKEN = "plover-" + "Xk29zQ"


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
    assert values(text.replace("SECRET", SPOKEN)) == [SPOKEN]


@pytest.mark.parametrize("quote", ['"', "'", "`"])
def test_a_quoted_word_that_is_said_to_be_a_password_is_one(quote: str) -> None:
    assert values(f"The default password is {quote}blooberry{quote} for now") == ["blooberry"]
    assert values(f"the password is {quote}required{quote}") == []


@pytest.mark.parametrize(
    "text",
    [
        *("    password: SecretStr", "    def visit_Pass(self, n: ast3.Pass) -> PassStmt:"),
        *("module.exports.PassThrough = CollectPassThrough", "  password: readPassword,"),
        *("Buffer.from(password, 'base64')", "apt\tpasswd\t1:4.13+dfsg1-1+deb12u1"),
        'MovedAttribute("HTTPPasswordMgr", "urllib2", "urllib.request")',
    ],
)
def test_names_in_programs_and_of_versions_are_none(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    "text",
    [
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
    ],
)
def test_a_sentence_about_passwords_holds_none(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"-H 'X-Request-Id: {UUID}'",
        f'-H "X-Acme-Trace: {HEX}"',
        "Authorization: Bearer <token from the dashboard>",
        'curl -H "Api-Token: token-for-tests-1"',
        'curl -H "Authorization: Bearer token123"',
        "https://acme.dev/issues?q=is%3Aissue+is%3Aopen+label%3Aarea-mcp",
        f"Acme.Data, Version=4.1.3.0, Culture=neutral, PublicKeyToken={HEX[:16]}",
        "Pass: Minimal permissions suffice",
        "the password is base64-encoded",
        "the password is changed to something new",
        "use password authentication@v2 for that",
    ],
)
def test_what_lets_nobody_in_is_left(text: str) -> None:
    assert find_secrets(text) == []


UNITS = (
    *('"x-a-', '"x-a-a-a-a-a', '"x-a: ' + "a" * 20, "-H 'a", "-H 'api-token: a1"),
    *("authorization: a ", "authorization: Abcde ", "a.b.password=", "password a!1bcde "),
    *("pass: a ", "publickeytoken=", "%3A" + "q7Rw2ZtK9mXc4VbN8s"),
    *(
        "password for a b ",
        "password for ",
        " as the password",
        "a1B is password ",
        "passwort (a) ",
    ),
    *("credentials: a / ", "zugangsdaten: ", "clave de ", "&sig=", "&Signature=a1", "X-a-a-a-sig="),
    *(
        *("seed ", "phrase a: ", "wallet ability ", "ability ", "phrase: 1. ability\n"),
        "0x3f9a wallet ",
    ),
    *(
        "REJfUEFTU1dPUkQ9",
        "REJfUEFTU1dPUkQ9\n",
        "REJfUEFTU1dPUkQ9REJfUEFTU1dPUkQ9REJfUEFTU1dPUkQ9\n",
    ),
    *("-----BEGIN PUBLIC KEY-----\n", "-----BEGIN PUBLIC KEY-----\\nMIIB", "AAAAC3NzaC1lZDI1NTE5"),
    *("AAAAC3NzaC1lZDI1NTE5 ", "ssh-ed25519 ", "MFkwEwYHKoZIzj0C"),
)


@pytest.mark.thorough
@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_text_up_to_185_kb(unit: str) -> None:
    check_growth(unit)
