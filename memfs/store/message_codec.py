"""The lines of recall files: how a message is written as one, and read from it."""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Callable

from memfs.core.errors import UNREADABLE
from memfs.core.records import Message

_QUOTE = json.encoder.encode_basestring_ascii
_quote_name = functools.lru_cache(256)(_QUOTE)  # names repeat


def encode_message(message: Message) -> bytes:
    """Return the line of a message: what `json.dumps` of it as a dict gives, ten times as fast.

    A speaker and a sentiment are in it where there is one.
    """
    ident, session, host, project, branch, at, role, text, tool, speaker, side, sentiment = message
    named = f', "speaker": {_quote_name(speaker)}' if speaker else ""
    more = f', "sentiment": {_quote_name(sentiment)}' if sentiment else ""
    return (
        f'{{"id": {_QUOTE(ident)}, "session": {_quote_name(session)}, "host": {_quote_name(host)}'
        f', "project": {_quote_name(project)}, "branch": {_quote_name(branch)}, "at": {_QUOTE(at)}'
        f', "role": {_quote_name(role)}, "text": {_QUOTE(text)}, "tool": {_quote_name(tool)}{named}'
        f', "side": {"true" if side else "false"}{more}}}\n'
    ).encode("ascii")


def read(line: bytes) -> Message | None:
    """Decode the message of a line; None for a damaged or incomplete line."""
    if not line.endswith(b"\n"):
        return None
    try:
        return _make_reader()(line)
    except ValueError:  # damaged, or valid for `json` alone: surrogates, for one
        pass
    try:
        found = Message(**json.loads(line))
    except UNREADABLE:
        return None
    *texts, side, sentiment = found
    plain = isinstance(side, bool) and all(isinstance(text, str) for text in (*texts, sentiment))
    return found if plain else None


@functools.cache
def _make_reader() -> Callable[[bytes], Message]:
    """Make a decoder of lines, five times as fast as `json`. It raises `ValueError`."""
    import msgspec  # 10 ms: for the first line

    fields = list(Message.__annotations__.items())
    defaults = Message._field_defaults
    known = [(n, t, defaults[n]) if n in defaults else (n, t) for n, t in fields]
    form = msgspec.defstruct("Line", known, forbid_unknown_fields=True, gc=False)
    decode, values = msgspec.json.Decoder(form).decode, operator.attrgetter(*Message._fields)
    return lambda line: Message(*values(decode(line)))
