"""The conversations of `memfs agent`: one JSON object a line, as `agent.queue` writes them.

The first line is `{"memfs_queue": 1, session, project, at}`; a message is `{id, at, role, text}`,
with `calls` where the model made some, and `tool` where it is a tool's result. What our own tools
answered (`ours`) is in memory anyway, and what `system` says is ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import msgspec

from memfs import hosts
from memfs.core.records import Identity, Message, Transcript
from memfs.hosts.jsonl import JsonLines, cap, text_of, time_of

_ROLES = ("user", "assistant", "tool")


class _Line(msgspec.Struct, gc=False):
    """The fields of a line that are read."""

    memfs_queue: object = None
    session: object = None
    project: object = None
    id: object = None
    at: object = None
    role: object = None
    text: object = None
    calls: object = None
    tool: object = None
    ours: object = None


_LINES = JsonLines(_Line)


def identify(lines: Iterable[bytes], _path: str) -> Identity | None:
    """Return the session of a transcript by its first line; None: not ours."""
    for line in _LINES.first(lines):
        session = text_of(line.session)
        if line.memfs_queue == 1 and session:
            return Identity(session, "", text_of(line.project))
        return None
    return None


def read_transcript(
    data: bytes, identity: Identity, *, start: int, before: bytes = b""
) -> Transcript:
    """Read the messages of whole lines. A message's id is its number in the conversation."""
    del before
    return _LINES.read(data, identity, start, _parse_line)


def _parse_line(line: _Line, identity: Identity, _offset: int) -> Iterator[Message]:
    role = text_of(line.role)
    if role not in _ROLES or not isinstance(line.id, int) or line.ours is True:
        return
    parts = [(f"{line.id}", role, text_of(line.text), text_of(line.tool))]
    calls = line.calls if isinstance(line.calls, list) else []
    for number, call in enumerate(calls):
        if isinstance(call, dict):
            name = text_of(call.get("name"))
            arguments = json.dumps(call.get("arguments"), ensure_ascii=False)
            parts.append((f"{line.id}.{number}", "tool", f"{name} {arguments}", name))
    for ident, who, text, tool in parts:
        if text.strip():
            said = cap(text) if who == "tool" else text
            yield identity.make_message(hosts.OWN, ident, time_of(line.at), who, said, tool)


def list_transcripts(home: str, project: str) -> list[str]:  # noqa: ARG001 - as every reader
    """List none: the agent notes each in the spool as it is written."""
    return []


def list_folders(home: str, project: str) -> list[str]:  # noqa: ARG001 - as every reader
    """List none: see `list_transcripts`."""
    return []
