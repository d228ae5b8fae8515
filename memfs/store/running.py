"""Which session a host's process is in: hooks note it, and servers that it started look it up.

A host starts its hooks and our MCP server itself, and tells only hooks the session. Hot path, but
for session starts alone.
"""

import os

from memfs.store import files, layout
from memfs.store.layout import Store

_FOLDER = "processes"


def note(store: Store, session: str) -> None:
    """Note that the host which started this process is in a session now.

    It may have started it through a shell: the process above counts, too, where that can be told.
    Can be lost without harm: not fsynced.
    """
    folder = f"{store.local}/{_FOLDER}"
    layout.make_local(store)
    files.make_folder(folder, private=True, durable=False)
    for name in os.listdir(folder):
        if name.isdigit() and not _alive(int(name)):
            files.remove(f"{folder}/{name}")
    for process in _above(os.getppid()):
        files.write(f"{folder}/{process}", session, private=True, durable=False)


def session(store: Store) -> str:
    """Return the session of the host that started this process, "" if no hook noted it."""
    return (files.read(f"{store.local}/{_FOLDER}/{os.getppid()}") or "").strip()


def _above(process: int) -> list[int]:
    found = [process]
    try:
        with open(f"/proc/{process}/stat", "rb") as handle:
            found.append(int(handle.read().rpartition(b")")[2].split()[1]))  # state, parent, …
    except (OSError, ValueError, IndexError):  # another system, or it ended meanwhile
        pass
    return [each for each in found if each > 1]


def _alive(process: int) -> bool:
    if os.name == "nt":  # there, asking would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
