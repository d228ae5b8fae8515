"""Grok Build's transcripts: `updates.jsonl`, the updates that an editor gets, one a line.

The folder of a session is named by its id, and the one above by the project, percent-encoded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from urllib.parse import unquote

import msgspec

from memfs.core.records import Identity, Message, Transcript
from memfs.files.account import find_named_folder
from memfs.hosts import transcript_files
from memfs.hosts.jsonl import JsonLines, arguments, cap, dumps, text_of

HOST = "grok"
_FILE = "updates.jsonl"
_ROLES = {"user_message_chunk": "user", "agent_message_chunk": "assistant"}


class _Line(msgspec.Struct, gc=False):
    """The fields of a line that are read."""

    method: object = None
    params: object = None


_LINES = JsonLines(_Line)


def identify(lines: Iterable[bytes], path: str) -> Identity | None:
    """Return the session of a transcript by its first lines; None: not Grok's."""
    for line in _LINES.first(lines):
        session = text_of(_get(line.params, "sessionId"))
        if session and text_of(line.method).endswith("session/update"):
            folder = os.path.basename(os.path.dirname(os.path.dirname(path)))
            project = unquote(folder)
            return Identity(session, "", project if project.startswith("/") else "")
        return None
    return None


def read_transcript(
    data: bytes, identity: Identity, *, start: int, before: bytes = b""
) -> Transcript:
    """Read the messages of whole lines. Their ids are those of the updates."""
    del before
    return _LINES.read(data, identity, start, _parse_line)


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


def list_folders(home: str, project: str) -> list[str]:  # noqa: ARG001 - one of a project comes later
    """List the folders below which transcripts may come to be."""
    return [f"{root}/sessions" for root in _list_roots(home)]


def _list_roots(home: str) -> list[str]:
    return transcript_files.list_roots(find_named_folder("GROK_HOME"), f"{home}/.grok")


def list_transcripts(home: str, project: str) -> list[str]:
    """List the transcripts kept for a project ("": all) and the folders below it, oldest first."""
    return transcript_files.sort_by_age(
        path
        for folder in list_folders(home, project)
        for each in transcript_files.list_folders(folder)
        if transcript_files.is_inside(unquote(os.path.basename(each)), project)
        for path in transcript_files.list_files(each, _FILE, _FILE)
    )
