"""The base of a host: what assistants send to a hook, and what they are answered. Hot path.

A new host is a module with a subclass of `Host` and one `HOST` of it, and a folder of fixtures. It
is found by its `COMMAND`. Where its sessions can be read, `NAME_transcript` beside it is a
`transcript_files.Reader`, which hooks need not load; `NAME_sessions` is a `Collection`, too.
"""

import json
import os

from memfs.core import events
from memfs.core.events import Event, Reply

Entries = str | dict[str, object]  # a shipped file below `hooks/`, or made here
Wiring = list[tuple[str, tuple[Entries, ...]]]
_SECONDS, _SLOW_SECONDS = 10, 30  # of a hook; the slow ones read the transcript
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
WITH_AGENTS = {**CLAUDE_KINDS, "SubagentStart": events.AGENT}
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


class Host:
    """One assistant; by default with hooks like those of Claude Code."""

    NAME = TITLE = ""
    WINDOW = 200_000  # tokens of the context of its usual model
    # Groups of instruction files, by their names in `marked_section.TARGETS`: of each it sends one
    # with our section.
    READS: tuple[tuple[str, ...], ...] = (("agents",),)
    ADDS = 0  # tokens of its own texts and tools in a request where our server is
    IS_SILENT = False  # it sends neither the brief nor the definitions of tools
    COMMAND = HOME = ""  # show that it is installed: on PATH, or a folder in the home folder
    PLUGIN_VERB = ""  # of its `plugin` command, to take one from a marketplace; "": it has none
    RESTARTS = False  # it tells of a session start after it compacted its context
    # It ignores a whole settings file for one of these, named as by `jsonc_edit.list_extras`.
    IGNORES: tuple[str, ...] = ()
    # What it sets for programs that it starts: the session's id (`…_SESSION_ID`), or only a mark.
    VARIABLES: tuple[str, ...] = ()
    FOLDERS: tuple[str, ...] = ()  # variables by which its user moves its folders
    IS_IMITATED = False  # other assistants run the hooks in its settings, too
    KINDS = CLAUDE_KINDS  # our words for its events
    TOOLS = ToolNames((), (), ())
    TELLS = events.AFTER  # the event of a tool at which context reaches the model
    ASKS = False  # a hook before a tool can have the person asked
    TESTED = ""  # how it was, where the host tests do not run it

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
        name = get_text(payload, "hook_event_name")
        kind = self.KINDS.get(name, events.OTHER)
        session = get_text(payload, "session_id")
        if kind == events.OTHER or not session:
            return None
        files: tuple[str, ...] = ()
        opened, command = files, ""
        if kind in TOOL_EVENTS:
            tool, given = get_text(payload, "tool_name"), payload.get("tool_input")
            if tool in self.TOOLS.shells:
                command = get_text(given, "command") if isinstance(given, dict) else ""
            elif tool in self.TOOLS.readers or tool in self.TOOLS.writers:
                opened = tuple(
                    [_name_file(path) for path in _list_files(given) if "\0" not in path]
                )
                files = opened if tool in self.TOOLS.writers else ()
            if not (opened or command):
                return None
        cwd, transcript = get_text(payload, "cwd"), get_text(payload, "transcript_path")
        source, prompt = get_text(payload, "source"), get_text(payload, "prompt")
        found = Event(self.NAME, kind, name, session, cwd, transcript, source, prompt, files)
        found.opened, found.command = opened, command
        found.agent = get_text(payload, "agent_id")
        found.call = get_text(payload, "tool_use_id") or found.agent
        found.again = payload.get("stop_hook_active") is True
        found.answer = get_text(payload, "last_assistant_message")
        return found

    def format_reply(self, event: Event, reply: Reply) -> str:
        """Return the text to print for a reply to the model and the person; "" for nothing.

        It is nested under the event's name. Codex refuses every key that it does not know.
        """
        made: dict[str, object] = {}
        if reply.refusal and event.kind == events.BEFORE:
            made["hookSpecificOutput"] = {
                "hookEventName": event.name,
                "permissionDecision": "ask" if reply.asks else "deny",
                "permissionDecisionReason": reply.refusal,
            }
        elif event.kind == events.STOP:
            made = {"systemMessage": reply.notice} if reply.notice else {}
            made |= {"decision": "block", "reason": reply.more} if reply.more else {}
        elif event.kind in WITH_CONTEXT:
            made = {"systemMessage": reply.notice} if reply.notice else {}
            if reply.context:
                told = {"hookEventName": event.name, "additionalContext": reply.context}
                made["hookSpecificOutput"] = told
        return dump_reply(made)

    def wiring(self, scope: str, home: str, top: str) -> Wiring:
        """List (settings file, what of ours goes into it).

        `scope` is user, project or local (in the project `top`, not committed): most hosts have no
        local settings. The first file is the one with our hooks.
        """
        if scope == "local":
            return []
        folder = f"{top}/{self.HOME}" if scope == "project" else self.find_folder(home)
        return [(f"{folder}/{name}", entries) for name, *entries in self.list_entries()]  # type: ignore[misc]

    def list_entries(self) -> list[tuple[Entries, ...]]:
        """List the settings files in its folder, each with what of ours goes into it."""
        return []

    def find_folder(self, home: str) -> str:
        """Return its folder of a user: that of its variable, or the usual one."""
        from memfs.files.account import find_named_folder

        named = find_named_folder(self.FOLDERS[0]) if self.FOLDERS else ""
        return named or f"{home}/{self.HOME}"

    def list_plugin_settings(self, home: str, top: str) -> list[str]:  # noqa: ARG002 - of most
        """List the settings files that can enable our plugin; `top` is the project, or ""."""
        return []

    def make_hooks(self, *skipped: str) -> dict[str, object]:
        """Return our hooks for settings in groups, as Claude Code has them, without some kinds.

        `ops.install` fills `{hook}`. Timeouts are in seconds.
        """
        groups: dict[str, object] = {}
        for name, kind in self.KINDS.items():
            slow = kind in (events.STOP, events.COMPACT)
            timeout = _SLOW_SECONDS if slow else _SECONDS
            hook = {"type": "command", "command": "{hook}", "timeout": timeout}
            wired = self.TOOLS.list_wired(kind, self.TELLS) if kind in TOOL_EVENTS else ()
            if kind not in skipped:
                match = {"matcher": "|".join(wired)} if wired else {}
                groups[name] = [{**match, "hooks": [hook]}]
        return {"hooks": groups}


def make_server(**more: object) -> dict[str, object]:
    """Return the entry of our MCP server, with what a host wants beside the command."""
    server = {"command": "{python}", "args": ["-P", "-c", "import memfs.__main__", "mcp"], **more}
    return {"mcpServers": {"memfs": server}}


def dump_reply(made: dict[str, object]) -> str:
    """Return a reply as a line of JSON, "" for an empty one."""
    return json.dumps(made) + "\n" if made else ""


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


def _name_file(path: str) -> str:
    """Return a path as that of a file: hosts write lone surrogates as another character."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return path


def _list_files(tool_input: object) -> tuple[str, ...]:
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
                for path in ((each,) if isinstance(each, str) else _list_files(each))
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
