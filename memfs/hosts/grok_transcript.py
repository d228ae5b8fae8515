"""Grok Build's transcripts: `updates.jsonl`, the updates that an editor gets, one a line.

The folder of a session is named by its id, and the one above by the project, percent-encoded.
"""

import os
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts import jsonl, transcript_files

HOST = "grok"
_FILE = "updates.jsonl"
_ROLES = {"user_message_chunk": "user", "agent_message_chunk": "assistant"}


class _Line(msgspec.Struct, gc=False):
    method: object = None
    params: object = None


class _GrokReader(jsonl.Reader[_Line]):
    """Messages have the ids of updates."""

    VARIABLE, USUAL = "GROK_HOME", ".grok"
    INSIDE = ("sessions",)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        line = next(self.first(lines), None)
        session = jsonl.get_text(line.params, "sessionId") if line else ""
        if not line or not session or not jsonl.text_of(line.method).endswith("session/update"):
            return None
        project = unquote(os.path.basename(os.path.dirname(os.path.dirname(path))))
        return Identity(session, "", project if project.startswith("/") else "")

    def list_transcripts(self, home: str, project: str) -> list[str]:
        return transcript_files.sort_by_age(
            path
            for folder in self.list_folders(home, project)
            for each in transcript_files.list_folders(folder)
            if transcript_files.is_inside(unquote(os.path.basename(each)), project)
            for path in transcript_files.list_files(each, _FILE, _FILE)
        )


def _parse_line(line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
    update, meta = jsonl.get(line.params, "update"), jsonl.get(line.params, "_meta")
    kind = jsonl.get_text(update, "sessionUpdate")
    key = jsonl.get_text(meta, "eventId") or f"@{offset}"
    at = jsonl.format_milliseconds(jsonl.get(meta, "agentTimestampMs"))
    base = identity.make_message(HOST, key, at, "tool", "")
    if kind in _ROLES:
        text = jsonl.get_text(jsonl.get(update, "content"), "text").strip()
        if text:
            yield base._replace(role=_ROLES[kind], text=text)
    elif kind == "tool_call":
        given = jsonl.get(update, "rawInput")
        name = jsonl.get_text(given, "tool_name") or jsonl.get_text(update, "title") or "tool"
        if text := jsonl.arguments(jsonl.get(given, "tool_input") or given):
            yield base._replace(text=text, tool=name)
    elif kind == "tool_call_update" and (output := jsonl.get(update, "rawOutput")):
        text = (
            output
            if isinstance(output, str)
            else jsonl.dumps(jsonl.get(output, "output") or output)
        )
        if put := jsonl.cap(text.strip()):
            yield base._replace(text=put, tool="result")


READER = _GrokReader(_Line, _parse_line)
