"""Claude Code's transcripts: one JSON object a line, one line for each content block.

Read are what people typed, what the assistant said, and tools with their results. Left out are
injections (ours and others'), summaries, reasoning, and Claude Code's own bookkeeping.

What is typed while the assistant works is no line of a person: it is an attachment. Until these
were written down (in the spring of 2026) only the queue tells: what was put in, and taken out for
the turn that ran. What waited for the end of the turn (`dequeue`) is a line of its own.
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts.lines import Lines, call, cap, flat, tags, text_of, time_of, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memfs.core.records import Transcript

HOST = "claude"
_INJECTED = tags(
    "system-reminder", "user-prompt-submit-hook", "session-start-hook", "ide_selection",
    "ide_opened_file", "local-command-caveat", "task-notification",
)  # fmt: skip
_LOCAL = ("<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>")
_OWN_COMMANDS = ("/compact", "/clear", "/exit", "/quit", "/resume", "/model", "/config", "/login")
_BOOKKEEPING = ("attachment", "system", "queue-operation", "mode", "permission-mode")
_QUEUE, _ATTACHMENT = b'"queue-operation"', b'"attachment"'
_TASK = ('{"task_id"', "<task-notification>")  # what a task in the background has to say
_SYNTHETIC = "<synthetic>"  # the "model" of Claude Code's own words: "No response requested."


class _Line(msgspec.Struct, gc=False, rename="camel"):
    """What is looked at of a line, whatever it holds; half of one is left unread for it."""

    type: object = None
    message: object = None
    uuid: object = None
    session_id: object = None
    agent_id: object = None
    cwd: object = None
    git_branch: object = None
    timestamp: object = None
    is_sidechain: object = None
    is_meta: object = None
    is_compact_summary: object = None
    is_visible_in_transcript_only: object = None
    is_api_error_message: object = None
    attachment: object = None
    operation: object = None
    content: object = None


_LINES = Lines(_Line)


def identify(lines: Iterable[bytes], path: str) -> Identity | None:
    """Tell whose session this is, from its first lines; None: not Claude Code's."""
    stem = os.path.basename(path).removesuffix(".jsonl")
    session = ""
    for found in _LINES.first(lines):
        name = text_of(found.session_id)
        if not name:
            continue
        if found.type not in ("user", "assistant"):
            session = session or (name if found.type in _BOOKKEEPING else "")
            continue
        message = found.message
        if not isinstance(message, dict) or "content" not in message:
            continue
        agent = text_of(found.agent_id) if found.is_sidechain else ""
        if not agent and stem.startswith("agent-"):
            agent = stem.removeprefix("agent-")
        return Identity(name, agent, text_of(found.cwd))
    return Identity(session, "") if session and session == stem else None


def read(data: bytes, identity: Identity, *, start: int, before: bytes = b"") -> Transcript:
    """Read the messages of whole lines; `before` tells what waits in the queue.

    A message's id is its line's uuid and the place of its content block, or the line's byte
    offset: the same however the file is cut into readings.
    """
    reading = _Reading()
    if _QUEUE in before or _ATTACHMENT in before:
        told = [line for line in before.split(b"\n") if _QUEUE in line or _ATTACHMENT in line]
        for line in _LINES.first(told):
            reading.look(line)
    return _LINES.read(data, identity, start, reading.messages)


class _Reading:
    """One reading: what waits in the queue, where the queue alone tells of it."""

    def __init__(self) -> None:
        self._waiting: deque[_Line] = deque()
        self._attached = False  # attachments are written down, also those of what was typed

    def messages(self, line: _Line, identity: Identity, offset: int) -> Iterable[Message]:
        """Return what a line said."""
        taken = self.look(line)
        if taken:
            return _messages(taken, identity, offset)
        if line.type == "attachment":
            queued = _queued(line)
            return _messages(queued, identity, offset) if queued else ()
        return _messages(line, identity, offset)

    def look(self, line: _Line) -> _Line | None:
        """Follow the queue; return what a person typed that was taken into a running turn."""
        self._attached = self._attached or line.type == "attachment"
        if line.type != "queue-operation":
            return None
        if line.operation == "enqueue":
            self._waiting.append(line)
        elif line.operation == "popAll":
            self._waiting.clear()
        elif self._waiting:
            put = self._waiting.popleft()
            typed = text_of(put.content)
            if line.operation == "remove" and not self._attached and not typed.startswith(_TASK):
                return _line_of(put, typed)
        return None


def _queued(line: _Line) -> _Line | None:
    """Return what a person typed while the assistant worked; None for another attachment.

    Where it was written as a line of its own, too, that has the uuid which is its source.
    """
    found = line.attachment
    if not isinstance(found, dict) or found.get("type") != "queued_command":
        return None
    origin = found.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    if found.get("commandMode") not in (None, "prompt") or kind not in (None, "human"):
        return None
    if found.get("isMeta") is True:
        return None
    made = _line_of(line, found.get("prompt"))
    made.uuid = text_of(found.get("source_uuid")) or line.uuid
    return made


def _line_of(line: _Line, content: object) -> _Line:
    """Return a line of a person with the time and place of another."""
    return msgspec.structs.replace(line, type="user", message={"content": content})


def _messages(line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
    role, message = line.type, line.message
    if role not in ("user", "assistant") or not isinstance(message, dict):
        return
    noted = (
        line.is_meta, line.is_compact_summary, line.is_visible_in_transcript_only,
        line.is_api_error_message,
    )  # fmt: skip
    if any(flag is True for flag in noted) or message.get("model") == _SYNTHETIC:
        return
    base = text_of(line.uuid) or f"@{offset}"
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for index, block in enumerate(blocks):
        if not isinstance(block, dict):
            continue
        kind, text, tool = _said(block, str(role))
        if text:
            yield Message(
                id=f"{base}.{index}" if index else base,
                session=identity.session,
                host=HOST,
                project=text_of(line.cwd) or identity.project,
                branch=text_of(line.git_branch),
                at=time_of(line.timestamp),
                role=kind,
                text=text,
                tool=tool,
                side=line.is_sidechain is True or bool(identity.agent),
            )


def _said(block: dict[str, object], role: str) -> tuple[str, str, str]:
    """Return (role, text, tool) of a content block; an empty text for what is left out."""
    kind = block.get("type")
    if kind == "text":
        text = text_of(block.get("text"))
        return role, _typed(text) if role == "user" else text.strip(), ""
    if kind == "tool_use":
        name = text_of(block.get("name")) or "tool"
        return "tool", call(block.get("input")), name
    if kind == "tool_result":
        return "tool", cap(without(_INJECTED, flat(block.get("content")))), "result"
    return role, "", ""


def _typed(text: str) -> str:
    """Return what a person typed: without injections, and without the host's own commands."""
    text = without(_INJECTED, text)
    if text.startswith((*_LOCAL, "[Request interrupted by user")):
        return ""
    if text.startswith("<command-"):
        name, given = _inside(text, "command-name"), _inside(text, "command-args")
        return f"{name} {given}" if name and given and name not in _OWN_COMMANDS else ""
    return text


def _inside(text: str, tag: str) -> str:
    _, _, behind = text.partition(f"<{tag}>")
    inside, closed, _ = behind.partition(f"</{tag}>")
    return inside.strip() if closed else ""
