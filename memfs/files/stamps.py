"""What a folder looks like from outside: enough to tell that something in it changed. Hot path."""

import os

from memfs import files

_PRIME = (1 << 127) - 1
_MOST = 4  # levels of folders


def compute_stamp(folder: str, left_out: tuple[str, ...], folders_alone: tuple[str, ...]) -> str:
    """Return a number, as text, that is another whenever a file below `folder` was written.

    Of its folders those in `left_out` are not looked at; of those in `folders_alone` the folders
    are, which change when a file in them is replaced, and not their files: there are many.
    """
    parts: list[str] = []
    _look(folder, parts, left_out, folders_alone, _MOST)
    return str(int.from_bytes("\n".join(sorted(parts)).encode("utf-8", "replace"), "big") % _PRIME)


def _look(
    folder: str,
    parts: list[str],
    left_out: tuple[str, ...],
    folders_alone: tuple[str, ...],
    levels: int,
    *,
    alone: bool = False,
) -> None:
    try:
        handle = files.open_folder(folder)
    except OSError:
        return
    inner = []
    try:
        with os.scandir(handle if os.scandir in os.supports_fd else folder) as found:
            for entry in found:
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name in left_out or (alone and not is_folder):
                    continue
                status = entry.stat(follow_symlinks=False)
                stamp = f"{status.st_mtime_ns} {status.st_ino} {status.st_mode}"
                parts.append(f"{folder}/{entry.name} {stamp} {0 if is_folder else status.st_size}")
                if is_folder and levels > 1:
                    inner.append(entry.name)
    except OSError:
        return
    finally:
        os.close(handle)
    for name in inner:
        _look(f"{folder}/{name}", parts, (), (), levels - 1, alone=alone or name in folders_alone)
