"""Codex: hook events, replies, where its settings and transcripts are. Hot path."""

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "codex"
TITLE = "Codex"
WINDOW = 272_000
READS = (("agents",),)
ADDS = 410
IS_SILENT = False
COMMAND = "codex"
HOME = ".codex"
PLUGIN_VERB = "add"
RESTARTS = True
IGNORES = ("a byte order mark", "a comment", "a trailing comma")
VARIABLES = ("CODEX_SESSION_ID",)
FOLDERS = ("CODEX_HOME",)
IS_IMITATED = True
TELLS, ASKS = events.BEFORE, False
TESTED = ""

_KINDS = {**payloads.CLAUDE_KINDS, "SubagentStart": events.AGENT}
TOOLS = payloads.ToolNames(("apply_patch",), (), ("Bash",))  # it reads files in its shell


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    return payloads.event(NAME, _KINDS, TOOLS, payload)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.format_nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Codex has no settings that are not committed."""
    from memfs.files.account import find_named_folder

    folder = find_named_folder("CODEX_HOME") or f"{home}/.codex"
    if scope == "project":
        folder = f"{top}/.codex"
    elif scope != "user":
        return []
    hooks = f"{folder}/hooks.json", ("codex/hooks.json",)
    return [hooks, (f"{folder}/config.toml", ("codex/tools.toml",))]


def list_plugin_settings(home: str, top: str) -> "list[str]":
    """List the settings files that can enable our plugin; `top` is the project, or ""."""
    from memfs.files.account import find_named_folder

    folder = find_named_folder("CODEX_HOME") or f"{home}/.codex"
    return [f"{folder}/config.toml", *([f"{top}/.codex/config.toml"] if top else [])]
