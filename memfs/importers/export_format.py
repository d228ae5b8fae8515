"""A store in one file: the zip that `memfs export` writes, and what `memfs import` reads.

Read is also a zip, tar or tar.gz of an `.agent-memory` folder that somebody made by hand. What is
read is foreign: everything is checked, nothing is unpacked onto the disk, no header is believed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, NoReturn

from memfs import files
from memfs.core.errors import UNREADABLE, NotFoundError, StoreError
from memfs.files import atomic, database, outside
from memfs.store import store_paths

if TYPE_CHECKING:
    from _typeshed import SupportsRead

MOST_FILES = 100_000
DAMAGE = (  # what reading a damaged archive raises
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    LookupError,
    OverflowError,
)
ODD = "it is a link, a device or another special file"
_RATIO = 200  # unpacked to packed; what people write comes to 60 at most
_FREE = 16 << 20  # bytes for which the ratio does not matter
_CHUNK = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

FORMAT = 1
MANIFEST = "manifest.json"
MOST_BYTES = 512 << 20  # unpacked
LONGEST_NAME = 300  # characters
_SPARSE = ("GNU.sparse.", "SCHILY.realsize", "SCHILY.filetype")  # its bytes are not those in it
_LARGEST_JSON = 64 << 20  # bytes that are looked at to say what is wrong
_KNOWN = "see memfs import --help and docs/importers.md for the files that can be imported"
_FIRST = (1980, 1, 1, 0, 0, 0)  # the time of every member: the same memory is the same bytes


@dataclass(frozen=True)
class Bundle:
    """What is in such a file: paths from the store's folder on, and their bytes.

    `tier` is that of the store it was exported from, "" for one that was made by hand. `left_out`
    counts the files beside the store's folder.
    """

    files: dict[str, bytes]
    tier: str
    left_out: int


def pack(members: Mapping[str, bytes], tier: str, counts: Mapping[str, int]) -> bytes:
    """Return the zip of these files. Raises `StoreError` for what `read` would not take."""
    total = sum(map(len, members.values()))
    if total > MOST_BYTES or len(members) >= MOST_FILES:
        raise StoreError(
            f"the export would have {len(members):,} files, {total >> 20:,} MB; an import takes "
            "at most "
            f"{MOST_FILES:,} files and {MOST_BYTES >> 20} MB",
            "leave out --all, or copy the store's folder",
        )
    manifest = {
        "memfs": FORMAT,
        "tier": tier,
        "counts": dict(counts),
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    text = json.dumps(manifest, indent=1, sort_keys=True) + "\n"
    whole = {**members, MANIFEST: text.encode()}
    packed = _zip(whole, zipfile.ZIP_DEFLATED)
    # What repeats itself so much would look like a bomb to `read`: it is stored as it is.
    return (
        packed
        if total <= get_unpack_limit(len(packed), MOST_BYTES)
        else _zip(whole, zipfile.ZIP_STORED)
    )


def _zip(members: Mapping[str, bytes], method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in sorted(members.items()):
            info = zipfile.ZipInfo(f"{store_paths.NAME}/{name}", _FIRST)
            info.create_system = 3  # Unix, wherever it is made
            info.external_attr = (stat.S_IFREG | 0o600) << 16
            archive.writestr(info, data, method, 9)
    return out.getvalue()


def check_target(path: str, *, force: bool, is_folder: bool = False) -> None:
    """Refuse a path that cannot be written to, or (unless `force`) has something already."""
    kind = os.path.isdir(path)
    if is_folder and os.path.lexists(path) and not kind:
        raise StoreError(f"{path} is not a folder", "give the path of a folder, or a new path")
    if is_folder and outside.list_names(path) and not force:
        raise StoreError(
            f"{path} is not empty", "add --force to write into the folder and overwrite its files"
        )
    if kind and not is_folder:
        raise StoreError(
            f"{path} is a folder", f"give the path of a file, for example {path}/memory.zip"
        )
    if os.path.lexists(path) and not (force or is_folder):
        raise StoreError(f"{path} already exists", "add --force to overwrite the file")
    above = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(above):
        raise NotFoundError(f"there is no folder {above}", "create the folder first")


def save(path: str, data: bytes) -> None:
    """Write the file whole or not at all, for its owner alone; its folder is made."""
    real = os.path.realpath(path)
    files.make_folder(os.path.dirname(real), private=True)
    atomic.write_private(real, data)


def read(path: str) -> Bundle:
    """Read and check such a file. Raises `StoreError` naming what is wrong; nothing is written."""
    try:
        with outside.open_stream(path) as handle:
            packed = os.fstat(handle.fileno()).st_size
            found = dict(_check_members(_read_members(handle, packed)))
    except files.NotAFileError as error:
        raise StoreError(f"{path} is not a file") from error
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise NotFoundError(f"there is no file {path}") from error
    except (*DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        what = _describe_file(path, describe_error(error))
        raise StoreError(f"{path} cannot be read: {what}", _KNOWN) from None
    inside, left_out = _select_store_files(found, path)
    return Bundle(inside, _check_manifest(inside, path), left_out)


def describe_error(error: Exception) -> str:
    """Return what an error says, on one short line."""
    return " ".join(str(error).split())[:120] or type(error).__name__


def _describe_file(path: str, what: str) -> str:
    """Say what a file is that is no archive, as far as its content tells."""
    with outside.open_stream(path) as handle:
        head = handle.read(64)
        if not head:
            return "the file is empty"
        if head.startswith(database.MAGIC):
            return _describe_database(path)
        if head.startswith((b"PK", b"\x1f\x8b")):
            return f"the file is damaged ({what})"
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
            handle.seek(0)
            return _describe_json(handle.read(_LARGEST_JSON))
    return "the file is neither an export of memfs nor from a known tool"


def _describe_database(path: str) -> str:
    try:
        with database.open_database(path) as base:
            named = ", ".join(base.list_tables()[:5])
    except OSError as error:
        return f"the file is a damaged database ({error.strerror})"
    return f"the file is a database of an unknown tool (tables: {named or 'none'})"


def _describe_json(data: bytes) -> str:
    wrong: Exception | None = None
    for part in (data, data.partition(b"\n")[0]):  # or an object on each line
        try:
            json.loads(part)
        except UNREADABLE as error:
            wrong = error
        else:
            return "the file is JSON from an unknown tool"
    return f"the file is damaged JSON ({wrong})"


def _read_members(handle: IO[bytes], packed: int) -> Iterator[tuple[str, bytes]]:
    head = handle.read(4)
    handle.seek(0)
    meter = UnpackMeter(packed, MOST_BYTES)
    if head.startswith(b"PK"):
        yield from _read_zip(handle, meter)
    elif head.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=handle) as unpacked:
            yield from _read_tar(unpacked, meter)
    else:
        yield from _read_tar(handle, meter)


def _read_zip(handle: IO[bytes], meter: UnpackMeter) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(handle) as found:
        for info in found.infolist():
            meter.count_file()
            name = info.orig_filename
            if wrong := find_zip_problem(info):
                _refuse(name, wrong)
            if name.endswith("/"):
                _check_name(name[:-1])
                continue
            with found.open(info) as member:
                yield name, MeteredStream(member, meter).read()


def _read_tar(stream: IO[bytes] | gzip.GzipFile, meter: UnpackMeter) -> Iterator[tuple[str, bytes]]:
    metered = MeteredStream(stream, meter)
    with tarfile.open(fileobj=metered, mode="r|", errorlevel=2) as found:
        for info in found:
            meter.count_file()
            if _is_odd(info):
                _refuse(info.name, ODD)
            if info.isdir():
                if info.name not in (".", "./"):
                    _check_name(info.name.removeprefix("./"))
                continue
            member = found.extractfile(info)
            yield info.name, member.read() if member else b""


def _is_odd(info: tarfile.TarInfo) -> bool:
    """Tell whether any field says that a member is neither a plain file nor a folder."""
    folder = info.isdir()
    if not folder and info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        return True  # also what `isreg` takes for a file: contiguous and sparse ones
    if stat.S_IFMT(info.mode) not in (0, stat.S_IFDIR if folder else stat.S_IFREG):
        return True
    return (
        info.issparse()
        or bool(folder and info.size)
        or any(name.startswith(_SPARSE) for name in info.pax_headers)
    )


def _check_members(members: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    seen: dict[str, str] = {}
    for raw, data in members:
        name = raw.removeprefix("./")
        _check_name(name)
        folded = name.casefold()
        if folded in seen:
            _refuse(name, f"its name conflicts with {seen[folded]!r}")
        seen[folded] = name
        yield name, data


def problem(name: str) -> str:
    """Return why a name could lead out of the store on any system, "" if it cannot."""
    if not name:
        return "its name is empty"
    if any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in name):
        return "its name has invalid characters"
    if name.startswith("/") or "\\" in name or name[1:2] == ":":
        return "its path is absolute or has backslashes"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "its path leads out of the store"
    return f"its path has more than {LONGEST_NAME} characters" if len(name) > LONGEST_NAME else ""


def _check_name(name: str) -> None:
    wrong = problem(name)
    if wrong:
        _refuse(name[:LONGEST_NAME], wrong)


def _refuse(name: str, why: str) -> NoReturn:
    raise StoreError(
        f"cannot import {name!r} from the file: {why}; nothing was imported",
        "export the memory again, or remove this entry from the file",
    )


def _select_store_files(found: dict[str, bytes], path: str) -> tuple[dict[str, bytes], int]:
    """Return (files of the store's folder, count of the others) of an archive."""
    parts = (f"/{name}".partition(f"/{store_paths.NAME}/") for name in found)
    tops = {f"{above}{mark}"[1:] for above, mark, _ in parts if mark}
    if not tops and _is_store_like(found):
        tops = {""}
    if not tops:
        first = {name.partition("/")[0] + "/" for name in found if not name.startswith("__MACOSX")}
        tops = {top for top in first if _is_store_like([name.removeprefix(top) for name in found])}
    if len(tops) != 1:
        what = "more than one store" if tops else "no store"
        raise StoreError(
            f"{path} contains {what}",
            f"give a file made by memfs export, or a zip or tar of one {store_paths.NAME} folder",
        )
    top = tops.pop()
    inside = {name[len(top) :]: data for name, data in found.items() if name.startswith(top)}
    return inside, len(found) - len(inside)


def _is_store_like(names: Mapping[str, bytes] | list[str]) -> bool:
    return store_paths.CONFIG in names or any(name.startswith("blocks/") for name in names)


def _check_manifest(inside: dict[str, bytes], path: str) -> str:
    """Check the files against the manifest, if there is one; return the tier it names."""
    text = inside.pop(MANIFEST, None)
    if text is None:
        return ""
    try:
        manifest = json.loads(text)
        version, tier, sums = manifest["memfs"], str(manifest["tier"]), dict(manifest["files"])
    except UNREADABLE:
        raise StoreError(
            f"the {MANIFEST} in {path} is damaged", "export the memory again"
        ) from None
    if version != FORMAT:
        raise StoreError(
            f"{path} has export format {version!r}, but this memfs reads only format {FORMAT}",
            "install a newer memfs",
        )
    wrong = [name for name in sums if name not in inside] + [
        name for name, data in inside.items() if sums.get(name) != hashlib.sha256(data).hexdigest()
    ]
    if wrong:
        raise StoreError(
            f"{min(map(str, wrong))} in {path} does not match {MANIFEST}",
            f"export the memory again, or remove {MANIFEST} if you changed the file on purpose",
        )
    return tier


def get_unpack_limit(packed: int, most: int) -> int:
    """Return the most bytes that a file of `packed` bytes may unpack to."""
    return min(most, max(_FREE, packed * _RATIO))


class UnpackMeter:
    """Counts the unpacked bytes and the files of one archive, and raises at the limit."""

    def __init__(self, packed: int, most: int) -> None:
        self._most = get_unpack_limit(packed, most)
        self._bytes = self._files = 0

    def count_file(self) -> None:
        """Count one more file. Raises `StoreError` for one too many."""
        self._files += 1
        if self._files > MOST_FILES:
            raise StoreError(
                f"the file contains more than {MOST_FILES:,} files; nothing was imported",
                "split the file",
            )

    def count_bytes(self, more: int) -> None:
        """Count more unpacked bytes. Raises `StoreError` where they are too many."""
        self._bytes += more
        if self._bytes > self._most:
            many = (
                f"the file unpacks to more than {self._most >> 20:,} MB, too much for its size; "
                "nothing was imported"
            )
            raise StoreError(many, "split the file, or export the memory again")


class MeteredStream(io.RawIOBase):
    """A stream whose bytes are counted: also those of headers and of files that are left out."""

    def __init__(self, stream: SupportsRead[bytes], meter: UnpackMeter) -> None:
        self._stream, self._meter = stream, meter

    def read(self, size: int = -1) -> bytes:
        parts = []
        while size:
            data = self._stream.read(_CHUNK if size < 0 else min(size, _CHUNK))
            if not data:
                break
            self._meter.count_bytes(len(data))
            parts.append(data)
            size -= len(data) if size > 0 else 0
        return b"".join(parts)


def find_zip_problem(info: zipfile.ZipInfo) -> str:
    """Return why a member of a zip is not to be read, "" for a plain file or folder."""
    folder = info.orig_filename.endswith("/")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFDIR if folder else stat.S_IFREG) or (folder and info.file_size):
        return ODD
    if info.flag_bits & 1:
        return "it is encrypted"
    return "" if info.compress_type in _METHODS else "its compression is not supported"
