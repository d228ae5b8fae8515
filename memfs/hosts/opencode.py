"""opencode: where its sessions are. Its events are to come through a plugin. Hot path."""

import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.core.records import Identity, Transcript

NAME = "opencode"
TITLE = "opencode"
COMMAND = "opencode"
HOME = ".config/opencode"
RESTARTS = False

_KINDS = {
    "SessionStart": events.START,
    "UserPromptSubmit": events.PROMPT,
    "Stop": events.STOP,
    "SessionEnd": events.END,
    "PreToolUse": events.WRITE,
    "PostToolUse": events.WRITTEN,
}
_WRITERS = ("write", "edit", "patch")


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn what a plugin sends into an event; None for one that is not for us."""
    return payloads.event(NAME, _KINDS, _WRITERS, payload)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[str, ...]]]":  # noqa: ARG001
    """List nothing: there are no settings that would wire us."""
    return []


def identify(lines: "Iterable[bytes]", path: str) -> "Identity | None":
    """Tell whose session an export is from its first lines; None: not opencode's."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.identify(lines, path)


def read_transcript(
    data: bytes,
    identity: "Identity",
    *,
    start: int,
    before: bytes = b"",  # noqa: ARG001 - it is read whole
) -> "Transcript":
    """Read the messages of an export."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.read(data, identity, start=start)


def sessions(path: str, head: bytes, project: str) -> "list[Identity]":
    """List the sessions in a database, those of a project or all."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.listed(path, head, project)


def read_session(path: str, identity: "Identity") -> "Transcript":
    """Read one session of a database."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.of_database(path, identity)


def transcripts(home: str, project: str) -> "Iterable[str]":
    """List the databases that have sessions of a project or the folders below it."""
    from memfs.hosts import opencode_sessions

    roots = dict.fromkeys([os.environ.get("XDG_DATA_HOME") or f"{home}/.local/share"])
    roots.setdefault(f"{home}/.local/share")
    return opencode_sessions.found([f"{root}/opencode/opencode.db" for root in roots], project)
