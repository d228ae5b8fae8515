"""Shared parsing and formatting of hosts' payloads and replies. Hot path."""

import json
import os

from memfs.core import events
from memfs.core.events import Event, Reply

_PATHS = ("file_path", "path", "notebook_path", "filePath", "absolute_path", "target_file")
_SEVERAL = ("files", "replacements", "paths", "include")  # lists of paths, or of what has one
_GROK = {"workspaceRoot", "hookEventName", "hook_event_name"}  # each key in two spellings
_VSCODE = "/GitHub.copilot-chat/"  # in the path of each transcript of VS Code
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
# The events of Claude Code, and of those that have hooks like it.
CLAUDE_KINDS = {
    "SessionStart": events.START,
    "UserPromptSubmit": events.PROMPT,
    "Stop": events.STOP,
    "PreCompact": events.COMPACT,
    "SessionEnd": events.END,
    "PreToolUse": events.BEFORE,
    "PostToolUse": events.AFTER,
}
TOOL_EVENTS = (events.BEFORE, events.AFTER)
# Events whose reply may have context for the model; `BEFORE` alone where the host `TELLS` there.
WITH_CONTEXT = (events.START, events.AGENT, events.PROMPT, *TOOL_EVENTS)


class ToolNames:
    """The names of a host's own tools: those that write files, read them, and run commands."""

    __slots__ = ("readers", "shells", "writers")

    def __init__(
        self, writers: tuple[str, ...], readers: tuple[str, ...], shells: tuple[str, ...]
    ) -> None:
        self.writers, self.readers, self.shells = writers, readers, shells

    def list_wired(self, kind: str, tells: str) -> tuple[str, ...]:
        """List the tools for which a hook of a kind runs, where a host tells at an event."""
        if kind == tells:
            return (*self.writers, *self.readers, *self.shells)
        return (*self.writers, *self.shells) if kind == events.BEFORE else self.writers


def get_text(payload: dict[str, object], key: str) -> str:
    """Return the text of a key, "" for another value or none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def detect_host(payload: dict[str, object]) -> str:
    """Return the host of a payload, by keys that only it sends; "" for an unknown one.

    Hosts run the settings of others: Copilot those of Claude Code, for one.
    """
    if "cursor_version" in payload or "conversation_id" in payload:
        return "cursor"
    if get_text(payload, "host") == "opencode":  # our plugin says so
        return "opencode"
    if payload.keys() >= _GROK:
        return "grok"
    path = get_text(payload, "transcript_path")
    if "hookEventName" in payload or _VSCODE in path.replace("\\", "/"):
        return "vscode"
    transcript = os.path.basename(path)
    models = "model" in payload and "permission_mode" in payload
    if models or "turn_id" in payload or transcript.startswith("rollout-"):
        return "codex"
    if "timestamp" in payload:
        return "gemini" if transcript.startswith("session-") else "copilot"
    return "claude" if get_text(payload, "session_id") else ""


def event(
    host: str, kinds: dict[str, str], tools: ToolNames, payload: dict[str, object]
) -> Event | None:
    """Turn a payload of the common shape into an event; None for one that is not for us.

    `kinds` are our words for the host's events, `tools` the names of its tools.
    """
    name = get_text(payload, "hook_event_name")
    kind = kinds.get(name, events.OTHER)
    session = get_text(payload, "session_id")
    if kind == events.OTHER or not session:
        return None
    files: tuple[str, ...] = ()
    opened, command = files, ""
    if kind in TOOL_EVENTS:
        tool, given = get_text(payload, "tool_name"), payload.get("tool_input")
        if tool in tools.shells:
            command = get_text(given, "command") if isinstance(given, dict) else ""
        elif tool in tools.readers or tool in tools.writers:
            opened = tuple([_name_file(path) for path in list_files(given) if "\0" not in path])
            files = opened if tool in tools.writers else ()
        if not (opened or command):
            return None
    found = Event(
        host,
        kind,
        name,
        session,
        get_text(payload, "cwd"),
        get_text(payload, "transcript_path"),
        get_text(payload, "source"),
        get_text(payload, "prompt"),
        files,
    )
    found.opened, found.command = opened, command
    found.agent = get_text(payload, "agent_id")
    found.call = get_text(payload, "tool_use_id") or found.agent
    found.again = payload.get("stop_hook_active") is True
    found.answer = get_text(payload, "last_assistant_message")
    return found


def _name_file(path: str) -> str:
    """Return a path as that of a file: hosts write lone surrogates as another character."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return path


def format_nested(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply for Claude Code and Codex, nested under the event's name.

    Codex refuses every key that it does not know.
    """
    made: dict[str, object] = {}
    if reply.refusal and event.kind == events.BEFORE:
        made["hookSpecificOutput"] = {
            "hookEventName": event.name,
            "permissionDecision": "ask" if reply.asks else "deny",
            "permissionDecisionReason": reply.refusal,
        }
        return json.dumps(made) + "\n"
    if event.kind == events.STOP:
        return format_stop(reply)
    if reply.notice:
        made["systemMessage"] = reply.notice
    if reply.context:
        made["hookSpecificOutput"] = {
            "hookEventName": event.name,
            "additionalContext": reply.context,
        }
    return json.dumps(made) + "\n" if made and event.kind in WITH_CONTEXT else ""


def format_stop(reply: Reply) -> str:
    """Return the JSON of a stop reply, which continues the turn or notifies the person."""
    made: dict[str, object] = {"systemMessage": reply.notice} if reply.notice else {}
    if reply.more:
        made |= {"decision": "block", "reason": reply.more}
    return json.dumps(made) + "\n" if made else ""


def list_files(tool_input: object) -> tuple[str, ...]:
    """Return the files that a tool reads or writes, by its input."""
    if not isinstance(tool_input, dict):
        return ()
    for key in _PATHS:
        if get_text(tool_input, key):
            return (get_text(tool_input, key),)
    for key in _SEVERAL:
        if isinstance(several := tool_input.get(key), list):
            return tuple(
                path
                for each in several
                for path in ((each,) if isinstance(each, str) else list_files(each))
            )
    patches = [get_text(tool_input, key) for key in ("command", "input", "patch", "patchText")]
    return tuple(
        line[len(mark) :].strip()
        for patch in patches
        if "*** Begin Patch" in patch
        for line in patch.splitlines()
        for mark in _PATCHED
        if line.startswith(mark)
    )
