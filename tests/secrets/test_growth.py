"""The time to look for secrets grows with a text, and not with its square, whatever is repeated."""

import time

import pytest

from memfs.secrets import find_secrets
from memfs.secrets.token_formats import FORMATS
from tests.secrets.samples import HEAD, MIXED

KEYWORDS = [
    *("password", "pass", "token", "secret", "key", "auth", "bearer", "identified", "psexec"),
    *("mysql", "htpasswd", "okta"),
]
TIES = ("=", ": ", ' = "', "='", " ", "/", "://a:b@", "(", '", "', "\\n", "<", ">", "`", " is ")
ARMOUR = (
    *("login(", "contribsys", "echo ", "net user ", HEAD, "-----BEGIN CERTIFICATE-----"),
    *("-----END ", "-u a:", ":5432:a:a:", "[redacted:", "\n"),
)
UNITS = (
    *sorted({form.anchor + tail for form in FORMATS for tail in ("", "a1-")}),
    *(word + tie for word in KEYWORDS for tie in TIES),
    *(*TIES, *ARMOUR, "a", "A1", "aB3/", "x", "0", ".", "-", "_a", "$1$a", "eyJa."),
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
    *("pwd=", "PWD=a;", "password=abc;", "password=ab1;uid=", "?user=a&password=bcd&", "server=a;"),
    *("user=a password=", "host=a user=b password=c1 ", ' pass="+"', ":6380,password=ab1,"),
    *("sqlplus a/", "oracle:thin:a/bcde@", "a:bcde@tcp(", "a:bcde", "@tcp("),
    *('getconnection("', 'pscredential ("a", ', "convertto-securestring -string "),
    *('"kty":', '{"kty":"oct",', "kty:{", '"d":"', '{"kty":"d":"' + MIXED[:20]),
    *("-----BEGIN+", "-----BEGIN%20RSA PRIVATE%20", "MII", "MIIabcIBAAK", f"\\n{MIXED[:30]}"),
    *(f"{MIXED[:27]}=\n", f'{MIXED[:27]}\\n"', f"{' ' * 16}{MIXED[:27]}=\n"),
)


def seconds(text: str) -> float:
    before = time.process_time()
    find_secrets(text)
    return time.process_time() - before


@pytest.mark.thorough
def test_time_grows_with_the_text_whatever_is_repeated() -> None:
    """Four times the text takes some four times as long; sixteen would be a square."""
    suspects = list(UNITS)
    for size in (500, 4_000, 16_000, 46_250):  # what was only noise in a small text goes
        suspects = [
            unit
            for unit in suspects
            if seconds(unit * (4 * size // len(unit)))
            > 9 * max(seconds(unit * (size // len(unit))), 0.0002)
        ]
    assert suspects == []
