"""Grok Build: hook events, replies, where its settings and transcripts are. Hot path.

Its hooks tell the model nothing at a start or at a prompt (its guide, 10-hooks.md): there it has
our tools, what their server says of them, and a section of `AGENTS.md`.
"""

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "grok"
TITLE = "Grok Build"
WINDOW = 256_000
READS = (("agents",), ("claude",))
ADDS = 140
IS_SILENT = True
COMMAND = "grok"
HOME = ".grok"
PLUGIN_VERB = ""
RESTARTS = False
IGNORES: tuple[str, ...] = ("a byte order mark", "a comment", "a trailing comma")
VARIABLES = ("GROK_SESSION_ID", "GROK_AGENT")
FOLDERS = ("GROK_HOME",)
IS_IMITATED = False
TELLS, ASKS = events.BEFORE, True
TESTED = ""

TOOLS = payloads.ToolNames(
    ("write", "search_replace"), ("read_file",), ("run_terminal_command", "run_terminal_cmd")
)
_SILENT = (events.START, events.PROMPT)  # what is said there is lost: it must not count as said


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or tells nothing."""
    found = payloads.event(NAME, payloads.CLAUDE_KINDS, TOOLS, payload)
    if found is None or found.kind in _SILENT:
        return None
    found.again = payload.get("stopHookActive") is True
    found.answer = payloads.get_text(payload, "lastAssistantMessage")
    return found


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.format_nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Grok has no settings that are not committed."""
    from memfs.files.account import find_named_folder
    from memfs.hosts import entries

    if scope == "local":
        return []
    folder = find_named_folder("GROK_HOME") or f"{home}/.grok"
    folder = f"{top}/.grok" if scope == "project" else folder
    kinds = {name: kind for name, kind in payloads.CLAUDE_KINDS.items() if kind not in _SILENT}
    hooks = entries.make_hooks(kinds, TOOLS, TELLS)
    return [
        (f"{folder}/hooks/memfs.json", (hooks,)),
        (f"{folder}/config.toml", ("grok/tools.toml",)),
    ]


def list_plugin_settings(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List none: its plugins are not ours."""
    return []
