"""Copilot's transcripts: one event a line, `{type, data, id, timestamp}`.

What a person typed is `content` of `user.message`; `transformedContent` is that with injections.
The reason with which a Stop hook keeps a turn going comes back as a prompt, and is left out.
"""

import os
from collections.abc import Iterable, Iterator

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts import jsonl

HOST = "copilot"
_STARTS = ("session.start", "session.resume")
_OURS = (*_STARTS, "user.message", "assistant.message", "hook.start", "tool.execution_start")
_FILE = "events.jsonl"  # in a folder that is named like the session
_GUIDANCE = "Additional guidance from postToolUse hooks:"  # behind a tool's output


class _Line(msgspec.Struct, gc=False, rename="camel"):
    type: object = None
    data: object = None
    id: object = None
    timestamp: object = None
    agent_id: object = None


class _CopilotReader(jsonl.Reader[_Line]):
    """A message's id is its event's, the byte offset of its line, or that of a tool's call."""

    VARIABLE, USUAL = "COPILOT_HOME", ".copilot"
    INSIDE = ("session-state",)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        folder, name = os.path.split(path)
        ours = False
        for line in self.first(lines):
            if not isinstance(line.data, dict):
                continue
            session = jsonl.get_text(line.data, "sessionId")
            if line.type == _STARTS[0] and session:
                return _make_identity(session, line.data)
            ours = ours or line.type in _OURS
            if line.type == _STARTS[1] and ours and name == _FILE:
                return _make_identity(os.path.basename(folder), line.data)
        return Identity(os.path.basename(folder), "") if ours and name == _FILE else None

    def begin(self, identity: Identity, before: bytes) -> jsonl.Parse[_Line]:  # noqa: ARG002 - as all
        """Note the reasons of Stop hooks in `before`."""
        reading = _Reading()
        if b'"agentStop"' in before:
            for line in self.first(before.split(b"\n")):
                reading.is_feedback(line)
        return reading.messages


def _make_identity(session: str, data: object) -> Identity:
    ran = jsonl.get(data, "context")
    return Identity(session, "", jsonl.get_text(ran, "cwd"), jsonl.get_text(ran, "branch"))


class _Reading:
    """One reading: the reasons that hooks gave, until they come back as prompts."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()

    def is_feedback(self, line: _Line) -> bool:
        """Return whether a prompt is the reason of a Stop hook; notes the reasons of hooks."""
        text = jsonl.get_text(line.data, "content").strip()
        if line.type == "hook.end" and jsonl.get(line.data, "hookType") == "agentStop":
            output = jsonl.get(line.data, "output")
            if jsonl.get(output, "decision") == "block":
                self._reasons.add(jsonl.get_text(output, "reason").strip())
        elif line.type == "user.message" and text in self._reasons:
            self._reasons.remove(text)
            return True
        return False

    def messages(self, line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
        """Yield the messages of an event."""
        if self.is_feedback(line):
            return
        side = bool(jsonl.text_of(line.agent_id) or jsonl.get_text(line.data, "parentToolCallId"))
        at = jsonl.time_of(line.timestamp)
        for part, role, text, tool in _parse_event(jsonl.text_of(line.type), line.data):
            if text:
                ident = part or jsonl.text_of(line.id) or f"@{offset}"
                yield identity.make_message(HOST, ident, at, role, text, tool, side)


def _parse_event(kind: str, data: object) -> Iterator[tuple[str, str, str, str]]:
    """Yield (id, role, text, tool) of an event; a call comes as request and as execution."""
    if kind == "user.message" and jsonl.get_text(data, "source") in ("", "user"):  # others: skills
        yield "", "user", jsonl.get_text(data, "content").strip(), ""
    elif kind == "assistant.message":
        yield "", "assistant", jsonl.get_text(data, "content").strip(), ""
        for request in jsonl.list_objects(jsonl.get(data, "toolRequests")):
            if ident := jsonl.get_text(request, "toolCallId"):
                name = jsonl.get_text(request, "name") or "tool"
                yield ident, "tool", jsonl.arguments(request.get("arguments")), name
    elif kind == "tool.execution_start":
        name = jsonl.get_text(data, "toolName") or "tool"
        yield (
            jsonl.get_text(data, "toolCallId"),
            "tool",
            jsonl.arguments(jsonl.get(data, "arguments")),
            name,
        )
    elif kind == "tool.execution_complete":
        yield "", "tool", jsonl.cap(_extract_output(data)), "result"


def _extract_output(data: object) -> str:
    """Return a tool's output, without the guidance that hooks added for the model."""
    error, result = jsonl.get(data, "error"), jsonl.get(data, "result")
    if isinstance(result, dict):
        text = jsonl.flatten_content(result.get("content")).strip()
        if _GUIDANCE in text:
            text = text.partition(_GUIDANCE)[0].rpartition("\n")[0]
        return text.strip()
    return jsonl.get_text(error, "message").strip() if error else jsonl.flatten_content(result)


READER = _CopilotReader(_Line)
