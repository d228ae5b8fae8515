"""Floor 1: one module for each assistant; the module is the plugin (see `base`). Hot path."""

from memfs.core.errors import USAGE, MemfsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memfs.hosts.base import Host

NAMES = ("claude", "codex", "gemini", "copilot")
HOOK = "memfs_hook.py"  # what a hook command of ours runs
PLUGIN = "memfs@"  # how our plugin is named where hosts list those that are enabled
_SESSIONS = (("CLAUDE_CODE_SESSION_ID", "claude"),)  # what hosts tell those they start


def get(name: str) -> "Host":
    """Return a host's module by name; raises `MemfsError` (usage) for an unknown one."""
    if name not in NAMES:
        raise MemfsError(f"unknown host '{name}'", f"known hosts: {', '.join(NAMES)}", USAGE)
    module: Host = __import__(f"memfs.hosts.{name}", fromlist=["NAME"])
    return module


def running(environment: "Mapping[str, str]") -> tuple[str, str]:
    """Return (session, host) of the assistant that started us, or ("", "")."""
    for variable, host in _SESSIONS:
        if environment.get(variable):
            return environment[variable], host
    return environment.get("MEMFS_SESSION", ""), ""
