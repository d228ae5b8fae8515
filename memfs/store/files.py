"""Reading and writing files: whole, contained, atomic. Hot path (the lock is imported lazily)."""

import os

from memfs.core.errors import StoreError

_MANY = 16  # files from which on they are made durable side by side
_ABREAST = 8
READ_CAP = 8 << 20  # no block, passage or config of a person is larger; hooks must not choke


def read(path: str, cap: int = READ_CAP) -> str | None:
    """Return a file's text (UTF-8, `surrogateescape`), at most `cap` bytes; None if there is none.

    Anything but a regular file counts as none: a FIFO would block a hook for ever.
    """
    return beginning(path, cap, cap)[0]


def beginning(path: str, most: int, least: int) -> tuple[str | None, int]:
    """Return (text, size in bytes) of a file: of one larger than `most` its first `least` bytes."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | BINARY)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None, 0
    try:
        status = os.fstat(handle)
        if status.st_mode & 0o170000 != 0o100000:
            return None, 0
        size = status.st_size if status.st_size <= most else least
        data = os.read(handle, size + 1 if size < most else size)
        while len(data) < size:  # a short read: the file shrinks, or the system reads in pieces
            more = os.read(handle, size - len(data))
            if not more:
                break
            data += more
    finally:
        os.close(handle)
    if status.st_size > most:
        data = data[:least]
    return data.decode("utf-8", "surrogateescape"), status.st_size


def encode(text: str) -> bytes:
    """Return the bytes of a text that `read` gave."""
    return text.encode("utf-8", "surrogateescape")


def write(
    path: str, text: str, *, private: bool = False, durable: bool = True, locked: bool = False
) -> None:
    """Write a file whole or not at all: temp file, fsync, rename, fsync of the directory.

    The mode of an existing file is kept; a new one is 0600 if `private`, else what the umask
    allows. `durable=False` leaves the fsyncs out, for what can be made again. `locked` says
    that nobody else can be writing this file: what a killed writer left is then taken over.
    """
    folder, name = os.path.split(path)
    owner = "" if locked else f".{os.getpid()}"
    temporary = os.path.join(folder, f".{name}{owner}.tmp")
    _replace(path, temporary, encode(text), _mode_of(path), private=private, durable=durable)


def write_private(path: str, data: bytes) -> None:
    """Write a file whole or not at all, with mode 0600 also where one with another mode was."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    remove(temporary)
    _replace(path, temporary, data, None, private=True, durable=True)


def _replace(
    path: str, temporary: str, data: bytes, mode: int | None, *, private: bool, durable: bool
) -> None:
    """Put a new file in the place of `path`, with `mode` if it is given."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | BINARY
    handle = os.open(temporary, flags, 0o600 if private or mode is not None else 0o666)
    try:
        try:
            write_all(handle, data)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(handle, mode)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException as error:  # noqa: BLE001 - it is raised again
        remove(temporary)
        raise named(error, path) from None
    if durable:
        sync_folder(os.path.dirname(path))


def append(path: str, data: bytes, *, private: bool = True, durable: bool = True) -> int:
    """Append and return the new size; after a failure the file is as it was.

    `durable=False` leaves the fsyncs out: `sync_all` and `sync_folder` make up for them.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY
    handle = os.open(path, flags, 0o600 if private else 0o666)
    try:
        before = os.fstat(handle).st_size
        try:
            write_all(handle, data)
            if durable:
                os.fsync(handle)
        except BaseException as error:  # noqa: BLE001 - it is raised again
            os.ftruncate(handle, before)
            raise named(error, path) from None
    finally:
        os.close(handle)
    if durable and before == 0:
        sync_folder(os.path.dirname(path))
    return before + len(data)


def add_lines(path: str, lines: str, *, private: bool) -> int:
    """Append whole lines durably, behind a last one that a kill tore; return the new size."""
    torn = False
    if os.path.exists(path):
        with open(path, "rb") as handle:
            if handle.seek(0, os.SEEK_END):
                handle.seek(-1, os.SEEK_END)
                torn = handle.read(1) != b"\n"
    return append(path, encode("\n" * torn + lines), private=private)


def sync_all(paths: list[str]) -> None:
    """Make durable what was written to files.

    Many are waited for side by side: the disk's journal takes them in together, in a tenth of the
    time.
    """
    if len(paths) < _MANY:
        for path in paths:
            _sync(path)
        return
    import threading

    failed: list[BaseException] = []

    def sync(share: list[str]) -> None:
        try:
            for path in share:
                _sync(path)
        except OSError as error:
            failed.append(error)

    shares = [paths[first::_ABREAST] for first in range(_ABREAST)]
    threads = [threading.Thread(target=sync, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDWR | BINARY)
    try:
        os.fsync(handle)
    except OSError as error:
        raise named(error, path) from None
    finally:
        os.close(handle)


def cut(path: str, size: int) -> None:
    """Cut a file off behind its first `size` bytes, durably."""
    handle = os.open(path, os.O_WRONLY | BINARY)
    try:
        os.ftruncate(handle, size)
        os.fsync(handle)
    except OSError as error:
        raise named(error, path) from None
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data`: the system may take less at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def remove(path: str) -> bool:
    """Remove a file if it is there; tell whether it was."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def sync_folder(folder: str) -> None:
    """Make a rename or a removal in `folder` durable, where the system knows how."""
    if os.name == "nt":
        return
    handle = os.open(folder or ".", os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        raise named(error, folder) from None
    finally:
        os.close(handle)


def make_folder(path: str, *, private: bool = False, durable: bool = True) -> None:
    """Make a folder and those above it that are missing, with mode 0700 if `private`.

    A durable file needs durable folders: `durable=False` leaves the fsyncs out, as in `write`.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_folder(parent, private=private, durable=durable)
    try:
        os.mkdir(path, 0o700 if private else 0o777)
    except FileExistsError:  # somebody else was quicker, or a file is in the way
        if not os.path.isdir(path):
            raise
    if durable:
        sync_folder(parent)


def contained(path: str, root: str) -> str:
    """Return the real path of `path`; raises `StoreError` if it leads out of `root`."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if real != top and not real.startswith(top + os.sep):
        raise StoreError(
            f"{path} leads out of the store, to {real}",
            "memfs does not follow links that leave .agent-memory; replace it by a file",
        )
    return real


def check_folder(folder: str, root: str) -> None:
    """Raise `StoreError` if a folder in `root` is a link that leads out of it.

    What is none costs a look at it: folders are looked through at every search.
    """
    if os.path.islink(folder):
        contained(folder, root)


def named(error: BaseException, path: str) -> BaseException:
    """Let an error of the system name the file it is about."""
    if isinstance(error, OSError) and error.filename is None:
        error.filename = path
    return error


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode & 0o7777
    except OSError:
        return None


BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
