"""Starting a process of our own that outlives the one that starts it."""

import os
import sys

from memfs.store import config, layout
from memfs.store.asking import INSIDE
from memfs.store.blocks import Place

# What such a process may know of the environment it is started from: not the keys in it.
_KEPT = ("HOME", "PATH", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SYSTEMROOT", "TEMP", "APPDATA",
         "LOCALAPPDATA", "USERPROFILE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME",
         "GEMINI_CLI_HOME", "OPENCODE_DB")  # fmt: skip
_KEPT_SO = ("LC_", "XDG_", "HF_", "HUGGINGFACE_", "MEMFS_")
_CODE = """
import os, sys
os.chdir(sys.argv[2])
if hasattr(os, "fork"):
    if os.fork():
        os._exit(0)
    os.setsid()
    os.closerange(3, 4096)
words = int(sys.argv[3])
sys.path[:] = sys.argv[4 + words:]
from importlib import import_module
import_module(sys.argv[1]).behind(*sys.argv[4:4 + words])
"""


def start(*, wait: bool = False) -> bool:
    """Start the service of this user; False if it is not wanted, or there is no place for it.

    One that runs already is left alone: the second ends at once. `wait` for long-lived processes.
    """
    user = layout.user_store()
    if user is None or config.load(Place(None, user)).get("service.mode") != "auto":
        return False
    return detached("memfs.service.server", [], user.local, wait=wait)


def detached(
    module: str, words: "list[str]", folder: str, *, wait: bool = True, keys: bool = False
) -> bool:  # fmt: skip
    """Call `behind(*words)` of a module in a process of its own; False if there is no room for it.

    It works in `folder`, reads and prints nothing, and has the modules of this process. If it is
    not waited for until it is on its own, whoever calls must end soon. With `keys` it has all of
    our environment: for what ends soon, and asks a model.
    """
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = [ours, *(part for part in sys.path if part)]
    command = [sys.executable, "-I", "-S", "-c", _CODE, module, folder, str(len(words)), *words]
    environment = {
        name: value
        for name, value in os.environ.items()
        if keys or name in _KEPT or (name.startswith(_KEPT_SO) and name != INSIDE)
    }
    try:
        if hasattr(os, "posix_spawn"):
            null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
            process = os.posix_spawn(
                sys.executable, [*command, *path], environment, file_actions=null
            )
            if wait:
                os.waitpid(process, 0)
        else:  # pragma: no cover - Windows
            _popen([*command, *path], environment)
    except OSError:
        return False
    return True


def _popen(command: "list[str]", environment: "dict[str, str]") -> None:  # pragma: no cover
    import subprocess

    process = subprocess.Popen(  # noqa: S603 - this Python, and nobody's words
        command, env=environment, creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    process.returncode = 0  # it is not waited for
