"""Files that are written whole or not at all: readers see the old or the new. Hot path."""

import os

from memfs import files


def write(
    path: str, text: str, *, private: bool = False, durable: bool = True, locked: bool = False
) -> None:
    """Write a file whole or not at all: temp file, fsync, rename, fsync of the directory.

    The mode of an existing file is kept; a new one is 0600 if `private`, else what the umask
    allows. `durable=False` leaves the fsyncs out, for what can be made again. `locked` says
    that nobody else can be writing this file: what a killed writer left is then taken over.
    """
    owner = "" if locked else f".{os.getpid()}"
    _replace(path, owner, files.encode(text), private=private, durable=durable, keep=True)


def write_derived(path: str, data: bytes, *, durable: bool = False) -> None:
    """Write a private derived file, whole or not at all. The caller holds a lock."""
    _replace(path, "", data, private=True, durable=durable, keep=False)


def write_private(path: str, data: bytes) -> None:
    """Write a file whole or not at all, with mode 0600 whatever mode the old one had."""
    _replace(path, f".{os.getpid()}", data, private=True, durable=True, keep=False)


def _replace(
    path: str, owner: str, data: bytes, *, private: bool, durable: bool, keep: bool
) -> None:
    with files.NamedBeside(path) as at:
        mode = _get_mode(at, path) if keep else None
        temporary = f".{at.name}{owner}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.UNFOLLOWED
        access = 0o600 if private or mode is not None else 0o666
        try:
            handle = os.open(temporary, flags, access, dir_fd=at.folder)
        except FileExistsError:  # a killed writer left it
            os.unlink(temporary, dir_fd=at.folder)
            handle = os.open(temporary, flags, access, dir_fd=at.folder)
        try:
            try:
                files.write_all(handle, data)
                if mode is not None:
                    os.fchmod(handle, mode)
                if durable:
                    os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(temporary, at.name, src_dir_fd=at.folder, dst_dir_fd=at.folder)
        except BaseException as error:  # noqa: BLE001 - it is raised again
            try:  # noqa: SIM105 - hooks need no `contextlib` for it
                os.unlink(temporary, dir_fd=at.folder)
            except FileNotFoundError:
                pass
            raise files.name_errors(error, path) from None
    if durable:
        files.sync_folder(os.path.dirname(path))


def _get_mode(at: files.NamedBeside, path: str) -> int | None:
    try:
        found = os.stat(at.name, dir_fd=at.folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if found & files.KIND == files.LINK:
        raise files.LinkError(path)
    return found & 0o7777


def rename(old: str, new: str) -> None:
    """Give a file or folder another name; a file that has it is replaced. Raises `OSError`."""
    with files.NamedBeside(old) as source, files.NamedBeside(new) as target:
        os.replace(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)


def touch(path: str, seconds: float) -> None:
    """Make an empty private file if there is none, and set its time (seconds since 1970)."""
    handle, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.utime(handle, (seconds, seconds))
    finally:
        os.close(handle)
