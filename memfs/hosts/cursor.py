"""Cursor: hook events, replies, where its settings and transcripts are. Hot path.

Written from its documentation (cursor.com/docs/hooks, September 2026) and what others found in
3.20: it was not run. That a prompt may be told something is not documented (`additional_context`).
"""

import json
import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.files.account import find_named_folder
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "cursor"
TITLE = "Cursor"
WINDOW = 200_000
READS = (("agents",), ("cursor",))
ADDS = 0
IS_SILENT = False
COMMAND = "cursor"
HOME = ".cursor"
PLUGIN_VERB = ""  # its command takes no plugins
RESTARTS = False
IGNORES: tuple[str, ...] = ()
VARIABLES = ("CURSOR_AGENT",)
FOLDERS: tuple[str, ...] = ()
IS_IMITATED = True
TELLS, ASKS = events.AFTER, False
TESTED = "not run: from its documentation, cursor.com/docs/hooks"

_KINDS = {
    "sessionStart": events.START,
    "beforeSubmitPrompt": events.PROMPT,
    "stop": events.STOP,
    "preCompact": events.COMPACT,
    "sessionEnd": events.END,
    "preToolUse": events.BEFORE,
    "postToolUse": events.AFTER,
}
_WRITERS, _READERS, _SHELLS = ("Write", "StrReplace", "Edit"), ("Read",), ("Shell",)
TOOLS = payloads.ToolNames(_WRITERS, _READERS, _SHELLS)
# After one that deletes there is nothing to look at.
_BEFORE = payloads.ToolNames((*_WRITERS, "Delete"), _READERS, _SHELLS)


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    name = payloads.get_text(payload, "hook_event_name")
    roots = payload.get("workspace_roots")
    folder = roots[0] if isinstance(roots, list) and roots else ""
    common = {
        **payload,
        "session_id": payload.get("session_id") or payload.get("conversation_id"),
        "cwd": folder or os.environ.get("CURSOR_PROJECT_DIR") or payload.get("cwd"),
        "source": "startup" if name == "sessionStart" else "",  # that is of new conversations alone
    }
    tools = _BEFORE if name == "preToolUse" else TOOLS
    found = payloads.event(NAME, _KINDS, tools, common)
    if found and found.kind in (events.STOP, events.COMPACT, events.END) and not found.transcript:
        found.transcript = find_named_folder("CURSOR_TRANSCRIPT_PATH") or _find_transcript(found)
    return found


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply, whose keys stand at the top."""
    made: dict[str, object] = {}
    if reply.refusal and event.kind == events.BEFORE:
        made = {"permission": "deny", "user_message": reply.refusal, "agent_message": reply.refusal}
    elif event.kind == events.STOP:
        made = {"followup_message": reply.more} if reply.more else {}
    elif event.kind in payloads.WITH_CONTEXT:
        made = {"additional_context": reply.context} if reply.context else {}
        if event.kind == events.PROMPT and made:
            made = {"continue": True, **made}
        elif reply.notice:
            made |= {"user_message": reply.notice}
    return json.dumps(made) + "\n" if made else ""


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Cursor has no settings that are not committed."""
    if scope == "local":
        return []
    folder = f"{top if scope == 'project' else home}/.cursor"
    hooks, tools = f"{folder}/hooks.json", f"{folder}/mcp.json"
    return [(hooks, ("cursor/hooks.json",)), (tools, ("cursor/tools.json",))]


def list_plugin_settings(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List the settings files that can enable our plugin: none that is known."""
    return []


def _find_transcript(event: Event) -> str:
    """Return the path of a session's transcript, which the command line tool does not send."""
    from memfs.hosts import cursor_transcript

    folder = cursor_transcript.folder_of(os.path.expanduser("~"), event.cwd)
    name = os.path.basename(event.session)
    paths = (f"{folder}/{name}/{name}.jsonl", f"{folder}/{name}.jsonl")
    return next((path for path in paths if os.path.exists(path)), "")
