"""Floor 3: one module for each assistant; the module is the plugin (see `base`). Hot path."""

from memfs.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from memfs.hosts.base import Collection, Host, Reader

NAMES = ("claude", "codex", "gemini", "copilot", "opencode", "cursor")
# Programs that run the hooks of others' settings with payloads of their own, and whose those are.
BORROWERS = {"vscode": ("claude", "copilot")}
OWN = "memfs"  # the host of the sessions of `memfs agent`
PROGRAM = "python"  # the host of what programs edit and store
# The modules that read transcripts of a host, and files that may hold several sessions.
READERS = {
    **{name: f"{name}_transcript" for name in NAMES if name != "opencode"},
    "opencode": "opencode_sessions",
    OWN: "agent_sessions",
}
COLLECTIONS = {
    "opencode": "opencode_sessions",
    "aider": "aider",
    "cursor": "cursor_export",
    "specstory": "specstory",
}
# Tools whose sessions come in by `memfs import`.
IMPORTED = (
    "claude-mem", "mem0", "letta", "letta-code", "cline", "roo", "kilo", "cursor-ide", "engram",
    "mycelicmemory",
)  # fmt: skip
CHATS = ("chatgpt", "claude-ai")  # of a web site: their sessions belong to no project
RECORDED = tuple(
    sorted({*READERS, *COLLECTIONS, *IMPORTED, *CHATS, PROGRAM})
)  # all whose sessions can be in recall
HOOK = "memfs_hook.py"  # the script of our hook commands
HOOK_COMMAND = "memfs hook "  # the start of those that name nothing of this machine
HOOK_TOOL = "memory_hook"  # the tool of our MCP server that a prompt hook can call instead
PLUGIN = "memfs@"  # the start of our plugin's name in hosts' lists of enabled plugins
# Variables that hosts set for their programs: the session's id, or only a mark. A host that another
# one started inherits the other's: Claude Code starts others most often, so its variable is last.
_VARIABLES = (
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("CODEX_SESSION_ID", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("OPENCODE", "opencode"),
    ("CURSOR_AGENT", "cursor"),
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CLAUDECODE", "claude"),
)


def get(name: str) -> "Host":
    """Return a host's module by name; raises `UsageError` for an unknown one."""
    if name not in NAMES and name not in BORROWERS:
        raise UsageError(f"unknown host '{name}'", f"known hosts: {', '.join(NAMES)}")
    module: Host = __import__(f"memfs.hosts.{name}", fromlist=["NAME"])
    return module


def reader(name: str) -> "Reader":
    """Return the module that finds and reads a host's transcripts, of those in `READERS`."""
    module: Reader = __import__(f"memfs.hosts.{READERS[name]}", fromlist=["identify"])
    return module


def collection(name: str) -> "Collection":
    """Return the module that reads files with several sessions, of those in `COLLECTIONS`."""
    module: Collection = __import__(f"memfs.hosts.{COLLECTIONS[name]}", fromlist=["sessions"])
    return module


def trust_module(name: str) -> "ModuleType | None":
    """Return the module for a host's trust in hooks; None if the host runs all hooks."""
    if name != "codex":
        return None
    from memfs.hosts import codex_trust

    return codex_trust


def find_running_session(environment: "Mapping[str, str]") -> tuple[str, str]:
    """Return (session, host) of the assistant that started us; "" for an unknown one."""
    host = next((host for variable, host in _VARIABLES if environment.get(variable)), "")
    return session_of(host, environment), host


def session_of(host: str, environment: "Mapping[str, str]") -> str:
    """Return the session that a host itself set, not one inherited from another host."""
    for variable, name in _VARIABLES:
        if name == host and variable.endswith("_SESSION_ID") and environment.get(variable):
            return environment[variable]
    return environment.get("MEMFS_SESSION", "")
