"""Messages as lines of a recall file, and which ones it holds, known without reading all of it.

Beside a large recall file stands one with 16 bytes for each of its messages: a hash of the id, and
where its line ends. It is derived: what it does not reach up to is read from the recall file, and
where it does not fit, it is made anew. Up to where a transcript was read is noted here, too
(`ReadState`): not durably, since a lost state costs a second reading alone.
"""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import os
import sys
from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import BinaryIO

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.core.records import Message
from memfs.files import atomic, logs, outside

_QUOTE = json.encoder.encode_basestring_ascii
_quote_name = functools.lru_cache(256)(_QUOTE)  # names repeat

SUFFIX = ".ids"
WORTH = 1 << 20  # bytes of a recall file from which on its ids are kept; a smaller one is read
PREFIX = b'{"id": '
_QUOTED = PREFIX + b'"'
_RECORD = 16
_DECODER = json.JSONDecoder()


class MessageIds:
    """The messages of one recall file, `path`; of those that are kept beside it, hashes alone."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._beside = get_ids_path(path)
        self._hashes: set[int] = set()  # of those that the file beside has
        self._fresh: dict[str, int] = {}  # the others, in their order: where their lines end
        self._kept = 0  # bytes of the file beside that count
        self.reached = 0
        size = files.get_size(path)
        if size >= WORTH:
            self._load(size)
        self._scan(size)

    def __contains__(self, ident: str) -> bool:
        return ident in self._fresh or (bool(self._hashes) and _hash(ident) in self._hashes)

    def __len__(self) -> int:
        return len(self._fresh) + len(self._hashes)

    def add(self, ident: str, end: int) -> bool:
        """Note a message whose line ends at byte `end`, behind all that were noted.

        Returns whether it was not known; otherwise nothing is noted.
        """
        if ident in self:
            return False
        self._fresh[ident] = self.reached = end
        return True

    def save(self) -> None:
        """Save the added ids, if the file is large enough. Not durable: they are derived."""
        if not self._fresh or self.reached < WORTH:
            return
        hashes = [_hash(ident) for ident in self._fresh]
        data = array("Q", chain.from_iterable(zip(hashes, self._fresh.values(), strict=True)))
        if sys.byteorder == "big":
            data.byteswap()
        with suppress(OSError):
            self._append(data.tobytes())
            self._hashes.update(hashes)
            self._fresh.clear()

    def _append(self, data: bytes) -> None:
        handle, _ = files.open_file(self._beside, os.O_WRONLY | os.O_CREAT)
        try:
            os.ftruncate(handle, self._kept)
            os.lseek(handle, self._kept, os.SEEK_SET)
            files.write_all(handle, data)
        finally:
            os.close(handle)
        self._kept += len(data)

    def _load(self, size: int) -> None:
        try:
            data = logs.read_whole(self._beside) or b""
        except OSError:
            return
        found = array("Q")
        found.frombytes(data[: len(data) // _RECORD * _RECORD])
        if sys.byteorder == "big":
            found.byteswap()
        ends = found[1::2].tolist()
        # After a power cut there may be holes of zeros in it, or more than the recall file has.
        if not ends or ends[0] <= 0 or ends[-1] > size or not all(map(int.__lt__, ends, ends[1:])):
            return
        if logs.last_byte(self._path, ends[-1]) != b"\n":
            return
        self._hashes.update(found[::2])
        self._kept = len(found) * 8
        self.reached = ends[-1]

    def _scan(self, size: int) -> None:
        """Read the ids of the messages after the last known one."""
        if not size:
            return
        with logs.open_stream(self._path) as handle:
            handle.seek(self.reached)
            at = self.reached
            for line in handle:
                at += len(line)
                ident = id_of(line) if line.endswith(b"\n") else ""
                if ident:
                    self.add(ident, at)


def get_ids_path(path: str) -> str:
    """Return the path of the saved ids of a recall file."""
    return path + SUFFIX


def remove_ids(path: str) -> None:
    """Remove the saved ids of a recall file that is about to be replaced."""
    files.remove(get_ids_path(path))


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


def _hash(ident: str) -> int:
    data = ident.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


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

    Whether a file only grew is told by this alone, whatever its size: an end holds times and ids
    of its own, so another text of the same length does not have it. What this cannot notice is a
    change of bytes between the two parts that keeps every byte behind it in its place. The inode
    says nothing: a copy, a sync or an editor changes it, and a new file may have it again.
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
