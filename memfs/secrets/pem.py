"""Private keys in their armour or in JSON, and the blocks in the same armour that are public."""

import re
from collections.abc import Iterator

from memfs.secrets.heuristics import is_key_like
from memfs.secrets.prefilter import TextFeatures

_BEGIN = re.compile(
    r"-----BEGIN(?:[ +]|%20)(?:[A-Z0-9]{1,12}(?:[ +]|%20)){0,4}PRIVATE(?:[ +]|%20)KEY(?:[ "
    r"+]BLOCK)?-----|PuTTY-User-Key-File-[0-9]: |---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
)
_KEY_LENGTH = 30_000
_BODY = re.compile(r"[\0A-Za-z0-9+/=:.,;\s\\\"'`>|*#+()&$_%-]{0,30000}+")
_END = re.compile(r"-{4,5}[ ]?END[A-Z0-9 +%]{1,60}-{4,5}|Private-MAC: [0-9a-f]{1,64}")
_SPACE = r"(?>(?:[\s\"'`,+>|*#]|\\{1,3}[nrt]?){1,60})"
_PUBLIC = re.compile(
    r"(-{4,5}[ ]?BEGIN (?:[A-Z0-9]{1,12}[ ]){0,3}(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?"
    r"|SIGNATURE|MESSAGE|PARAMETERS|X509 CRL|PKCS7)[ ]?-{4,5})"
    rf"((?>(?:{_SPACE}(?:Version|Comment|Hash|Charset|Subject): [^\n]{{0,120}}){{0,5}})"
    rf"(?>(?:{_SPACE}[A-Za-z0-9+/]{{16,2000}}+={{0,2}}){{0,2000}})"
    rf"(?:(?:{_SPACE}[A-Za-z0-9+/]{{1,15}}+={{0,2}})?(?:{_SPACE}=[A-Za-z0-9+/]{{4}})?"
    rf"(?={_SPACE}?-{{4,5}}[ ]?END))?)"
)
# The base64 of a public key or a certificate without its armour: of SSH (a length, and the name of
# the algorithm: ssh-, ecdsa-, sk-), and of X.509.
_PUBLIC_BLOB = re.compile(
    r"(?<![A-Za-z0-9+/])(?:(?:ssh|ecdsa|sk)-[a-z0-9@.-]{3,48}+[ ])?"
    r"(?:AAAA[A-Za-z0-9+/]{2}(?:NzaC1|VjZHNhL|NrLX|NrLW)|MII[A-Za-z0-9+/]{3}(?:CC[A-Za-z0-9+/]{3}gAwIBAg"
    r"|ANBgkqhkiG9w0BAQ)|MII[BC]CgKC|MIGfMA0GCSqGSIb3DQEBAQ|MIGJAoGBA|MIGbMBAGByqGSM49"
    r"|M[FH][A-Za-z0-9]wE[Aw]YHKoZIzj0C|M[CE][A-Za-z0-9]wBQYDK2V)[A-Za-z0-9+/]{20,}+={0,2}"
)
# A key in JSON says what kind it is (`kty`), and has its private parts beside the public ones.
_KIND = re.compile(r"kty\\{0,3}[\"']?\s{0,4}:")
_PRIVATE_PART = re.compile(
    r"(?<![A-Za-z0-9_])(?:d[pq]?|qi|[kpq])\\{0,3}[\"']?\s{0,4}:\s{0,4}\\{0,3}[\"']"
    r"([A-Za-z0-9_-]{16,2000}+)"
)
_OBJECT = 8_000  # characters: no key is longer


def private_keys(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of private keys, however they are wrapped or cut off."""
    begin = _BEGIN.search(text) if "armour" in places.at else None
    end = begin and _END.search(text, begin.end())
    while begin:
        while end and end.start() < begin.end():
            end = _END.search(text, end.end())
        close = end if end and end.start() - begin.end() <= _KEY_LENGTH else None
        body = _BODY.match(text, begin.end(), close.start() if close else len(text))
        at = close.end() if close else max(begin.end(), body.end() if body else 0)
        if sum(map(len, re.findall(r"[A-Za-z0-9+/]{16,}", text[begin.end() : at]))) >= 40:
            yield "private-key", begin.start(), at
        begin = _BEGIN.search(text, at)


def json_keys(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the private parts of keys in JSON (RFC 7517)."""
    done = 0
    for found in _KIND.finditer(text) if "json" in places.at else ():
        if found.start() < done:
            continue
        start = max(0, done, text.rfind("{", max(done, found.start() - _OBJECT), found.start()))
        done = min(len(text), found.end() + _OBJECT)
        close = text.find("}", found.end(), done)
        done = close if close >= 0 else done
        for part in _PRIVATE_PART.finditer(text, start, done):
            if is_key_like(part[1]):
                yield "private-key", *part.span(1)


def without_public(text: str, places: TextFeatures) -> str:
    """Return `text`, as long as it was, without the bodies of certificates and public keys."""
    if "armour" in places.at:
        text = _PUBLIC.sub(lambda found: found[1] + "\0" * len(found[2]), text)
    if "public" in places.at:
        text = _PUBLIC_BLOB.sub(lambda found: "\0" * len(found[0]), text)
    return text
