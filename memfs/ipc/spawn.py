"""Starts processes of memfs that outlive their parent."""

import os
import sys

from memfs.files import account
from memfs.ipc.client import INSIDE
from memfs.store import config, store_paths
from memfs.store.blocks import Place, find_off_switch

# The environment variables that such a process gets: none that may hold keys, or name a folder that
# is of the project whose session starts it (see `store.host_folders`).
_KEPT = ("HOME", "PATH", "USER", "LOGNAME", "LANG", "TZ", "SYSTEMROOT", "APPDATA", "LOCALAPPDATA",
         "USERPROFILE")  # fmt: skip
_KEPT_SO = ("LC_", "MEMFS_")
_CODE = """
import os, sys
os.chdir(sys.argv[2])
if hasattr(os, "fork"):
    if os.fork():
        os._exit(0)
    os.setsid()
    os.closerange(int(sys.argv[3]), 4096)
words = int(sys.argv[4])
sys.path[:] = sys.argv[5 + words:]
from importlib import import_module
import_module(sys.argv[1]).run_detached(*sys.argv[5:5 + words])
"""
LOCK = "service.lock"
_GIVEN = 3  # the descriptor of a file that is passed on; those below may be closed in the parent


def start_service(folder: str = "", *, wait: bool = False) -> bool:
    """Start the service of this user; False if it is disabled, or its files cannot be written.

    It begins with the store that serves `folder`, if one is given. One that runs already, or was
    just started by another process, is left alone. `wait`: this process does not end soon.
    """
    user = store_paths.user_store()
    if user is None or find_off_switch(Place(None, user)):
        return False
    if config.load(Place(None, user)).get("service.mode") != "auto":
        return False
    if not hasattr(os, "posix_spawn"):  # pragma: no cover - Windows: the second ends at once
        return spawn_detached("memfs.service.server", ["", folder], user.local, wait=wait)
    from memfs.core.errors import MemfsError  # it is running, mostly
    from memfs.store import lock  # likewise

    try:
        claimed = lock.claim_lock(user, LOCK, _GIVEN)
    except (MemfsError, OSError):  # it cannot be written, or leads out of the store
        return False
    if claimed is None:
        return True
    try:
        words = [str(_GIVEN), folder]
        return spawn_detached(
            "memfs.service.server", words, user.local, wait=wait, given=claimed, worked=folder
        )
    finally:
        os.close(claimed)


def spawn_detached(
    module: str,
    words: "list[str]",
    folder: str,
    *,
    wait: bool = True,
    keys: bool = False,
    given: "int | None" = None,
    worked: str = "",
) -> bool:
    """Call `run_detached(*words)` of a module in a process of its own; False if there is no room.

    It works in `folder`, reads and prints nothing, and has the module path of this process.
    Without `wait` for its detaching, the caller must end soon. With `keys` it has all of our
    environment: for a short process that asks a model. The open file `given` (above 3) is its
    descriptor 3. A program in the project of the folder `worked` is not found by it.
    """
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = [ours, *(part for part in sys.path if part)]
    closed = str(_GIVEN + (given is not None))  # the first file that it closes
    command = [sys.executable, "-I", "-S", "-c", _CODE, module, folder, closed]
    command += [str(len(words)), *words]
    environment = {
        name: value
        for name, value in os.environ.items()
        if keys or name in _KEPT or (name.startswith(_KEPT_SO) and name != INSIDE)
    } | {"PATH": account.clean_path(worked)}
    try:
        if hasattr(os, "posix_spawn"):
            files: list[tuple[object, ...]] = [
                (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(_GIVEN)
            ]
            if given is not None:
                files.append((os.POSIX_SPAWN_DUP2, given, _GIVEN))
            process = os.posix_spawn(
                sys.executable, [*command, *path], environment, file_actions=files
            )
            if wait:
                os.waitpid(process, 0)
        else:  # pragma: no cover - Windows
            _popen([*command, *path], environment)
    except OSError:
        return False
    return True


def _popen(command: "list[str]", environment: "dict[str, str]") -> None:  # pragma: no cover
    import subprocess  # likewise

    process = subprocess.Popen(  # noqa: S603 - this Python, and nobody's words
        command,
        env=environment,
        creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    process.returncode = 0  # nobody waits for it
