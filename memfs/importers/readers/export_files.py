"""An export as its owner has it: a zip, a folder of what was in it, or one of its JSON files.

A zip is foreign: nothing is unpacked onto the disk, no header is believed.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO, TYPE_CHECKING

from memfs.core.errors import MemfsError, StoreError
from memfs.files import outside
from memfs.importers import export_format
from memfs.importers.export_format import MeteredStream, UnpackMeter
from memfs.importers.readers import json_files
from memfs.importers.readers.items import UnreadItem

if TYPE_CHECKING:
    from _typeshed import SupportsRead

    _Open = Callable[[], AbstractContextManager[SupportsRead[bytes]]]

_MOST_BYTES = 64 << 30  # unpacked; they are read in pieces
_ZIP = b"PK"


def find_element(path: str, names: re.Pattern[str], keys: tuple[str, ...]) -> bool:
    """Tell whether an export holds a list whose first object has one of these keys. Never raises.

    `names` are those of its files in a zip or folder.
    """
    try:
        with open_files(path, names) as found:
            for name, opener in found.items():
                with opener() as stream:
                    first = next(json_files.iter_elements(stream, name), None)
                if isinstance(first, dict) and any(key in first for key in keys):
                    return True
    except (*export_format.DAMAGE, OSError, MemfsError):
        pass
    return False


def has_file(path: str, names: re.Pattern[str]) -> bool:
    """Tell whether an export has a file of one of these names. Never raises."""
    try:
        with open_files(path, names) as found:
            return bool(found)
    except (*export_format.DAMAGE, OSError, MemfsError):
        return False


def iter_objects(path: str, names: re.Pattern[str]) -> Iterator[dict[str, object] | UnreadItem]:
    """Yield the objects in the files of an export, and what could not be read of each.

    Raises `OSError`, and `StoreError` for a zip that is damaged as a whole.
    """
    try:
        with open_files(path, names) as found:
            for name, opener in found.items():
                yield from _iter_file(name, opener)
    except export_format.DAMAGE as error:
        raise StoreError(f"{path} cannot be read: {_describe(error)}", "it is damaged") from None


def _iter_file(name: str, opener: _Open) -> Iterator[dict[str, object] | UnreadItem]:
    odd = 0
    try:
        with opener() as stream:
            for element in json_files.iter_elements(stream, name):
                if isinstance(element, dict):
                    yield element
                else:
                    odd += 1
    except StoreError as error:
        yield UnreadItem(name, error.message)
    except (*export_format.DAMAGE, OSError) as error:
        yield UnreadItem(name, _describe(error))
    if odd:
        yield UnreadItem(name, "an item of its list is not an object", odd)


@contextmanager
def open_files(path: str, names: re.Pattern[str]) -> Iterator[dict[str, _Open]]:
    """Yield what opens each file of an export whose name is one of `names`, in order."""
    if os.path.isdir(path):
        tops = outside.list_names(path)
        inside = [f"{top}/{each}" for top in tops for each in outside.list_names(f"{path}/{top}")]
        found = sorted(name for name in (*tops, *inside) if names.search(name))
        yield {name: _open_later(f"{path}/{name}") for name in found}
        return
    with outside.open_stream(path) as handle:
        packed = handle.read(len(_ZIP)) == _ZIP
        handle.seek(0)
        if packed:
            yield _open_members(handle, names)
        else:
            yield {os.path.basename(path): _open_later(path)}


def _open_members(handle: IO[bytes], names: re.Pattern[str]) -> dict[str, _Open]:
    meter = UnpackMeter(os.fstat(handle.fileno()).st_size, _MOST_BYTES)
    archive = zipfile.ZipFile(handle)
    found = {}
    for info in archive.infolist():
        meter.count_file()
        name = info.orig_filename
        if names.search(name) and not export_format.find_zip_problem(info):
            found[name] = _open_member(archive, info, meter)
    return dict(sorted(found.items()))


def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, meter: UnpackMeter) -> _Open:
    @contextmanager
    def open_stream() -> Iterator[SupportsRead[bytes]]:
        with archive.open(info) as member:
            yield MeteredStream(member, meter)

    return open_stream


def _open_later(path: str) -> _Open:
    return lambda: outside.open_stream(path)


def _describe(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
