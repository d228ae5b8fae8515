"""Gemini CLI: hook events, replies, where its settings and transcripts are. Hot path."""

import json

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "gemini"
TITLE = "Gemini CLI"
WINDOW = 1_048_576
READS = (("gemini",),)
ADDS = 640
IS_SILENT = False
COMMAND = "gemini"
HOME = ".gemini"
PLUGIN_VERB = ""  # it has extensions instead
RESTARTS = False
IGNORES = ("a byte order mark", "a trailing comma")  # it does not even start
VARIABLES = ("GEMINI_CLI",)
FOLDERS = ("GEMINI_CLI_HOME",)
IS_IMITATED = True
TELLS, ASKS = events.AFTER, True
TESTED = ""

_KINDS = {
    "SessionStart": events.START,
    "BeforeAgent": events.PROMPT,
    "AfterAgent": events.STOP,
    "SessionEnd": events.END,
    "BeforeTool": events.BEFORE,
    "AfterTool": events.AFTER,
    "PreCompress": events.COMPACT,
}
_REPLACED = b'{"$set":{"messages":'  # a line of the transcript that replaces the context
TOOLS = payloads.ToolNames(
    ("write_file", "replace", "edit"), ("read_file", "read_many_files"), ("run_shell_command",)
)


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    found = payloads.event(NAME, _KINDS, TOOLS, payload)
    if found and "</hook_context>" in found.prompt:  # a session start's context is before it
        found.prompt = found.prompt.rpartition("</hook_context>")[2].strip()
    if found and found.kind == events.STOP and _is_compressed(found.transcript):
        found.kind = events.COMPACT
    return found


def _is_compressed(transcript: str) -> bool:
    """Return whether a compression removed the brief from the model's context.

    Only the transcript shows a compression: its hook runs in every turn, before it is known whether
    there is anything to compress. (So we use that hook only for one that a person asked for.)
    """
    from memfs.core.brief_layout import TITLE

    try:
        with open(transcript, "rb") as handle:
            data = handle.read()
    except (OSError, ValueError):
        return False
    return -1 < data.rfind(TITLE.encode()) < data.rfind(_REPLACED)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply; plain text would be shown to the person."""
    if reply.refusal and event.kind == events.BEFORE:
        decision = "ask" if reply.asks else "deny"
        return json.dumps({"decision": decision, "reason": reply.refusal}) + "\n"
    return payloads.format_nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Gemini has no settings that are not committed."""
    from memfs.files.account import find_named_folder

    if scope == "local":
        return []
    folder = f"{find_named_folder('GEMINI_CLI_HOME') or home}/.gemini"
    if scope == "project":
        folder = f"{top}/.gemini"
    return [(f"{folder}/settings.json", ("gemini/hooks.json", "gemini/tools.json"))]


def list_plugin_settings(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List the settings files that can enable our plugin; `top` is the project, or ""."""
    return []  # it has extensions instead, and none of ours
