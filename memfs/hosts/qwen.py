"""Qwen Code: hook events, replies, where its settings and transcripts are. Hot path.

It is a fork of Gemini CLI, with hooks like those of Claude Code.
"""

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "qwen"
TITLE = "Qwen Code"
WINDOW = 262_144
READS = (("agents",),)
ADDS = 0
IS_SILENT = False
COMMAND = "qwen"
HOME = ".qwen"
PLUGIN_VERB = ""  # it has extensions instead
RESTARTS = True
IGNORES = ("a trailing comma",)
VARIABLES = ("QWEN_CODE_SESSION_ID", "QWEN_CODE")
FOLDERS = ("QWEN_HOME",)
IS_IMITATED = False
TELLS, ASKS = events.AFTER, True  # before a tool, what is told is lost
TESTED = "with each change, but for a compaction"

TOOLS = payloads.ToolNames(
    ("write_file", "edit", "notebook_edit"), ("read_file",), ("run_shell_command",)
)


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    found = payloads.event(NAME, payloads.CLAUDE_KINDS, TOOLS, payload)
    if found and found.kind == events.PROMPT and not found.prompt:  # a tool answered
        return None
    return found


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.format_nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Qwen has no settings that are not committed."""
    from memfs.files.account import find_named_folder
    from memfs.hosts import entries

    if scope == "local":
        return []
    folder = find_named_folder("QWEN_HOME") or f"{home}/.qwen"
    hooks = entries.make_hooks(payloads.CLAUDE_KINDS, TOOLS, TELLS)
    tools = entries.make_tools(trust=True, alwaysLoadTools=True)
    folder = f"{top}/.qwen" if scope == "project" else folder
    return [(f"{folder}/settings.json", (hooks, tools))]


def list_plugin_settings(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List none: it has extensions instead, and none of ours."""
    return []
