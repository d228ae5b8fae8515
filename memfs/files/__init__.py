"""Floor 2: the one way to open a file below a store. Hot path.

Every path is absolute and real: a link in any part is refused, also one put there meanwhile. Only
regular files are opened, no open blocks, and reads have a limit.
"""

import errno
import os

from memfs.core.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_CAP = 8 << 20  # bytes; no block, passage or config of a person is larger

KIND, FILE, FOLDER, LINK = 0o170000, 0o100000, 0o040000, 0o120000  # of a mode
# macOS refuses a link in any part of a path by itself.
_ANYWHERE = getattr(os, "O_NOFOLLOW_ANY", 0)
UNFOLLOWED = _ANYWHERE or os.O_NOFOLLOW
AT_ONCE = os.O_NONBLOCK | os.O_NOCTTY
_LISTING = os.O_RDONLY | os.O_DIRECTORY
_PASSING = getattr(os, "O_PATH", 0) | _LISTING  # a folder that can be traversed, but not listed
_HANDLES = "/proc/self/fd"
ABSENT = (errno.ENOENT, errno.ENOTDIR)
NO_READER = errno.ENXIO  # of a FIFO; of a socket, which is no file either


class LinkError(StoreError, OSError):
    """A part of a path is a link. `filename` is the path."""

    def __init__(self, path: str) -> None:
        what = "is a link or in a linked folder; memfs does not follow links"
        OSError.__init__(self, errno.ELOOP, f"it {what}", path)
        self.message, self.hint = f"{path} {what}", "replace the link with a real folder or file"


class NotAFileError(StoreError, OSError):
    """A path names something other than a regular file. `filename` is the path."""

    def __init__(self, path: str) -> None:
        OSError.__init__(self, errno.EINVAL, "it is not a regular file", path)
        self.message, self.hint = (
            f"{path} is not a regular file",
            "replace it with a regular file, or remove it",
        )


