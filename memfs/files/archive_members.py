"""What an archive of somebody else unpacks to: counted, whatever its headers say."""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
import zlib

from memfs.core.errors import StoreError

TYPE_CHECKING = False
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
ODD = "it is a link or a device, or else no plain file"
_RATIO = 200  # unpacked to packed; what people write comes to 60 at most
_FREE = 16 << 20  # bytes for which the ratio does not matter
_CHUNK = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


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
            raise StoreError(f"more than {MOST_FILES:,} files are in it", "nothing was written")

    def count_bytes(self, more: int) -> None:
        """Count more unpacked bytes. Raises `StoreError` where they are too many."""
        self._bytes += more
        if self._bytes > self._most:
            raise StoreError(
                f"more than {self._most >> 20:,} MB are in it, unpacked: too much for its size",
                "nothing was written",
            )


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
    if info.flag_bits & 1 or info.compress_type not in _METHODS:
        return "it is encrypted, or packed in a way that is not known"
    return ""
