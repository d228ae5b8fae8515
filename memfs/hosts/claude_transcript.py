"""Claude Code's transcripts: one JSON object a line, one line for each content block.

Read are what people typed, what the assistant said, and tools with their results. Left out are
injections (ours and others'), summaries, reasoning, and Claude Code's own bookkeeping.
"""

from __future__ import annotations

import os
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


def read(data: bytes, identity: Identity, *, start: int) -> Transcript:
    """Read the messages of whole lines.

    A message's id is its line's uuid and the place of its content block, or the line's byte
    offset: the same however the file is cut into readings.
    """
    return _LINES.read(data, identity, start, _messages)


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
                project=text_of(line.cwd),
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
