"""The files of the full-text index, without the library: how much is in it, and checksums.

The library trusts the sizes that files declare: a damaged one could end the process. So checksums
are verified first, once for each file (`lexical.CHECKED`).
"""

import json
import mmap
import os
import zlib

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.search import TEXT

_TAIL = 8  # bytes: the footer's length, and a magic number
_SIGN = 1337
_LONGEST = 1 << 16  # bytes of a footer


def count_documents(index: str) -> int:
    """Return the number of documents in the full-text index; 0 if that cannot be read."""
    try:
        found = json.loads(files.read(f"{index}/{TEXT}/meta.json") or "")["segments"]
        gone = [each["deletes"]["num_deleted_docs"] for each in found if each["deletes"]]
        return max(0, int(sum(each["max_doc"] for each in found) - sum(gone)))
    except (OSError, *UNREADABLE):
        return 0


def are_whole(top: str, names: list[str]) -> bool:
    """Tell whether the files of an index have their checksums; a missing file passes."""
    for name in names:
        try:
            handle, status = files.open_file(f"{top}/{name}")
        except OSError:  # the library reports a missing file
            continue
        try:
            if not _is_whole(handle, status.st_size):
                return False
        finally:
            os.close(handle)
    return True


def _is_whole(handle: int, size: int) -> bool:
    if size <= _TAIL:
        return False
    with mmap.mmap(handle, 0, access=mmap.ACCESS_READ) as data:
        length = int.from_bytes(data[-_TAIL:-4], "little")
        end = size - _TAIL - length
        if int.from_bytes(data[-4:], "little") != _SIGN or length > _LONGEST or end < 0:
            return False
        try:
            footer = json.loads(data[end : size - _TAIL].decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return False
        with memoryview(data) as whole, whole[:end] as body:
            return isinstance(footer, dict) and footer.get("crc") == zlib.crc32(body)
