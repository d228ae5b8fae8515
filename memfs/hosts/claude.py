"""Claude Code: hook events, replies, where its settings and transcripts are. Hot path."""

import os

from memfs.core import events, fastjson
from memfs.core.events import Event, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.core.records import Identity, Transcript

NAME = "claude"
TITLE = "Claude Code"
COMMAND = "claude"
HOME = ".claude"

_KINDS = {
    "SessionStart": events.START,
    "UserPromptSubmit": events.PROMPT,
    "Stop": events.STOP,
    "PreCompact": events.COMPACT,
    "SessionEnd": events.END,
    "PreToolUse": events.WRITE,
    "PostToolUse": events.WRITTEN,
}
_WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")  # the tools that write files
_HEAD = 256 << 10  # bytes that are looked at to tell where a session ran
_WITH_CONTEXT = (events.START, events.PROMPT, events.WRITTEN)


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    name = _text(payload, "hook_event_name")
    kind = _KINDS.get(name, events.OTHER)
    session = _text(payload, "session_id")
    file = _file(payload) if kind in (events.WRITE, events.WRITTEN) else ""
    if kind == events.OTHER or not session or (not file and "ToolUse" in name):
        return None
    return Event(
        NAME, kind, name, session, _text(payload, "cwd"), _text(payload, "transcript_path"),
        _text(payload, "source"), _text(payload, "prompt"), file,
    )  # fmt: skip


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply; `hookEventName` must be the event's own."""
    made: dict[str, object] = {}
    if reply.refusal and event.kind == events.WRITE:
        made["hookSpecificOutput"] = {
            "hookEventName": event.name, "permissionDecision": "deny",
            "permissionDecisionReason": reply.refusal,
        }  # fmt: skip
        return fastjson.dumps(made) + "\n"
    if reply.notice:
        made["systemMessage"] = reply.notice
    if reply.context:
        made["hookSpecificOutput"] = {
            "hookEventName": event.name, "additionalContext": reply.context,
        }  # fmt: skip
    return fastjson.dumps(made) + "\n" if made and event.kind in _WITH_CONTEXT else ""


def identify(lines: "Iterable[bytes]", path: str) -> "Identity | None":
    """Tell whose session a transcript is from its first lines; None: not Claude Code's."""
    from memfs.hosts import claude_transcript

    return claude_transcript.identify(lines, path)


def read_transcript(data: bytes, identity: "Identity", *, start: int) -> "Transcript":
    """Read the messages of `data`, which begins at byte `start` of the file."""
    from memfs.hosts import claude_transcript

    return claude_transcript.read(data, identity, start=start)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[str, ...]]]":
    """List the files that wire us in a scope, the one with our hooks first, and what goes in."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    account = f"{folder or home}/.claude.json"
    if scope == "user":
        path = f"{folder or f'{home}/.claude'}/settings.json"
        return [(path, ("hooks.json", "allow.json")), (account, ("tools.json",))]
    if scope == "local":
        path = f"{top}/.claude/settings.local.json"
        return [(path, ("hooks.json", "allow.json")), (account, ("tools_here.json",))]
    path = f"{top}/.claude/settings.json"
    inside = ("hooks.json", "allow.json", "approve.json")
    return [(path, inside), (f"{top}/.mcp.json", ("tools.json",))]


def transcripts(home: str, project: str) -> "Iterable[str]":
    """List the transcripts kept for a project and the folders below it, oldest first.

    Claude Code names their folders with `-` for all but letters and digits: `shop-old` and
    `shop/old` look the same, and only the transcript tells which it is.
    """
    root = os.environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude"
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in project)
    found: list[tuple[float, str]] = []
    try:
        folders = [entry for entry in os.scandir(f"{root}/projects") if entry.is_dir()]
    except OSError:
        return []
    for folder in folders:
        if folder.name == slug or folder.name.startswith(slug + "-"):
            for path, _, names in os.walk(folder.path):
                for name in names:
                    file = f"{path}/{name}"
                    if name.endswith(".jsonl") and os.path.isfile(file) and _inside(file, project):
                        found.append((os.path.getmtime(file), file))
    return [path for _, path in sorted(found)]


def _inside(path: str, project: str) -> bool:
    """Tell whether a transcript is of a project or a folder below it; what does not say so is."""
    try:
        with open(path, "rb") as handle:
            head = handle.read(_HEAD)
    except OSError:
        return True  # it is listed, so that reading it says what is wrong
    if b'"cwd":"' not in head:
        return True
    inside = project.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "surrogateescape")
    return any(b'"cwd":"' + inside + end in head for end in (b'"', b"/", b"\\"))


def _file(payload: dict[str, object]) -> str:
    """Return the file that a tool writes, "" for a tool that writes none."""
    given = payload.get("tool_input")
    if _text(payload, "tool_name") not in _WRITERS or not isinstance(given, dict):
        return ""
    return _text(given, "file_path") or _text(given, "notebook_path")


def _text(payload: dict[str, object], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""
