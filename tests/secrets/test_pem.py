"""Private keys without their armour, or in one of JSON. Every sample is put together here."""

import base64

import pytest

from memfs.secrets import find_secrets
from tests.secrets.samples import MIXED, values

LINE = (MIXED + "aY3/u+Kd")[:64]


@pytest.mark.parametrize(
    "text",
    [
        '{"kty":"oct","k":"SECRET","alg":"HS256"}',
        '{"d": "SECRET", "kty": "EC", "crv": "P-256"}',
        '"{\\"kty\\":\\"oct\\",\\"k\\":\\"SECRET\\"}"',
        "{ kty: 'OKP', crv: 'Ed25519', d: 'SECRET' }",
    ],
)
def test_the_private_part_of_a_key_in_json_is_a_secret(text: str) -> None:
    key = "zqmvkrwtpxhjbdnsgfclyaeuio-zqwvkxjr_bmtpdhg"  # only what is beside it tells
    assert values(text.replace("SECRET", key)) == [key]


BEGINNINGS = {
    "PKCS #1": "MIIE" + "pAIB" + "AAKCAQEA",
    "PKCS #8": "MIIE" + "vgIB" + "ADANBgkqhkiG9w0BAQEFAASCBKgw",
    "encrypted": "MIIF" + "LTBX" + "BgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0B",
    "SEC 1": "MHcC" + "AQEE" + "IABC",
    "OpenSSH": "b3Bl" + "bnNzaC1rZXkt" + "djEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB",
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_a_private_key_without_its_armour_is_known_by_its_beginning(kind: str) -> None:
    line = BEGINNINGS[kind] + "AAAA" * 8
    assert values(f'"{line}\\n" +') == [line]


@pytest.mark.parametrize("text", ["\\nLINE\\nLINE\\n", "-LINE", "`LINE`"])
def test_a_line_of_a_key_is_one_behind_a_break_in_a_string_too(text: str) -> None:
    found = values(text.replace("LINE", LINE))
    assert found == [LINE] * text.count("LINE")


@pytest.mark.parametrize(
    "text", ['    "LAST\\n"', '+ "LAST\\r\\n"', "LAST\n", "#6 0.245 LAST", " *  LAST", "// LAST"]
)
def test_the_last_line_of_a_key_is_short(text: str) -> None:
    last = base64.b64encode(bytes(range(131, 156))).decode()
    assert values(text.replace("LAST", last)) == [last]


def test_the_last_line_of_a_key_needs_no_padding() -> None:
    last = "q7Rw2Zt+9mXc4VbN8sLd6/fJ3gPy5TuA"
    assert values(f"// {last}\n") == [last]
    assert values(f"the value of {last} changes\n") == []


def test_a_private_key_in_an_address_is_one_secret() -> None:
    head, tail = (
        "-----BEGIN%20RSA%20PRIVATE%20" + "KEY-----",
        "-----END%20RSA%20PRIVATE%20" + "KEY-----",
    )
    key = f"{head}%0A{LINE}%0A{LINE}%0A{tail}"
    assert values(f"body {key}&x=1") == [key]


@pytest.mark.parametrize(
    "text",
    [
        "the k and d of a kty are private",
        '{"kty": "oct", "k": "your-256-bit-secret"}',
        f"acme.dev/tool v1.2.3 h1:{LINE[:43]}=",
        "aGVsbG8sIHdvcmxkLCB0aGlzIGlzIHRleHQu=\n",
        base64.b64encode(b"just words of a person, nothing more").decode() + "\n",
        'printf("AnotherLongIdentifierOfTheProgram2\\n");',
    ],
)
def test_what_is_no_private_key_is_left(text: str) -> None:
    assert find_secrets(text) == []
