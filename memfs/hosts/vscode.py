"""VS Code's agent: hook events and replies; hooks and transcripts are those of others. Hot path.

It runs the hooks of Claude Code's and Copilot's settings with payloads of its own. Its sessions are
recorded as Copilot's, whose transcripts have the same form. Written from its documentation
(code.visualstudio.com/docs/agents/reference/hooks-reference), and from its source where that says
more: it was not run. The documentation has `sessionId` and `hookEventName`, the source
`session_id` and `hook_event_name`; that a prompt may be told something is in the source alone.
"""

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts.base import WITH_AGENTS, Host, ToolNames, dump_reply


class _VSCode(Host):
    NAME = "vscode"
    KINDS = WITH_AGENTS
    TOOLS = ToolNames(
        (
            *("create_file", "replace_string_in_file", "multi_replace_string_in_file"),
            *("insert_edit_into_file", "edit_notebook_file", "apply_patch"),
            *("createFile", "editFiles"),
        ),
        ("read_file", "readFile"),
        ("run_in_terminal", "runTerminalCommand", "runCommands"),
    )
    TELLS = events.BEFORE
    ASKS = True

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        name = payload.get("hookEventName") or payload.get("hook_event_name")
        session = payload.get("sessionId") or payload.get("session_id")
        found = super().parse_event({**payload, "hook_event_name": name, "session_id": session})
        if found:
            found.host = "copilot"
        return found

    def format_reply(self, event: Event, reply: Reply) -> str:
        """Return the JSON of a reply, nested under the event's name, also at the end of a turn."""
        if event.kind != events.STOP or not reply.more:
            return super().format_reply(event, reply)
        more = {"hookEventName": event.name, "decision": "block", "reason": reply.more}
        made: dict[str, object] = {"systemMessage": reply.notice} if reply.notice else {}
        return dump_reply({**made, "hookSpecificOutput": more})


HOST = _VSCode()
