"""Claude Code: hook events, replies, where its settings and transcripts are. Hot path."""

import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.core.records import Identity, Transcript

NAME = "claude"
TITLE = "Claude Code"
COMMAND = "claude"
HOME = ".claude"
PLUGIN_VERB = "install"
RESTARTS = True  # a session start comes after each compaction
CALLS_TOOLS = "2.1.328"  # the oldest that was tried

_KINDS = {
    "SessionStart": events.START,
    "SubagentStart": events.AGENT,
    "UserPromptSubmit": events.PROMPT,
    "Stop": events.STOP,
    "PreCompact": events.COMPACT,
    "SessionEnd": events.END,
    "PreToolUse": events.WRITE,
    "PostToolUse": events.WRITTEN,
}
_WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")  # the tools that write files


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    return payloads.event(NAME, _KINDS, _WRITERS, payload)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.nested(event, reply)


def plugged(home: str, top: str) -> "list[str]":
    """List the settings files that can enable our plugin; `top` is the project, or ""."""
    from memfs.files.account import named_folder

    folder = named_folder("CLAUDE_CONFIG_DIR") or f"{home}/.claude"
    found = [f"{folder}/settings.json"]
    names = ("settings.json", "settings.local.json") if top else ()
    return found + [f"{top}/.claude/{name}" for name in names]


def identify(lines: "Iterable[bytes]", path: str) -> "Identity | None":
    """Tell whose session a transcript is from its first lines; None: not Claude Code's."""
    from memfs.hosts import claude_transcript

    return claude_transcript.identify(lines, path)


def read_transcript(
    data: bytes,
    identity: "Identity",
    *,
    start: int,
    before: bytes = b"",
) -> "Transcript":
    """Read the messages of `data`, which begins at byte `start` of the file, behind `before`."""
    from memfs.hosts import claude_transcript

    return claude_transcript.read(data, identity, start=start, before=before)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[str, ...]]]":
    """List the files that wire us in a scope, the one with our hooks first, and what goes in."""
    from memfs.files.account import named_folder

    folder = named_folder("CLAUDE_CONFIG_DIR")
    account = f"{folder or home}/.claude.json"
    inside = ("claude/hooks.json", "claude/prompt.json", "claude/allow.json", "claude/line.json")
    if scope == "user":
        path = f"{folder or f'{home}/.claude'}/settings.json"
        return [
            (path, inside),
            (account, ("claude/tools.json",)),
        ]
    if scope == "local":
        path = f"{top}/.claude/settings.local.json"
        return [
            (path, inside),
            (account, ("claude/tools_here.json",)),
        ]
    path = f"{top}/.claude/settings.json"
    # It is for all who work on the project, with whatever version: prompts run commands.
    shared = ("claude/hooks.json", "claude/allow.json", "claude/line.json", "claude/approve.json")
    return [(path, shared), (f"{top}/.mcp.json", ("claude/tools.json",))]


def folders(home: str, project: str) -> list[str]:
    """List where Claude Code keeps what is of one project, the first of them where it does now.

    Its transcripts come to be there, and its own memory.
    """
    from memfs.files.account import named_folder
    from memfs.hosts import kept

    told = named_folder("CLAUDE_CONFIG_DIR")
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in project)
    roots = kept.roots(told, f"{home}/.claude", f"{home}/.config/claude")
    return [f"{root}/projects/{slug}" for root in roots]


def transcripts(home: str, project: str) -> "Iterable[str]":
    """List the transcripts kept for a project ("": all) and the folders below it, oldest first.

    Claude Code names their folders with `-` for all but letters and digits: `shop-old` and
    `shop/old` look the same, and only the transcript tells which it is.
    """
    from memfs.files.account import named_folder
    from memfs.hosts import kept

    told, slug = named_folder("CLAUDE_CONFIG_DIR"), os.path.basename(folders(home, project)[0])
    found: list[str] = []
    for root in kept.roots(told, f"{home}/.claude", f"{home}/.config/claude"):
        for folder in kept.folders(f"{root}/projects"):
            name = os.path.basename(folder)
            if not project or name == slug or name.startswith(slug + "-"):
                found.extend(kept.files(folder, "", ".jsonl"))
    return kept.oldest_first(path for path in found if kept.mentions(path, project))
