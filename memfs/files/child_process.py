"""Starts this Python for a part of memfs: detached, or as a child that is talked to by pipes.

Python is isolated (`-I -S`), so that no variable of a project decides what is imported or run.
"""

import os
import sys

from memfs.files import account

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

# The environment variables that such a process gets: none that may hold keys, or name a folder that
# is of the project whose session starts it (see `store.host_folders`).
_KEPT = ("HOME", "PATH", "USER", "LOGNAME", "LANG", "TZ")
_KEPT_SO = ("LC_", "MEMFS_")
_INSIDE = "MEMFS_INSIDE"  # see `ipc.client`: of the assistant that runs us, not of what we start
_DETACH = """
import os, sys
os.chdir(sys.argv[2])
if os.fork():
    os._exit(0)
os.setsid()
os.closerange(int(sys.argv[3]), 4096)
words = int(sys.argv[4])
sys.path[:] = sys.argv[5 + words:]
from importlib import import_module
import_module(sys.argv[1]).run_detached(*sys.argv[5:5 + words])
"""
CALL = """
import os, sys
os.nice(int(sys.argv[2]))
sys.path[:] = sys.argv[3:]
from importlib import import_module
import_module(sys.argv[1]).main()
"""
FIRST_FILE = 3  # the descriptor of a file that is passed on; those below may be closed in us


def start_child(module: str, *, nice: int = 0, log: bool = False) -> "Popen[bytes]":
    """Call `main()` of a module in a child with pipes for its input and output.

    Ctrl-C does not reach it: it has to end with its input. With `log` it has our standard error.
    """
    words = ["-c", CALL, module, str(nice), *_list_module_path()]
    return _open(words, _build_environment(keys=True), log=log)


def start_script(path: str) -> "Popen[bytes]":
    """Run a file of ours, which imports nothing of memfs, in such a child with few variables."""
    return _open([path], _build_environment())


def end_child(process: "Popen[bytes]") -> None:
    """Kill a child, and close its pipes."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:  # from flushing unwritten data
            continue
    process.wait()


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
    """Call `run_detached(*words)` of a module in a process that outlives us; False if it cannot be.

    It works in `folder`, and reads and prints nothing. Without `wait` for its detaching, the caller
    must end soon. With `keys` it has all of our environment: for a short process that asks a model.
    The open file `given` (above `FIRST_FILE`) is its descriptor `FIRST_FILE`. A program in the
    project of the folder `worked` is not found by it.
    """
    closed = str(FIRST_FILE + (given is not None))  # the first file that it closes
    command = [sys.executable, "-I", "-S", "-c", _DETACH, module, folder, closed]
    command += [str(len(words)), *words, *_list_module_path()]
    environment = _build_environment(worked, keys=keys)
    opened: list[tuple[object, ...]] = [
        (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(FIRST_FILE)
    ]
    if given is not None:
        opened.append((os.POSIX_SPAWN_DUP2, given, FIRST_FILE))
    try:  # not `subprocess`, which takes a hook too long to import
        process = os.posix_spawn(sys.executable, command, environment, file_actions=opened)
        if wait:
            os.waitpid(process, 0)
    except OSError:
        return False
    return True


def _open(
    words: "list[str]", environment: "dict[str, str]", *, log: bool = False
) -> "Popen[bytes]":
    import subprocess  # no hook needs it

    return subprocess.Popen(  # noqa: S603 - this Python, and nobody's words
        [sys.executable, "-I", "-S", *words],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if log else subprocess.DEVNULL,
        start_new_session=True,
    )


def _list_module_path() -> "list[str]":
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [ours, *(part for part in sys.path if part)]


def _build_environment(worked: str = "", *, keys: bool = False) -> "dict[str, str]":
    return {
        name: value
        for name, value in os.environ.items()
        if keys or name in _KEPT or (name.startswith(_KEPT_SO) and name != _INSIDE)
    } | {"PATH": account.clean_path(worked)}
