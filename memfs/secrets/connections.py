"""Passwords in connection strings: ODBC, ADO, JDBC, libpq, and the query of an address.

`PWD=word` is a password, however plain, where the same string names a user or a target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfs.secrets.heuristics import (
    is_generic,
    is_masked,
    is_namesake,
    is_placeholder,
    is_reference,
)
from memfs.secrets.prefilter import TextFeatures

# In lower case. A concatenation goes on in the next string: "…;PWD=" + "word"
_PASSWORD = re.compile(
    r"(?:pwd|password|passwd|pass)[ ]?=[ ]?(?:[\"'][ ]?[+.&][ ]?[\"'])?"
    r"(?P<value>[^\s;&\"'<>`,(){}\\]{3,100}+)(?P<after>[;&,\"'`<)\\]|\s|\Z)"
)
_USER = re.compile(
    r"(?:\A|[;?&:{\"'` ,$])(?:uid|usr|user(?:[ _]?(?:id|name))?)[ ]?="
    r"[ ]?[\"']?(?P<value>[^\s;&\"'<>`,]{1,100})"
)
_TARGET = re.compile(
    r"(?:\A|[;?&{\"'` ])(?:dsn|driver|data[ ]source|initial[ ]catalog|database|dbname|server"
    r"|host|provider)[ ]?=[ ]?[^\s;&\"'<>`,]"
)
_CACHE = re.compile(r":[0-9]{4,5},\Z")  # cache.acme.dev:6380,password=…,ssl=True
_OPENING = frozenset(("", *";?& $\"'`:"))  # what may stand before the name
_AROUND = 200  # characters on either side
_END = re.compile(r"[\n<>]")


def passwords(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the passwords in connection strings."""
    done = 0
    for at in places.at.get("connection", ()):
        found = _PASSWORD.match(places.lower, at) if at >= done else None
        if not found:
            continue
        done = found.end("value")
        start, end = found.span("value")
        if _is_connection_string(places.lower, at, found) and not _is_stand_in(text[start:end]):
            yield "password", start, end


def _is_connection_string(lower: str, at: int, found: re.Match[str]) -> bool:
    """Tell whether a password is beside a user or a target in a connection string."""
    left = _END.split(lower[max(0, at - _AROUND) : at])[-1]
    between = left[-1:] or found["after"]
    if between == "," and _CACHE.search(left):
        return True
    left = left.removesuffix("user")  # userpass=
    if left[-1:] not in _OPENING:
        return False
    right = _END.split(lower[found.end("value") : found.end("value") + _AROUND])[0]
    user = _USER.search(left) or _USER.search(right)
    target = _TARGET.search(left) or _TARGET.search(right)
    if user and user["value"].rstrip(";") == found["value"]:
        return False
    if left[-1:] in {"?", "&"} or left.endswith("&amp;") or found["after"] == "&":
        return bool(user)
    if ";" in {left.rstrip()[-1:], found["after"]}:
        return bool(user or target)
    return bool(user and target) and "," not in {left.rstrip()[-1:], found["after"]}


def _is_stand_in(value: str) -> bool:
    return (
        is_masked(value)
        or is_placeholder(value)
        or is_generic(value)
        or is_namesake(value)
        or is_reference(value)
    )
