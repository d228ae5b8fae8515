"""Copilot's transcripts: one event a line, `{type, data, id, timestamp}`.

What a person typed is `content` of `user.message`; `transformedContent` is that with injections.
The reason with which a Stop hook keeps a turn going comes back as a prompt, and is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts.jsonl import Parse, Reader, arguments, cap, flatten_content, text_of, time_of

HOST = "copilot"
_STARTS = ("session.start", "session.resume")
_OURS = (*_STARTS, "user.message", "assistant.message", "hook.start", "tool.execution_start")
_FILE = "events.jsonl"  # in a folder that is named like the session
_GUIDANCE = "Additional guidance from postToolUse hooks:"  # behind a tool's output


class _Line(msgspec.Struct, gc=False, rename="camel"):
    """The fields of a line that are read."""

    type: object = None
    data: object = None
    id: object = None
    timestamp: object = None
    agent_id: object = None


class _CopilotReader(Reader[_Line]):
    """A message's id is its event's, the byte offset of its line, or that of a tool's call."""

    VARIABLE, USUAL = "COPILOT_HOME", ".copilot"
    INSIDE = ("session-state",)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        folder, name = os.path.split(path)
        ours = False
        for line in self.first(lines):
            data = line.data
            if not isinstance(data, dict):
                continue
            session = text_of(data.get("sessionId"))
            if line.type == _STARTS[0] and session:
                return _make_identity(session, data)
            ours = ours or line.type in _OURS
            if line.type == _STARTS[1] and ours and name == _FILE:
                return _make_identity(os.path.basename(folder), data)
        return Identity(os.path.basename(folder), "") if ours and name == _FILE else None

    def begin(self, identity: Identity, before: bytes) -> Parse[_Line]:  # noqa: ARG002 - as all
        """Note the reasons of Stop hooks in `before`."""
        reading = _Reading()
        if b'"agentStop"' in before:
            for line in self.first(before.split(b"\n")):
                reading.is_feedback(line)
        return reading.messages


def _make_identity(session: str, data: dict[str, object]) -> Identity:
    context = data.get("context")
    ran = context if isinstance(context, dict) else {}
    return Identity(session, "", text_of(ran.get("cwd")), text_of(ran.get("branch")))


class _Reading:
    """One reading: the reasons that hooks gave, until they come back as prompts."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()

    def is_feedback(self, line: _Line) -> bool:
        """Return whether a prompt is the reason of a Stop hook; notes the reasons of hooks."""
        data = line.data
        if not isinstance(data, dict):
            return False
        if line.type == "hook.end" and data.get("hookType") == "agentStop":
            output = data.get("output")
            if isinstance(output, dict) and output.get("decision") == "block":
                self._reasons.add(text_of(output.get("reason")).strip())
        elif line.type == "user.message":
            text = text_of(data.get("content")).strip()
            if text in self._reasons:
                self._reasons.remove(text)
                return True
        return False

    def messages(self, line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
        """Yield the messages of an event."""
        data = line.data
        if self.is_feedback(line) or not isinstance(data, dict):
            return
        side = bool(text_of(line.agent_id) or text_of(data.get("parentToolCallId")))
        at = time_of(line.timestamp)
        for part, role, text, tool in _parse_event(text_of(line.type), data):
            if text:
                ident = part or text_of(line.id) or f"@{offset}"
                yield identity.make_message(HOST, ident, at, role, text, tool, side)


def _parse_event(kind: str, data: dict[str, object]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (id, role, text, tool) of an event; a call comes as request and as execution."""
    if kind == "user.message":
        if text_of(data.get("source")) in ("", "user"):  # others are skills and the like
            yield "", "user", text_of(data.get("content")).strip(), ""
    elif kind == "assistant.message":
        yield "", "assistant", text_of(data.get("content")).strip(), ""
        requests = data.get("toolRequests")
        for request in requests if isinstance(requests, list) else []:
            if isinstance(request, dict) and (ident := text_of(request.get("toolCallId"))):
                name = text_of(request.get("name")) or "tool"
                yield ident, "tool", arguments(request.get("arguments")), name
    elif kind == "tool.execution_start":
        name = text_of(data.get("toolName")) or "tool"
        yield text_of(data.get("toolCallId")), "tool", arguments(data.get("arguments")), name
    elif kind == "tool.execution_complete":
        yield "", "tool", cap(_extract_output(data)), "result"


def _extract_output(data: dict[str, object]) -> str:
    """Return a tool's output, without the guidance that hooks added for the model."""
    error, result = data.get("error"), data.get("result")
    if isinstance(result, dict):
        text = flatten_content(result.get("content")).strip()
        if _GUIDANCE in text:
            text = text.partition(_GUIDANCE)[0].rpartition("\n")[0]
        return text.strip()
    return (
        text_of(error.get("message")).strip()
        if isinstance(error, dict)
        else flatten_content(result)
    )


READER = _CopilotReader(_Line)
