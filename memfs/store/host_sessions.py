"""Which session a host's process is in: hooks note it, servers that it started look it up."""

import os

from memfs import files
from memfs.files import atomic
from memfs.store import local_folder
from memfs.store.store_paths import Store

_FOLDER = "processes"
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish")


def note_session(store: Store, session: str) -> None:
    """Note that the host which started this process is in a session now.

    If a shell started it, the host is the process above, where that can be told. Can be lost
    without harm: not fsynced.
    """
    folder = f"{store.local}/{_FOLDER}"
    local_folder.make(store)
    files.make_folder(folder, private=True, durable=False)
    for name in files.names(folder):
        if name.isdigit() and not alive(int(name)):
            files.remove(f"{folder}/{name}")
    process = os.getppid()
    name, above, began = _read_process(process)
    if name in _SHELLS and above > 1:
        process = above
        began = _read_process(above)[2]
    atomic.write(f"{folder}/{process}", f"{session}\n{began}\n", private=True, durable=False)


def session(store: Store) -> str:
    """Return the session of the host that started this process, "" if no hook noted it.

    A note of an earlier process with the same number is ignored.
    """
    process = os.getppid()
    found, _, began = (files.read(f"{store.local}/{_FOLDER}/{process}") or "").partition("\n")
    return found if began.strip() == _read_process(process)[2] else ""


def _read_process(process: int) -> tuple[str, int, str]:
    """Return (name, parent, start time) of a process, ("", 0, "") if they are not known."""
    try:
        with open(f"/proc/{process}/stat", "rb") as handle:
            head, _, rest = handle.read().rpartition(b")")
        with open("/proc/sys/kernel/random/boot_id", "rb") as handle:
            boot = handle.read().strip().decode()
        fields = rest.split()  # state, parent, …; the twentieth is the time it began
        return head.partition(b"(")[2].decode(), int(fields[1]), f"{boot} {int(fields[19])}"
    except (OSError, ValueError, IndexError):  # another system, or it ended meanwhile
        return "", 0, ""


def alive(process: int) -> bool:
    """Tell whether a process is there, as far as the system says so."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
