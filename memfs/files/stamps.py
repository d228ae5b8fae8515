"""Folder stamps, which change whenever a file below the folder does. Hot path."""

import os

from memfs import files

_PRIME = (1 << 127) - 1
_MOST = 4  # levels of folders


def compute_stamp(folder: str, left_out: tuple[str, ...], folders_alone: tuple[str, ...]) -> str:
    """Return a number, as text, that changes whenever a file below `folder` is written.

    What begins with a name in `left_out` is skipped. In folders named in `folders_alone` only the
    folders count, which change when a file in them is replaced: their files are many.
    """
    parts: list[str] = []
    _walk(folder, parts, left_out, folders_alone, _MOST)
    return str(int.from_bytes("\n".join(sorted(parts)).encode("utf-8", "replace"), "big") % _PRIME)


def _walk(
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
                if entry.name.startswith(left_out) or (alone and not is_folder):
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
        _walk(f"{folder}/{name}", parts, (), (), levels - 1, alone=alone or name in folders_alone)