def open_file(path: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> tuple[int, os.stat_result]:
    """Open a regular file and return (handle, its status); `mode` is that of a new file.

    Raises `LinkError`, `NotAFileError`, or another `OSError` that names the path. The caller closes
    the handle, and truncates by it: never by a flag, before it is known what was opened.
    """
    try:
        if flags & os.O_CREAT:
            with NamedBeside(path) as at:
                handle = os.open(at.name, flags | UNFOLLOWED | AT_ONCE, mode, dir_fd=at.folder)
        else:
            handle = _open(path, flags | AT_ONCE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkError(path) from None
        if error.errno == NO_READER:
            raise NotAFileError(path) from None
        raise
    status = os.fstat(handle)
    if status.st_mode & KIND != FILE:
        os.close(handle)
        raise NotAFileError(path)
    return handle, status


def open_folder(path: str) -> int:
    """Open a folder to list or sync it; the caller closes it. Raises `LinkError`, `OSError`."""
    try:
        return _open(path, _LISTING)
    except OSError as error:
        raise _convert_error(error, path) from None


class NamedBeside:
    """A path as the functions of `os` take it: a `name` beside an open `folder` (their `dir_fd`).

    Used in a `with` statement.
    """

    __slots__ = ("folder", "name", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        above, _, self.name = path.rpartition("/")
        try:
            self.folder = _open(above or "/", _PASSING)
        except OSError as error:
            raise _convert_error(error, above) from None

    def __enter__(self) -> "NamedBeside":  # noqa: PYI034 - `Self` is in `typing`
        return self

    def __exit__(self, _get_kind: object, error: BaseException | None, _trace: object) -> None:
        os.close(self.folder)
        if isinstance(error, OSError):
            named = error.filename or self.name
            if named == self.name or str(named).startswith(f".{self.name}."):  # a temporary file
                error.filename = self.path


def _open(path: str, flags: int) -> int:
    """Open what is there, a file or a folder; raises `OSError`, `ELOOP` for a link."""
    flags |= UNFOLLOWED
    if _ANYWHERE:  # pragma: no cover - macOS
        return os.open(path, flags)
    handle = os.open(path, flags)
    try:
        real = os.readlink(f"{_HANDLES}/{handle}") == path
    except OSError:
        real = False
    if real:
        return handle
    # It was replaced just now, the system has no /proc, or the path leads elsewhere.
    os.close(handle)
    return _walk_to(path, flags)


def _walk_to(path: str, flags: int) -> int:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if os.pardir in parts or not path.startswith("/"):
        raise OSError(errno.EINVAL, "the path is not absolute", path)
    folder = os.open("/", _PASSING)
    try:
        for part in parts[:-1]:
            try:
                below = os.open(part, _PASSING | UNFOLLOWED, dir_fd=folder)
            except NotADirectoryError:
                if os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode & KIND == LINK:
                    raise LinkError(path) from None
                raise
            os.close(folder)
            folder = below
        return os.open(parts[-1] if parts else ".", flags, dir_fd=folder)
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(folder)


def _convert_error(error: OSError, path: str) -> OSError:
    """Return the error to raise for a folder that was not opened: `LinkError` for a link."""
    if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and os.path.islink(path)):
        return LinkError(path)
    return error


def read(path: str, cap: int = READ_CAP) -> str | None:
    """Return a file's text (UTF-8, `surrogateescape`), at most `cap` bytes; None if there is none.

    A link, or anything but a regular file, counts as none.
    """
    return beginning(path, cap, cap)[0]


def beginning(path: str, most: int, least: int) -> tuple[str | None, int]:
    """Return (text, size in bytes) of a file; one larger than `most` is cut to `least` bytes."""
    try:
        handle, status = open_file(path)
    except OSError as error:
        if error.errno in ABSENT or isinstance(error, LinkError | NotAFileError):
            return None, 0
        raise
    return decode(read_bytes(handle, status.st_size, most, least)), status.st_size


def read_record(path: str, cap: int = READ_CAP) -> dict[str, object]:
    """Return the JSON object in a file; {} for none, and for what is no such object."""
    import json  # most files are none

    try:
        found = json.loads(read(path, cap) or "")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_bytes(handle: int, known: int, most: int, least: int) -> bytes:
    """Return the bytes of an open file (see `beginning`), and close it."""
    try:
        size = known if known <= most else least
        data = os.read(handle, size + 1 if size < most else size)
        while len(data) < size:  # a short read: the file shrinks, or the system reads in pieces
            more = os.read(handle, size - len(data))
            if not more:
                break
            data += more
    finally:
        os.close(handle)
    return data[:least] if known > most else data


def decode(data: bytes) -> str:
    """Return the text of a file's bytes."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text that `read` gave."""
    return text.encode("utf-8", "surrogateescape")


def status(path: str) -> os.stat_result | None:
    """Return the status of a file or folder; None for a link, anything else, or no file."""
    try:
        with NamedBeside(path) as at:
            found = os.stat(at.name, dir_fd=at.folder, follow_symlinks=False)
    except OSError as error:
        if error.errno in ABSENT or isinstance(error, LinkError):
            return None
        raise
    return found if found.st_mode & KIND in (FILE, FOLDER) else None


def is_file(path: str) -> bool:
    """Tell whether a regular file is there."""
    return _get_kind(path) == FILE


def is_folder(path: str) -> bool:
    """Tell whether a folder is there."""
    return _get_kind(path) == FOLDER


def _get_kind(path: str) -> int:
    try:
        found = status(path)
    except OSError:
        return 0
    return found.st_mode & KIND if found else 0


def get_size(path: str) -> int:
    """Return the bytes of a file, 0 if there is none."""
    found = status(path)
    return found.st_size if found and found.st_mode & KIND == FILE else 0


def entries(folder: str) -> list[tuple[str, bool]]:
    """List (name, whether it is a folder) of the files and folders in a folder, unsorted.

    Links are left out, and what is neither. Raises `FileNotFoundError`, `LinkError`, `OSError`.
    """
    return [
        (entry.name, is_folder)
        for entry in scan_folder(folder)
        if (is_folder := entry.is_dir(follow_symlinks=False))
        or entry.is_file(follow_symlinks=False)
    ]


def scan_folder(folder: str) -> "Iterator[os.DirEntry[str]]":
    """Yield all entries of a folder, which stays open meanwhile. Raises as `entries`."""
    handle = open_folder(folder)
    try:
        with os.scandir(handle) as found:
            yield from found
    except OSError as error:
        raise name_errors(error, folder) from None
    finally:
        os.close(handle)


def names(folder: str) -> list[str]:
    """List the names of the files in a folder, sorted; none where there is no such folder."""
    try:
        found = entries(folder)
        if any(name == ".git" for name, _ in found):
            return []
        return sorted(name for name, is_folder in found if not is_folder)
    except OSError as error:
        if error.errno in ABSENT or isinstance(error, LinkError):
            return []
        raise


def make_empty(path: str) -> bool:
    """Make an empty private file; return False if it exists. Atomic between processes."""
    try:
        handle, _ = open_file(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return False
    os.close(handle)
    return True


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data`: the system may take less at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def remove(path: str) -> bool:
    """Remove a file if it is there; tell whether it was. Of a link, the link is removed."""
    try:
        with NamedBeside(path) as at:
            os.unlink(at.name, dir_fd=at.folder)
    except OSError as error:
        if error.errno in ABSENT:
            return False
        raise
    return True


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or in it, without looking at the disk."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def sync_folder(folder: str) -> None:
    """Make a rename or a removal in `folder` durable."""
    handle = open_folder(folder)
    try:
        os.fsync(handle)
    except OSError as error:
        raise name_errors(error, folder) from None
    finally:
        os.close(handle)


def make_folder(path: str, *, private: bool = False, durable: bool = True) -> None:
    """Make a folder and those above it that are missing, with mode 0700 if `private`.

    A durable file needs durable folders: `durable=False` leaves the fsyncs out, as in `write`.
    Raises `LinkError` where a link is in the way.
    """
    if is_folder(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_folder(parent, private=private, durable=durable)
    with NamedBeside(path) as at:
        try:
            os.mkdir(at.name, 0o700 if private else 0o777, dir_fd=at.folder)
        except FileExistsError:  # somebody else was quicker, or something is in the way
            if os.path.islink(path):
                raise LinkError(path) from None
            if not is_folder(path):
                raise
    if durable:
        sync_folder(parent)


def check_path(path: str) -> None:
    """Raise `LinkError` where a part of a path is a link; nothing has to be there yet."""
    try:
        with NamedBeside(path) as at:
            found = os.stat(at.name, dir_fd=at.folder, follow_symlinks=False)
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above != path:
            check_path(above)
        return
    if found.st_mode & KIND == LINK:
        raise LinkError(path)


def name_errors(error: BaseException, path: str) -> BaseException:
    """Return the error with `filename` set to `path`, if it is an `OSError` without one."""
    if isinstance(error, OSError) and error.filename is None:
        error.filename = path
    return error
