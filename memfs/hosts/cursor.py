"""Cursor. Hot path.

Written from its documentation (cursor.com/docs/hooks, September 2026) and what others found in
3.20: it was not run. That a prompt may be told something is not documented (`additional_context`).
"""

import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts.base import WITH_CONTEXT, Entries, Host, ToolNames, dump_reply, get_text

_KINDS = {
    "sessionStart": events.START,
    "beforeSubmitPrompt": events.PROMPT,
    "stop": events.STOP,
    "preCompact": events.COMPACT,
    "sessionEnd": events.END,
    "preToolUse": events.BEFORE,
    "postToolUse": events.AFTER,
}


class _Cursor(Host):
    NAME = "cursor"
    TITLE = "Cursor"
    READS = (("agents",), ("cursor",))
    COMMAND = "cursor"
    HOME = ".cursor"
    VARIABLES = ("CURSOR_AGENT",)
    IS_IMITATED = True
    KINDS = _KINDS
    TOOLS = ToolNames(("Write", "StrReplace", "Edit", "Delete"), ("Read",), ("Shell",))
    TESTED = "not tested, based on cursor.com/docs/hooks"

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        name = get_text(payload, "hook_event_name")
        if (name, payload.get("tool_name")) == ("postToolUse", "Delete"):
            return None  # there is nothing to look at
        roots = payload.get("workspace_roots")
        folder = roots[0] if isinstance(roots, list) and roots else ""
        common = {
            **payload,
            "session_id": payload.get("session_id") or payload.get("conversation_id"),
            "cwd": folder or os.environ.get("CURSOR_PROJECT_DIR") or payload.get("cwd"),
            "source": "startup" if name == "sessionStart" else "",  # of new conversations alone
        }
        found = super().parse_event(common)
        ends = (events.STOP, events.COMPACT, events.END)
        if found and found.kind in ends and not found.transcript:
            found.transcript = _find_transcript(found)
        return found

    def format_reply(self, event: Event, reply: Reply) -> str:
        """Return the JSON of a reply, whose keys stand at the top."""
        made: dict[str, object] = {}
        if reply.refusal and event.kind == events.BEFORE:
            told = ("user_message", "agent_message")
            made = {"permission": "deny", **dict.fromkeys(told, reply.refusal)}
        elif event.kind == events.STOP:
            made = {"followup_message": reply.more} if reply.more else {}
        elif event.kind in WITH_CONTEXT:
            made = {"additional_context": reply.context} if reply.context else {}
            if event.kind == events.PROMPT and made:
                made = {"continue": True, **made}
            elif reply.notice:
                made |= {"user_message": reply.notice}
        return dump_reply(made)

    def list_entries(self) -> list[tuple[Entries, ...]]:
        return [("hooks.json", "cursor/hooks.json"), ("mcp.json", "cursor/tools.json")]


def _find_transcript(event: Event) -> str:
    """Return the path of a session's transcript, which the command line tool does not send."""
    from memfs.files.account import find_named_folder
    from memfs.hosts import cursor_transcript

    folder = cursor_transcript.folder_of(os.path.expanduser("~"), event.cwd)
    name = os.path.basename(event.session)
    paths = (f"{folder}/{name}/{name}.jsonl", f"{folder}/{name}.jsonl")
    named = find_named_folder("CURSOR_TRANSCRIPT_PATH")
    return named or next((path for path in paths if os.path.exists(path)), "")


HOST = _Cursor()
