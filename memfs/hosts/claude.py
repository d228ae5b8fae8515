"""Claude Code: hook events, replies, where its settings and transcripts are. Hot path."""

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "claude"
TITLE = "Claude Code"
WINDOW = 200_000
READS = (("claude",),)
ADDS = 0
IS_SILENT = False
COMMAND = "claude"
HOME = ".claude"
PLUGIN_VERB = "install"
RESTARTS = True  # a session start comes after each compaction
IGNORES = ("a comment", "a trailing comma")
VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CLAUDECODE")
FOLDERS = ("CLAUDE_CONFIG_DIR",)
IS_IMITATED = True
TELLS, ASKS = events.BEFORE, True
TESTED = ""

_KINDS = {**payloads.CLAUDE_KINDS, "SubagentStart": events.AGENT}
TOOLS = payloads.ToolNames(("Write", "Edit", "MultiEdit", "NotebookEdit"), ("Read",), ("Bash",))


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    return payloads.event(NAME, _KINDS, TOOLS, payload)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.format_nested(event, reply)


def list_plugin_settings(home: str, top: str) -> "list[str]":
    """List the settings files that can enable our plugin; `top` is the project, or ""."""
    from memfs.files.account import find_named_folder

    folder = find_named_folder("CLAUDE_CONFIG_DIR") or f"{home}/.claude"
    found = [f"{folder}/settings.json"]
    names = ("settings.json", "settings.local.json") if top else ()
    return found + [f"{top}/.claude/{name}" for name in names]


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope, the one with our hooks first, and what goes in."""
    from memfs.files.account import find_named_folder

    folder = find_named_folder("CLAUDE_CONFIG_DIR")
    account = f"{folder or home}/.claude.json"
    names = ("hooks", "allow", "line", "memory_off")
    inside = tuple([f"claude/{name}.json" for name in names])
    if scope == "user":
        path = f"{folder or f'{home}/.claude'}/settings.json"
        return [(path, inside), (account, ("claude/tools.json",))]
    if scope == "local":  # a folder for one project, which no committed file can name
        path = f"{top}/.claude/settings.local.json"
        here = (*inside, "claude/memory_here.json")
        return [(path, here), (account, ("claude/tools_here.json",))]
    path = f"{top}/.claude/settings.json"
    shared = ("claude/hooks.json", "claude/allow.json", "claude/line.json", "claude/approve.json")
    return [(path, shared), (f"{top}/.mcp.json", ("claude/tools.json",))]
