"""Grok Build's transcripts: `updates.jsonl`, the updates that an editor gets, one a line.

The folder of a session is named by its id, and the one above by the project, percent-encoded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from urllib.parse import unquote

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts import transcript_files
from memfs.hosts.jsonl import Parse, Reader, arguments, cap, dumps, text_of

HOST = "grok"
_FILE = "updates.jsonl"
_ROLES = {"user_message_chunk": "user", "agent_message_chunk": "assistant"}


class _Line(msgspec.Struct, gc=False):
    """The fields of a line that are read."""

    method: object = None
    params: object = None


class _GrokReader(Reader[_Line]):
    """Messages have the ids of updates."""

    VARIABLE, USUAL = "GROK_HOME", ".grok"
    INSIDE = ("sessions",)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        line = next(self.first(lines), None)
        session = text_of(_get(line.params, "sessionId")) if line else ""
        if not line or not session or not text_of(line.method).endswith("session/update"):
            return None
        project = unquote(os.path.basename(os.path.dirname(os.path.dirname(path))))
        return Identity(session, "", project if project.startswith("/") else "")

    def begin(self, identity: Identity, before: bytes) -> Parse[_Line]:  # noqa: ARG002 - as all
        return _parse_line

    def list_transcripts(self, home: str, project: str) -> list[str]:
        return transcript_files.sort_by_age(
            path
            for folder in self.list_folders(home, project)
            for each in transcript_files.list_folders(folder)
            if transcript_files.is_inside(unquote(os.path.basename(each)), project)
            for path in transcript_files.list_files(each, _FILE, _FILE)
        )


def _parse_line(line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
    update, meta = _get(line.params, "update"), _get(line.params, "_meta")
    kind = text_of(_get(update, "sessionUpdate"))
    key = text_of(_get(meta, "eventId")) or f"@{offset}"
    base = identity.make_message(
        HOST, key, _format_time(_get(meta, "agentTimestampMs")), "tool", ""
    )
    if kind in _ROLES:
        text = text_of(_get(_get(update, "content"), "text")).strip()
        if text:
            yield base._replace(role=_ROLES[kind], text=text)
    elif kind == "tool_call":
        given = _get(update, "rawInput")
        name = text_of(_get(given, "tool_name")) or text_of(_get(update, "title")) or "tool"
        if text := arguments(_get(given, "tool_input") or given):
            yield base._replace(text=text, tool=name)
    elif kind == "tool_call_update" and (output := _get(update, "rawOutput")):
        text = output if isinstance(output, str) else dumps(_get(output, "output") or output)
        if put := cap(text.strip()):
            yield base._replace(text=put, tool="result")


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _format_time(value: object) -> str:
    """Return the UTC time of a number of milliseconds, "" for none."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 47:
        return ""
    found = datetime.fromtimestamp(value / 1000, UTC)
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


READER = _GrokReader(_Line)
