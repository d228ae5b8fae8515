"""An embedding model without numpy and tokenizers, for a hook that searches by itself. Hot path.

Those take 90 ms to start. Beside a model's vectors stands what this reads instead: `model.json`
says where the model's table is and how it is laid out; `words.bin` finds the number of a token
by one look, where `tokenizer.json` would have to be parsed.
"""

import mmap
import os
import struct

from memfs import files
from memfs.core import fastjson
from memfs.core.errors import StoreError
from memfs.files import outside
from memfs.search import wordpiece, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.search.encoder import Encoder

FILE, WORDS = "model.json", "words.bin"
LARGEST = 127  # of a row's entries
_SLOTS = 65521  # places in `words.bin`, a prime
_HEAD = 4 * (_SLOTS + 1)  # bytes of the table of places
_FORMATS = {"I8": "b", "F16": "e", "F32": "f", "F64": "d"}
_LEAST = 1e-9  # length of a vector that says nothing


class PlainModel:
    """A model as `keep` has described it. `dims` is the length of its vectors, `path` its table."""

    __slots__ = ("_added", "_at", "_data", "_longest", "_most", "_row", "_table", "_unknown",
                 "_weights", "dims", "path")  # fmt: skip

    def __init__(self, folder: str, told: "dict[str, object]") -> None:
        """Open what `keep` has written in `folder`, and `told` of it in `FILE`.

        Raises `OSError`, `KeyError`, `TypeError` or `ValueError` for what does not fit.
        """
        self._data = mapped(f"{folder}/{WORDS}", _whole(told, "bytes"))
        self.path = str(told["table"])
        if signature(self.path) != told["signature"]:
            raise ValueError("the model is another one now")
        self._table = _map(outside.open_file(self.path))
        self.dims = _whole(told, "dims")
        self._row = struct.Struct(f"<{self.dims}{_FORMATS[str(told['kind'])]}")
        self._at, self._weights = _whole(told, "at"), _whole(told, "weights")
        self._unknown, self._longest = _whole(told, "unknown"), _whole(told, "longest")
        self._most = _whole(told, "most")
        added = told["added"]
        self._added = list(map(str, added)) if isinstance(added, list) else []

    def vector(self, text: str) -> bytes | None:
        """Return the vector of a text, `dims` entries of int8; None for one that says nothing.

        It is the encoder's, but where a text names a special token (`[MASK]`), or has characters
        that are younger than Python's tables.
        """
        text = str(words.clean(text))
        for special in self._added:
            text = text.replace(special, " ")
        total = [0.0] * self.dims
        for token in self.tokens(text):
            weight = self._weight(token)
            row = self._row.unpack_from(self._table, self._at + token * self._row.size)
            total = [before + weight * entry for before, entry in zip(total, row, strict=True)]
        length = sum(entry * entry for entry in total) ** 0.5
        if not _LEAST < length < float("inf"):
            return None
        scale = LARGEST / length
        return struct.pack(f"{self.dims}b", *[round(entry * scale) for entry in total])

    def tokens(self, text: str) -> list[int]:
        """Return the tokens that count of a text: not those that are unknown."""
        found = wordpiece.tokens(text, self._number, self._most, self._unknown, self._longest)
        return [token for token in found if token != self._unknown]

    def _number(self, token: str) -> int:
        """Return the number of a token, -1 if it is none."""
        name = token.encode()
        start, end = struct.unpack_from("=II", self._data, 4 * _slot(name))
        at = self._data.find(b"\n%b\t" % name, start, end)
        if at < 0:
            return -1
        at += len(name) + 2
        return int(self._data[at : self._data.find(b"\n", at, end)])

    def _weight(self, token: int) -> float:
        if not self._weights:
            return 1.0
        found: float = struct.unpack_from("<f", self._table, self._weights + 4 * token)[0]
        return found


def opened(folder: str) -> PlainModel | None:
    """Return the model of the vectors in `folder`; None if it cannot be read without numpy."""
    try:
        told = fastjson.loads(files.read(f"{folder}/{FILE}") or "")
        return PlainModel(folder, told) if isinstance(told, dict) else None
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return None


def mapped(path: str, size: int = 0) -> mmap.mmap:
    """Map a file of an index, or its first `size` bytes.

    Raises `OSError`, or `ValueError` if it has fewer.
    """
    return _map(files.open_file(path)[0], size)


def _map(handle: int, size: int = 0) -> mmap.mmap:
    try:
        return mmap.mmap(handle, size, access=mmap.ACCESS_READ)
    finally:
        os.close(handle)


def signature(path: str) -> str:
    """Return what a model's table looks like from outside; raises `OSError`."""
    status = outside.status(path)
    if status is None:
        raise files.NotAFileError(path)
    return f"{status.st_size}:{status.st_mtime_ns}"


def keep(folder: str, encoder: "Encoder") -> None:
    """Write what is read of a model here beside its vectors, if it can be, and is not there yet."""
    path, known = encoder.path, opened(folder)
    if known is not None and known.path == path:
        return
    del known  # some systems replace no file that is mapped
    try:
        _keep(folder, encoder)
    except (OSError, StoreError):  # it is for hooks alone: they go by words
        return


def _keep(folder: str, encoder: "Encoder") -> None:
    cut = encoder.cut
    if cut is None or cut.kind not in _FORMATS:
        return
    from memfs.files import atomic

    data = _laid_out(cut.vocabulary)
    about = {
        "table": encoder.path, "signature": signature(encoder.path), "dims": encoder.dims,
        "bytes": len(data), "kind": cut.kind, "at": cut.at, "weights": cut.weights,
        "unknown": cut.unknown, "longest": cut.longest, "most": max(map(len, cut.vocabulary)),
        "added": cut.added,
    }  # fmt: skip
    for name, content in ((WORDS, data), (FILE, fastjson.dumps(about).encode())):
        atomic.write_derived(f"{folder}/{name}", content)


def _laid_out(vocabulary: "dict[str, int]") -> bytes:
    """Return where each place of a vocabulary begins, and then what is there: tokens, numbers."""
    slots: list[list[bytes]] = [[] for _ in range(_SLOTS)]
    for token, number in vocabulary.items():
        name = token.encode()
        slots[_slot(name)].append(b"%b\t%d\n" % (name, number))
    places, parts, at = [], [], _HEAD
    for each in slots:
        places.append(at)
        part = b"\n" + b"".join(each) if each else b""
        parts.append(part)
        at += len(part)
    return struct.pack(f"={_SLOTS + 1}I", *places, at) + b"".join(parts)


def _slot(name: bytes) -> int:
    return int.from_bytes(name, "little") % _SLOTS


def _whole(told: "dict[str, object]", name: str) -> int:
    found = told[name]
    if type(found) is not int or found < 0:
        raise ValueError(f"{name} is no number")
    return found
