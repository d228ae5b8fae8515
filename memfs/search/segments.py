"""The files of the full-text index, held against their checksums before the library opens them.

It believes what they say of their own sizes: one that is damaged may have it ask for more memory
than there is, and that ends the process. They are never changed once they are written, so each is
read once; `lexical.CHECKED` notes what those looked like that are whole.
"""

import mmap
import os
import zlib

from memfs import files
from memfs.core import fastjson
from memfs.files import atomic

_TAIL = 8  # bytes: how long the footer is, and a sign
_SIGN = 1337
_LONGEST = 1 << 16  # bytes of a footer


def are_whole(top: str, names: list[str]) -> bool:
    """Tell whether files of an index are as they were written; one that is gone just now is."""
    for name in names:
        try:
            handle, status = files.open_file(f"{top}/{name}")
        except OSError:  # the library says what is missing
            continue
        try:
            if not _is_whole(handle, status.st_size):
                return False
        finally:
            os.close(handle)
    return True


def mark_checked(path: str, looks: dict[str, str]) -> None:
    """Note that files are whole: nobody looks into them again. The caller holds the lock."""
    atomic.write_derived(path, fastjson.dumps(looks).encode())


def _is_whole(handle: int, size: int) -> bool:
    """Tell whether what stands before the footer of a file has the checksum in it."""
    if size <= _TAIL:
        return False
    with mmap.mmap(handle, 0, access=mmap.ACCESS_READ) as data:
        length = int.from_bytes(data[-_TAIL:-4], "little")
        end = size - _TAIL - length
        if int.from_bytes(data[-4:], "little") != _SIGN or length > _LONGEST or end < 0:
            return False
        try:
            told = fastjson.loads(data[end : size - _TAIL].decode("utf-8", "replace"))
        except ValueError:
            return False
        with memoryview(data) as whole, whole[:end] as body:
            return isinstance(told, dict) and told.get("crc") == zlib.crc32(body)
