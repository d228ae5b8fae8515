"""VS Code's agent: hook events and replies; hooks and transcripts are those of others. Hot path.

It runs the hooks of Claude Code's and Copilot's settings with payloads of its own. Its sessions are
recorded as Copilot's, whose transcripts have the same form. Written from its documentation
(code.visualstudio.com/docs/agents/reference/hooks-reference), and from its source where that says
more: it was not run. The documentation has `sessionId` and `hookEventName`, the source
`session_id` and `hook_event_name`; that a prompt may be told something is in the source alone.
"""

import json

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import copilot
from memfs.hosts import payload as payloads

NAME = "vscode"
IS_IMITATED = False
TELLS, ASKS = events.BEFORE, True

_KINDS = {**payloads.CLAUDE_KINDS, "SubagentStart": events.AGENT}
TOOLS = payloads.ToolNames(
    (
        *("create_file", "replace_string_in_file", "multi_replace_string_in_file"),
        *("insert_edit_into_file", "edit_notebook_file", "apply_patch", "createFile", "editFiles"),
    ),
    ("read_file", "readFile"),
    ("run_in_terminal", "runTerminalCommand", "runCommands"),
)


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    common = {
        **payload,
        "hook_event_name": payload.get("hookEventName") or payload.get("hook_event_name"),
        "session_id": payload.get("sessionId") or payload.get("session_id"),
    }
    return payloads.event(copilot.NAME, _KINDS, TOOLS, common)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply, nested under the event's name, also at the end of a turn."""
    if event.kind != events.STOP:
        return payloads.format_nested(event, reply)
    made: dict[str, object] = {"systemMessage": reply.notice} if reply.notice else {}
    if reply.more:
        more = {"hookEventName": event.name, "decision": "block", "reason": reply.more}
        made["hookSpecificOutput"] = more
    return json.dumps(made) + "\n" if made else ""
