"""Aider's chat history: one Markdown file for a project, to which every session is added.

Lines of a person begin with `####`, those of the program with `>`; the rest is what the assistant
said. That is how Aider itself reads them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from memfs.core.records import Identity, Transcript
from memfs.hosts import markdown
from memfs.hosts.markdown import MarkdownTurn

NAME = "aider"
_FILE = ".aider.chat.history.md"
_STARTED = "# aider chat started at "
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
_ASKED = "#### "
_OWN_COMMANDS = (
    "/add", "/drop", "/exit", "/quit", "/clear", "/reset", "/model", "/tokens", "/undo", "/ls",
    "/help", "/settings", "/diff", "/commit", "/map", "/read-only",
)  # fmt: skip


def sessions(
    path: str,
    head: bytes,
    project: str,  # noqa: ARG001 - it is of one
    session: str = "",  # noqa: ARG001 - no hook names one
) -> list[Identity]:
    """List the sessions in a history; none are in another file."""
    if not head.lstrip().startswith(_STARTED.encode()) and os.path.basename(path) != _FILE:
        return []
    folder = os.path.dirname(os.path.abspath(path))
    return [
        Identity(name, "", folder, "", whole=True, mark=markdown.compile_marks(lines))
        for name, lines in _split_sessions(path)
    ]


def read_session(path: str, identity: Identity) -> Transcript:
    """Read one session of a history."""
    lines = dict(_split_sessions(path)).get(identity.session, [])
    at = _parse_start(lines[0]) if lines else ""
    turns = markdown.turns(_mark_speakers(lines), lambda line: _parse_turn(line, at))
    return markdown.build_transcript(map(_drop_command, turns), NAME, identity)


def _split_sessions(path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (name, lines) of the sessions with a prompt, named by their start time."""
    found: dict[str, list[str]] = {}
    name = "0"  # of the lines before the first start
    for line in markdown.lines_of(path):
        if line.startswith(_STARTED):
            name = line.removeprefix(_STARTED).strip().replace(" ", "T").replace(":", "")
        found.setdefault(name, []).append(line)
    for name, lines in found.items():
        if any(line.startswith(_ASKED) for line in lines):
            yield name, lines


def _parse_start(line: str) -> str:
    """Return the UTC time of a session's first line, which has local time; "" for none."""
    text = line.removeprefix(_STARTED).strip()
    if not _TIME.fullmatch(text):
        return ""
    try:
        at = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return at.isoformat().replace("+00:00", "Z")


def _mark_speakers(lines: list[str]) -> Iterator[str]:
    """Yield lines, with a line that names the speaker before each run of one kind."""
    speaker = ""
    for line in lines:
        if line.startswith(_STARTED):
            continue
        now = "\0user" if line.startswith("####") else "\0" if line.startswith(">") else ""
        if not now and line.strip():
            now = "\0assistant"
        if now and now != speaker:
            speaker = now
            yield now
        yield line.removeprefix("####").removeprefix(" ") if speaker == "\0user" else line


def _parse_turn(line: str, at: str) -> MarkdownTurn | None:
    return MarkdownTurn(line[1:], at) if line.startswith("\0") else None


def _drop_command(turn: MarkdownTurn) -> MarkdownTurn:
    """Clear the role of a prompt that is a command of Aider, like `/add FILE`."""
    own = turn.text.partition(" ")[0] in _OWN_COMMANDS and "\n" not in turn.text
    return turn._replace(role="") if own and turn.role == "user" else turn
