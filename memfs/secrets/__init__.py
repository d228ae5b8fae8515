"""Floor 0: the secret detector: where a text holds passwords, tokens and private keys. Pure.

Six kinds of rule find them: private keys (`pem`), forms (`formats`, a table, and `matching`),
keys, headers and flags (`assignments`), commands and addresses (`commands`), strings that open a
connection (`connections`), and values that are random beside the name of a service (`entropy`).
`heuristics` tells a secret from what stands in for one. All of them are linear in the text, and
look only where `prefilter` found what they look for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memfs.secrets.assignments import assigned
from memfs.secrets.commands import find_arguments, logins, urls
from memfs.secrets.connections import passwords
from memfs.secrets.entropy import random_tokens
from memfs.secrets.matching import matches
from memfs.secrets.pem import json_keys, private_keys, without_public
from memfs.secrets.prefilter import scan_text


class Secret(NamedTuple):
    """A secret of `type` at the characters `start` to `end` of a text."""

    type: str
    start: int
    end: int


_RULES = (
    private_keys,
    json_keys,
    matches,
    urls,
    passwords,
    find_arguments,
    assigned,
    random_tokens,
)
_MARKER = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_SPACE = re.compile(r"[ \n\t]")


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in `text`, in order and without overlap."""
    bare = without_public(_unmarked(text))
    places = scan_text(bare)
    found = [(start, -end, 3, kind) for kind, start, end in logins(bare)]
    if not places.none:
        found += [
            (start, -end, rank, kind)
            for rank, rule in enumerate(_RULES)
            for kind, start, end in rule(bare, places)
        ]
    found.sort()
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


def _unmarked(text: str) -> str:
    if "[redacted:" not in text:
        return text
    return _MARKER.sub(lambda found: "\0" * len(found[0]), text)


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
