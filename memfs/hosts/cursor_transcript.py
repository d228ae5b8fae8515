"""Cursor's transcripts: one JSON object a line, `{role, message: {content: […]}}`.

Their form is not documented; this is what others found. Nothing has an id, and only a prompt has a
time: `<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>` before its `<user_query>`. The
replies have that of their prompt. What tools put out is not in them. The folder that a session was
held in is told by the name of a folder alone, with `-` for all but letters and digits.
"""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts import transcript_files as keeping
from memfs.hosts.jsonl import Parse, Reader, call, flatten_content, text_of

HOST = "cursor"
_QUERY = re.compile(r"<user_query>(.*)</user_query>", re.DOTALL)
_STAMP = re.compile(
    r"<timestamp>\w+, (\w{3} \d{1,2}, \d{4}, \d{1,2}:\d\d [AP]M) "
    r"\(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\)</timestamp>",
    re.ASCII,
)
_ADDED = re.compile(
    r"\s*<(\w+)\b[^<>]*>.*</\1>\s*", re.DOTALL
)  # by Cursor, as a message of its own
_REDACTED = "[REDACTED]"  # in the place of reasoning
_AGENTS = "subagents"
_PROJECTS = "/.cursor/projects/"
_TRANSCRIPTS = "agent-transcripts"


class _Line(msgspec.Struct, gc=False):
    type: object = None
    role: object = None
    message: object = None


class _CursorReader(Reader[_Line]):
    """A message's id is the byte offset of its line, and its place in it."""

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        if not any(_is_message(line) for line in self.first(lines)):
            return None
        folder, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        _, inside, behind = path.rpartition(_PROJECTS)
        slug, within, _ = behind.partition(f"/{_TRANSCRIPTS}/")
        project = _find_project(slug) if inside and within else ""
        if os.path.basename(folder) == _AGENTS:
            return Identity(os.path.basename(os.path.dirname(folder)), stem, project)
        return Identity(stem, "", project)

    def begin(self, identity: Identity, before: bytes) -> Parse[_Line]:  # noqa: ARG002 - as all
        """Note the time of the last prompt in `before`."""
        reading = _Reading()
        for line in self.first(before.split(b"\n")) if before else ():
            reading.update_time(line)
        return reading.messages

    def list_transcripts(self, home: str, project: str) -> list[str]:
        return keeping.sort_by_age(
            path
            for folder in keeping.list_folders(f"{home}{_PROJECTS}")
            if _is_of(os.path.basename(folder), project)
            for path in keeping.list_files(f"{folder}/{_TRANSCRIPTS}", "", ".jsonl")
        )

    def list_folders(self, home: str, project: str) -> list[str]:
        return [folder_of(home, project)]


def _is_message(line: _Line) -> bool:
    message = line.message
    return (
        line.type is None
        and line.role in ("user", "assistant")
        and isinstance(message, dict)
        and isinstance(message.get("content"), list | str)
    )


class _Reading:
    """One reading: the time of the last prompt."""

    def __init__(self) -> None:
        self._at = ""

    def update_time(self, line: _Line) -> None:
        if line.role == "user" and isinstance(line.message, dict):
            self._at = _parse_time(flatten_content(line.message.get("content"))) or self._at

    def messages(self, line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
        """Yield the messages of a line."""
        message = line.message
        if not _is_message(line) or not isinstance(message, dict):
            return
        self.update_time(line)
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for place, block in enumerate(blocks):
            role, text, tool = (
                _parse_block(block, str(line.role)) if isinstance(block, dict) else ("",) * 3
            )
            if text:
                ident = f"@{offset}.{place}"
                yield identity.make_message(HOST, ident, self._at, role, text, tool)


def _parse_block(block: dict[str, object], role: str) -> tuple[str, str, str]:
    """Return (role, text, tool) of a content block; the text is "" if it is left out."""
    if block.get("type") == "tool_use":
        return "tool", call(block.get("input")), text_of(block.get("name")) or "tool"
    text = text_of(block.get("text")) if block.get("type") == "text" else ""
    if role == "user":
        found = _QUERY.search(text)
        text = found[1] if found else "" if _ADDED.fullmatch(text) else text
    return role, text.strip().removesuffix(_REDACTED).strip(), ""


def _parse_time(text: str) -> str:
    """Return the time of a prompt in UTC; "" if it has none."""
    found = _STAMP.match(text)
    if not found:
        return ""
    hours, minutes = int(found[3] or 0), int(found[4] or 0)
    try:
        zone = timezone((-1 if found[2] == "-" else 1) * timedelta(hours=hours, minutes=minutes))
        time = datetime.strptime(found[1], "%b %d, %Y, %I:%M %p").replace(tzinfo=zone)
        return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return ""


def folder_of(home: str, project: str) -> str:
    """Return the folder of the transcripts of one project."""
    return f"{home}{_PROJECTS}{_make_slug(project.lstrip('/'))}/{_TRANSCRIPTS}"


def _is_of(slug: str, project: str) -> bool:
    """Return whether a slug is that of a project, or of a folder below it."""
    own = _make_slug(project.lstrip("/"))
    if not project or slug == own:
        return True
    return slug.startswith(f"{own}-") and keeping.is_inside(_find_project(slug) or "/", project)


def _make_slug(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)


def _find_project(slug: str) -> str:
    """Return the only existing folder that a slug can stand for, else ""."""
    found = keeping.list_roots(*_match_folders(slug, ""))
    return found[0] if len(found) == 1 else ""


def _match_folders(slug: str, above: str) -> list[str]:
    found = []
    for path in keeping.list_folders(above or "/"):
        name = _make_slug(os.path.basename(path))
        if name == slug:
            found.append(path)
        elif name and slug.startswith(f"{name}-"):
            found += _match_folders(slug[len(name) + 1 :], path)
    return found


READER = _CursorReader(_Line)
