"""Runs all rules over a text, and redacts what they find."""

import re

from memfs.secrets import Secret
from memfs.secrets.assignments import find_address_passwords, find_assignments
from memfs.secrets.commands import find_arguments, logins, urls
from memfs.secrets.encodings import decode_runs
from memfs.secrets.entropy import random_tokens
from memfs.secrets.heuristics import is_documented
from memfs.secrets.matching import matches
from memfs.secrets.mnemonics import mnemonics
from memfs.secrets.pem import json_keys, private_keys, without_public
from memfs.secrets.prefilter import scan_text

_RULES = (
    *(private_keys, json_keys, matches, urls, find_address_passwords, find_arguments),
    *(find_assignments, random_tokens, mnemonics),
)
_MARKER = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_SPACE = re.compile(r"[ \n\t]")


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in `text`, in order, without overlap; invisible characters hide none."""
    if text.isascii() or not _INVISIBLE.search(text):
        return _find_secrets(text)
    places = [at for at, character in enumerate(text) if not _INVISIBLE.match(character)]
    found = _find_secrets("".join([text[at] for at in places]))
    return [each._replace(start=places[each.start], end=places[each.end - 1] + 1) for each in found]


def _find_secrets(text: str) -> list[Secret]:
    bare = text
    if "[redacted:" in text:
        bare = _MARKER.sub(lambda found: "\0" * len(found[0]), text)
    places = scan_text(bare)
    public = without_public(bare, places)
    if public != bare:
        bare, places = public, scan_text(public)
    found = [(start, -end, 3, kind) for kind, start, end in logins(bare)]
    if not places.none:
        decoded, runs = decode_runs(bare, places.runs)
        places = places._replace(runs=runs)
        found += [
            (start, -end, rank, kind)
            for rank, rule in enumerate(_RULES)
            for kind, start, end in rule(bare, places)
        ]
        found += [
            (start, -end, 0, inner[0].type)
            for said, start, end in decoded
            if (inner := find_secrets(said))
        ]
    found.sort()
    secrets: list[Secret] = []
    for start, minus, _, kind in found:
        value = bare[start:-minus]
        if not value or ("\0" in value and kind != "private-key") or is_documented(value):
            continue
        if secrets and start < secrets[-1].end:
            last = secrets[-1]
            secrets[-1] = Secret(last.type, last.start, max(last.end, -minus))
        else:
            secrets.append(Secret(kind, start, -minus))
    return secrets


def redact(text: str) -> str:
    """Return `text` with `[redacted:TYPE]` in the place of every secret."""
    # Redacting one secret can uncover another: repeat until none is found. From the fourth round
    # on whole words are redacted, so that no text keeps this going for ever.
    rounds = 0
    while secrets := find_secrets(text):
        rounds += 1
        pieces: list[str] = []
        at = 0
        for secret in secrets:
            start, end = secret.start, secret.end
            if rounds > 3:
                start = max(text.rfind(space, 0, start) for space in " \n\t") + 1
                after = _SPACE.search(text, end)
                end = after.start() if after else len(text)
            if start >= at:
                pieces += text[at:start], f"[redacted:{secret.type}]"
            at = max(at, end)
        text = "".join([*pieces, text[at:]])
    return text
