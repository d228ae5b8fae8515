"""The secret detector: where a text holds passwords, tokens and private keys. Pure.

Four kinds of rule find them: blocks (private keys), forms (`formats`), keys, headers and
flags (`assignments`), and random values beside the name of a service (`tokens`).
All of them are linear in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memfs.core.secrets.assignments import assigned, given
from memfs.core.secrets.formats import matches
from memfs.core.secrets.tokens import random_tokens
from memfs.core.secrets.values import generic, masked, reference, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator


class Secret(NamedTuple):
    """A secret of `type` at the characters `start` to `end` of a text."""

    type: str
    start: int
    end: int


_MARKER = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_SPACE = re.compile(r"[ \n\t]")
_BEGIN = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12}[ ]){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|PuTTY-User-Key-File-[0-9]: |---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
)
_KEY_LENGTH = 30_000
_BODY = re.compile(r"(?:[A-Za-z0-9+/=:.,;\s\\\"'`>|*#+()&$_-]){0,30000}+")
_END = re.compile(r"-{4,5}[ ]?END [A-Z0-9 ]{0,60}-{4,5}|Private-MAC: [0-9a-f]{1,64}")
_PUBLIC = re.compile(
    r"-----BEGIN ((?:[A-Z0-9]{1,12}[ ]){0,3}"
    r"(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?|SIGNATURE|MESSAGE))-----"
)
_URL = re.compile(r"://(?P<authority>[^\s/\"'`<>?(){}|\\]{5,300}+)")


def _private_keys(text: str) -> Iterator[tuple[str, int, int]]:
    at = 0
    end = _END.search(text)
    while found := _BEGIN.search(text, at):
        while end and end.start() < found.end():
            end = _END.search(text, end.end())
        close = end if end and end.start() - found.end() <= _KEY_LENGTH else None
        body = _BODY.match(text, found.end(), close.start() if close else len(text))
        at = close.end() if close else max(found.end(), body.end() if body else 0)
        if sum(map(len, re.findall(r"[A-Za-z0-9+/]{16,}", text[found.end() : at]))) >= 40:
            yield "private-key", found.start(), at


def _urls(text: str) -> Iterator[tuple[str, int, int]]:
    for found in _URL.finditer(text):
        user, at, host = found["authority"].rpartition("@")
        name, colon, password = user.partition(":")
        if not (at and colon and password and host) or password == name or host[0] in "$%*[":
            continue
        if reference(password) or generic(password) or masked(password):
            continue
        real = "." in host and not stand_in(host)
        if stand_in(password) and not (real and password.lower().startswith("test")):
            continue
        if "." not in host and password.isalpha():  # a container of a development set-up
            continue
        start = found.start("authority") + len(name) + 1
        yield "url-password", start, start + len(password)


def _blank(text: str) -> str:
    """Return `text`, as long as it was, without markers and without what is public."""
    text = _MARKER.sub(lambda found: "\0" * len(found[0]), text)
    pieces: list[str] = []
    at = 0
    while found := _PUBLIC.search(text, at):
        end = text.find("-----END ", found.end())
        if end < 0:
            break
        pieces += text[at : found.end()], "\0" * (end - found.end())
        at = end
    return "".join([*pieces, text[at:]])


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in `text`, in order and without overlap."""
    bare = _blank(text)
    rules = (_private_keys, matches, _urls, given, assigned, random_tokens)
    found = sorted(
        (
            (start, -end, rank, kind)
            for rank, rule in enumerate(rules)
            for kind, start, end in rule(bare)
        )
    )
    secrets: list[Secret] = []
    for start, minus, _, kind in found:
        if start == -minus or "\0" in bare[start:-minus]:
            continue
        if secrets and start < secrets[-1].end:
            last = secrets[-1]
            secrets[-1] = Secret(last.type, last.start, max(last.end, -minus))
        else:
            secrets.append(Secret(kind, start, -minus))
    return secrets


def redact(text: str) -> str:
    """Return `text` with `[redacted:TYPE]` in the place of every secret."""
    # What hid behind a secret can show once it is gone: look until nothing is found. Text that
    # is made to go on so for ever loses whole words after the third look.
    looks = 0
    while secrets := find_secrets(text):
        looks += 1
        pieces: list[str] = []
        at = 0
        for secret in secrets:
            start, end = secret.start, secret.end
            if looks > 3:
                start, end = _word(text, start, end)
            if start >= at:
                pieces += text[at:start], f"[redacted:{secret.type}]"
            at = max(at, end)
        text = "".join([*pieces, text[at:]])
    return text


def _word(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of `start` to `end` with what touches it on either side."""
    start = max(text.rfind(space, 0, start) for space in " \n\t") + 1
    after = _SPACE.search(text, end)
    return start, after.start() if after else len(text)
