"""Messages as lines of a recall file, and how far the transcript of one was read.

That state is not written durably: a lost one costs a second reading alone.
"""

import functools
import hashlib
import json
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.core.records import Message
from memfs.files import atomic, logs, outside

_QUOTE = json.encoder.encode_basestring_ascii
_quote_name = functools.lru_cache(256)(_QUOTE)  # names repeat

PREFIX = b'{"id": '
_QUOTED = PREFIX + b'"'
_DECODER = json.JSONDecoder()


def read_ids(path: str) -> set[str]:
    """Return the ids of the messages in a recall file; a torn last line has none."""
    if not files.get_size(path):
        return set()
    with logs.open_stream(path) as handle:
        return {id_of(line) for line in handle if line.endswith(b"\n")} - {""}


def id_of(line: bytes) -> str:
    """Return the id of a line of ours without parsing all of it; "" for a damaged line."""
    end = line.find(b'"', len(_QUOTED)) if line.startswith(_QUOTED) else -1
    plain = line[len(_QUOTED) : max(end, 0)].decode("ascii", "replace")
    if plain.isascii() and plain.isprintable() and "\\" not in plain and plain:
        return plain
    try:
        found, _ = _DECODER.raw_decode(line.decode("ascii"), len(PREFIX))
    except ValueError:
        return ""
    return found if isinstance(found, str) and line.startswith(PREFIX) else ""


def encode_message(message: Message) -> bytes:
    """Return the line of a message: what `json.dumps` of it as a dict gives, ten times as fast.

    A speaker, a sentiment and an intent are in it where there is one.
    """
    ident, session, host, project, branch, at, role, text, tool, speaker, side, *more = message
    named = f', "speaker": {_quote_name(speaker)}' if speaker else ""
    sentiment, intent = more
    given = f', "sentiment": {_quote_name(sentiment)}' if sentiment else ""
    given += f', "intent": {_quote_name(intent)}' if intent else ""
    return (
        f'{{"id": {_QUOTE(ident)}, "session": {_quote_name(session)}, "host": {_quote_name(host)}'
        f', "project": {_quote_name(project)}, "branch": {_quote_name(branch)}, "at": {_QUOTE(at)}'
        f', "role": {_quote_name(role)}, "text": {_QUOTE(text)}, "tool": {_quote_name(tool)}{named}'
        f', "side": {"true" if side else "false"}{given}}}\n'
    ).encode("ascii")


def read_message(line: bytes) -> Message | None:
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
    *texts, side, sentiment, intent = found
    plain = all(isinstance(text, str) for text in (*texts, sentiment, intent))
    return found if plain and isinstance(side, bool) else None


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


_LARGEST = 1 << 62  # of an offset
_SAMPLE = 4096  # bytes at the beginning and the end of what was read, to notice a rewritten file


@dataclass
class ReadState:
    """How far a transcript was read: `offset` bytes, which looked like `print`.

    `path` is where it was. `kept` is the size of our own file then: what is behind it may be
    torn. `versions` are (size, print) of transcripts that a rewritten one has replaced.
    """

    path: str = ""
    offset: int = 0
    print: str = ""
    kept: int = 0
    malformed: int = 0
    versions: list[tuple[int, str]] = field(default_factory=list)


def fingerprint(path: str, offset: int) -> str:
    """Return a hash of the first and the last 4 kB of the first `offset` bytes of a file.

    It alone says whether a file only grew: an end holds times and ids of its own. The inode says
    nothing: a copy, a sync or an editor changes it, and a new file may have it again.
    """
    with outside.open_stream(path) as handle:
        return fingerprint_of(handle, offset)


def fingerprint_of(handle: BinaryIO, offset: int) -> str:
    """Return the fingerprint of an open file."""
    handle.seek(0)
    head = handle.read(min(offset, _SAMPLE))
    handle.seek(max(0, offset - _SAMPLE))
    tail = handle.read(min(offset, _SAMPLE))
    return hashlib.sha256(head + b"|" + tail).hexdigest()[:32]


def load(path: str) -> ReadState | None:
    """Load the saved state; None if there is none, or it is damaged."""
    try:
        found = json.loads(files.read(path) or "")
        found["versions"] = [(int(size), str(mark)) for size, mark in found["versions"]]
        state = ReadState(**found)
    except UNREADABLE:
        return None
    counts = (state.offset, state.kept, state.malformed)
    plain = all(type(count) is int and 0 <= count < _LARGEST for count in counts)
    texts = isinstance(state.path, str) and isinstance(state.print, str)
    return state if plain and texts else None


def save(path: str, state: ReadState) -> None:
    """Save the state; after a crash of the system an older one may be there."""
    atomic.write(path, json.dumps(vars(state)), private=True, durable=False, locked=True)
