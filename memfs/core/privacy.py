"""Removes private parts and secrets from texts."""

import functools
import hashlib
import re
from typing import Any

from memfs.core.records import Message
from memfs.secrets import redact

# What hosts number their messages with, as a rule: a uuid, a place in a file.
_ID = re.compile(
    r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|@[0-9]+|[a-z]{0,4}[0-9]{0,9})(?:\.[0-9]+)?"
)
_NAMES = ("session", "project", "branch", "tool", "speaker", "intent")
_TAG = re.compile(r"<(/?)private(?:\s[^<>]*)?>", re.IGNORECASE)  # with attributes, if it has some


def public(text: str, *, lines: bool = False) -> str:
    """Return a text without its `<private>…</private>` parts.

    They may be nested; one that is not closed goes to the end of the text. With `lines`, the ends
    of their lines stay: what follows keeps its number.
    """
    kept = []
    depth = at = start = 0
    for tag in _TAG.finditer(text):
        if not tag[1]:
            if not depth:
                kept.append(text[at : tag.start()].rstrip(" \t"))
                start = tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if lines and not depth:
                kept.append("\n" * text.count("\n", start, tag.end()))
            at = tag.end()
    return "".join([*kept, "" if depth else text[at:]])


def storable(text: str) -> str:
    """Return a recorded text without private parts, and with secrets redacted."""
    return redact(public(text)).strip()


def excerpt(text: str, most: int) -> str:
    """Return at most `most` characters of a text; secrets are redacted before the cut."""
    return text if len(text) <= most else storable(text)[:most]


def redact_names(message: Message) -> Message:
    """Return a message without secrets in its names; an id that holds one is a hash of it."""
    ident = message.id
    if not _ID.fullmatch(ident) and redact(ident) != ident:
        ident = hashlib.sha256(ident.encode()).hexdigest()[:16]
    clean: dict[str, Any] = {name: _redact_name(getattr(message, name)) for name in _NAMES}
    return message._replace(id=ident, **clean)


@functools.lru_cache(1024)  # they come again with every message
def _redact_name(name: str) -> str:
    return redact(name)
