"""Claude Code's transcripts: one JSON object a line, one line for each content block.

Read are what people typed, what the assistant said, and tools with their results. Left out are
injections (ours and others'), summaries, reasoning, and Claude Code's own bookkeeping.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from memfs.core.records import Identity, Message, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOST = "claude"
TOOL_CAP = 3072  # bytes of one tool call or result
_INJECTED = re.compile(
    r"<(system-reminder|user-prompt-submit-hook|session-start-hook|ide_selection|"
    r"ide_opened_file|local-command-caveat|task-notification)\b[^<>]{0,500}>"
)
_LOCAL = ("<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>")
_OWN_COMMANDS = ("/compact", "/clear", "/exit", "/quit", "/resume", "/model", "/config", "/login")
_BOOKKEEPING = ("attachment", "system", "queue-operation", "mode", "permission-mode")
_SYNTHETIC = "<synthetic>"  # the "model" of Claude Code's own words: "No response requested."
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)
_SPACE = re.compile(r"[ \t\r\n\f\v\ufeff]*")
_DECODER = json.JSONDecoder()


class _Line(msgspec.Struct, gc=False):
    """What is looked at of a line, whatever it holds; half of one is left unread for it."""

    type: object = None
    message: object = None
    uuid: object = None
    sessionId: object = None  # noqa: N815 - as Claude Code writes it, here and below
    agentId: object = None  # noqa: N815
    cwd: object = None
    gitBranch: object = None  # noqa: N815
    timestamp: object = None
    isSidechain: object = None  # noqa: N815
    isMeta: object = None  # noqa: N815
    isCompactSummary: object = None  # noqa: N815
    isVisibleInTranscriptOnly: object = None  # noqa: N815
    isApiErrorMessage: object = None  # noqa: N815


_LINE = msgspec.json.Decoder(_Line)
_FIELDS = frozenset(_Line.__struct_fields__)


def identify(lines: Iterable[bytes], path: str) -> Identity | None:
    """Tell whose session this is, from its first lines; None: not Claude Code's."""
    stem = os.path.basename(path).removesuffix(".jsonl")
    session = ""
    for line in lines:
        for found in _objects(line)[0].values():
            name = _text(found.sessionId)
            if not name:
                continue
            if found.type not in ("user", "assistant"):
                session = session or (name if found.type in _BOOKKEEPING else "")
                continue
            message = found.message
            if not isinstance(message, dict) or "content" not in message:
                continue
            agent = _text(found.agentId) if found.isSidechain else ""
            if not agent and stem.startswith("agent-"):
                agent = stem.removeprefix("agent-")
            return Identity(name, agent)
    return Identity(session, "") if session and session == stem else None


def read(data: bytes, identity: Identity, *, start: int) -> Transcript:
    """Read the messages of whole lines; of a last line without line end, the whole JSON objects.

    A message's id is its line's uuid and the place of its content block, or the line's byte
    offset: the same however the file is cut into readings.
    """
    messages: dict[str, Message] = {}
    malformed = left_out = 0
    position = end = start
    for line in data.split(b"\n"):
        found, rest = _objects(line)
        for offset, each in found.items():
            said = list(_messages(each, identity, position + offset))
            left_out += not said
            for message in said:
                messages.setdefault(message.id, message)
        if position + len(line) >= start + len(data):  # the last one may still be being written
            end = position + rest
            break
        malformed += rest < len(line)
        position += len(line) + 1
    return Transcript(list(messages.values()), end, malformed, left_out)


def _messages(line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
    role, message = line.type, line.message
    if role not in ("user", "assistant") or not isinstance(message, dict):
        return
    noted = (
        line.isMeta, line.isCompactSummary, line.isVisibleInTranscriptOnly, line.isApiErrorMessage,
    )  # fmt: skip
    if any(flag is True for flag in noted) or message.get("model") == _SYNTHETIC:
        return
    base = _text(line.uuid) or f"@{offset}"
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
                project=_text(line.cwd),
                branch=_text(line.gitBranch),
                at=_time(line.timestamp),
                role=kind,
                text=text,
                tool=tool,
                side=line.isSidechain is True or bool(identity.agent),
            )


def _said(block: dict[str, object], role: str) -> tuple[str, str, str]:
    """Return (role, text, tool) of a content block; an empty text for what is left out."""
    kind = block.get("type")
    if kind == "text":
        text = _text(block.get("text"))
        return role, _typed(text) if role == "user" else text.strip(), ""
    if kind == "tool_use":
        name = _text(block.get("name")) or "tool"
        return "tool", _cap(_call(block.get("input"))), name
    if kind == "tool_result":
        return "tool", _cap(_flat(block.get("content"))), "result"
    return role, "", ""


def _typed(text: str) -> str:
    """Return what a person typed: without injections, and without the host's own commands."""
    text = _without_injections(text)
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


def _without_injections(text: str) -> str:
    """Take the injected elements out. By hand: one expression for it takes quadratic time."""
    kept = []
    unclosed = set()
    start = at = 0
    while found := _INJECTED.search(text, at):
        at, tag = found.end(), found.group(1)
        close = -1 if tag in unclosed else text.find(f"</{tag}>", at)
        if close < 0:
            unclosed.add(tag)
            continue
        kept.append(text[start : found.start()])
        start = at = close + len(tag) + 3
    return "".join([*kept, text[start:]]).strip()


def _call(given: object) -> str:
    if not isinstance(given, dict):
        return _flat(given)
    parts = []
    for key, value in given.items():
        text = value if isinstance(value, str) else _json(value)
        parts.append(f"{key}: {text if len(text) <= 1000 else text[:1000] + ' …'}")
    return _clean("\n".join(parts))


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:  # how deep reading and writing go depends on the Python
        return "…"


def _flat(content: object) -> str:
    if isinstance(content, list):
        texts = [_text(item.get("text")) for item in content if isinstance(item, dict)]
        return _without_injections("\n".join(text for text in texts if text))
    return _without_injections(_text(content))


def _cap(text: str) -> str:
    """Keep two thirds of the allowance from the beginning, the rest from the end."""
    data = text.encode()
    if len(data) <= TOOL_CAP:
        return text
    note = f"\n… {len(data) - TOOL_CAP:,} bytes left out …\n"
    room = TOOL_CAP - len(note.encode())
    head = data[: room * 2 // 3].decode("utf-8", "ignore")
    tail = data[-(room // 3) :].decode("utf-8", "ignore")
    return head + note + tail


def _objects(line: bytes) -> tuple[dict[int, _Line], int]:
    """Return the JSON objects that a line begins with, by byte offset, and where the rest begins.

    One, as a rule; a writer that was killed before the line end leaves two on a line. Only what
    stands behind the last whole object is read again when a line grows.
    """
    if line[:1] == b"{":  # as nearly every line is: one object, and nothing else
        with suppress(ValueError, RecursionError, msgspec.MsgspecError):
            return {0: _LINE.decode(line)}, len(line)
    text = line.decode("utf-8", "surrogateescape")
    found: dict[int, _Line] = {}
    at = behind = offset = 0
    while True:
        at = _skip_space(text, at)
        if at == len(text):
            return found, len(line)
        offset += len(text[behind:at].encode("utf-8", "surrogateescape"))
        behind = at
        if text[at] != "{":
            return found, offset
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, offset
        found[offset] = _Line(**{name: value[name] for name in _FIELDS & value.keys()})


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _text(value: object) -> str:
    return _clean(value) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    """Replace what is no character: halves of surrogate pairs, and bytes that were no UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _time(value: object) -> str:
    return value if isinstance(value, str) and _TIME.fullmatch(value) else ""
