"""How many messages of people and assistants are in a transcript, counted by `json` alone.

Nothing of memfs is used here, and nothing is shared with what is counted against: one plain way
through each format, without parts, states or offsets. A message is a text that a person typed or an
assistant said; several blocks of text in one record of Claude Code are as many messages.

What was said to a subagent and by it (a side chain) is counted apart: no person said it.

Not counted are texts that programs put in: what hooks added, summaries of a compaction, notes of
the host about its own commands, reasons with which a stop hook kept a turn going.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

Json = Any
Counts = Counter[str]  # of user and assistant, "side user" and "side assistant"


def _objects(path: Path) -> list[Json]:
    """Return the objects on the lines of a file; a killed writer leaves two on one."""
    found = []
    decoder = json.JSONDecoder()
    for line in path.read_text("utf-8", errors="replace").split("\n"):
        rest = line.strip().lstrip("\ufeff")
        while rest.startswith("{"):
            try:
                value, end = decoder.raw_decode(rest)
            except ValueError:
                break
            found.append(value)
            rest = rest[end:].lstrip()
    return found


def _dict(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _text(value: Json) -> str:
    """Return the text of a text, or of the parts of a content."""
    if isinstance(value, list):
        return "\n".join(_text(_dict(part).get("text")) for part in value)
    return value if isinstance(value, str) else ""


def _strip(text: str, *tags: str) -> str:
    """Take whole elements out."""
    for tag in tags:
        text = re.sub(rf"<{tag}\b[^<>]*>.*?</{tag}>", "", text, flags=re.DOTALL)
    return text.strip()


# Claude Code

_CLAUDE_PUT_IN = (
    "system-reminder",
    "user-prompt-submit-hook",
    "session-start-hook",
    "ide_selection",
    "ide_opened_file",
    "local-command-caveat",
    "task-notification",
    "teammate-message",
)
_CLAUDE_TELLS = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<bash-stdout>",
    "<bash-stderr>",
    "[Request interrupted by user",
    "Operation stopped by hook",
    "Caveat: The messages below were",
)
_CLAUDE_COMMANDS = [
    "/compact",
    "/clear",
    "/exit",
    "/quit",
    "/resume",
    "/model",
    "/config",
    "/login",
]


def _claude_typed(text: str) -> bool:
    """Tell whether a person said something: a command alone, without words, says nothing."""
    text = _strip(text, *_CLAUDE_PUT_IN)
    if text.startswith("<command-"):
        name = re.search(r"<command-name>(.*?)</command-name>", text, re.DOTALL)
        words = re.search(r"<command-args>(.*?)</command-args>", text, re.DOTALL)
        return bool(name and words and words[1].strip() and name[1].strip() not in _CLAUDE_COMMANDS)
    return bool(text) and not text.startswith(_CLAUDE_TELLS)


def claude(path: Path) -> Counts:
    found: dict[Json, str] = {}
    agent = path.name.startswith("agent-")
    waiting: list[str] = []  # in the queue, while the assistant works
    attached = any(each.get("type") == "attachment" for each in _objects(path))
    for place, each in enumerate(_objects(path)):
        kind, message = each.get("type"), _dict(each.get("message"))
        ident = each.get("uuid") or place
        if kind == "queue-operation":
            done = each.get("operation")
            if done == "enqueue":
                waiting.append(_text(each.get("content")))
            elif done == "popAll":
                waiting.clear()
            elif waiting:
                text = waiting.pop(0)
                task = attached or text.startswith('{"task_id"')
                if done == "remove" and not task and _claude_typed(text):
                    found[place] = "user"
            continue
        if kind == "attachment":
            queued = _dict(each.get("attachment"))
            person = _dict(queued.get("origin")).get("kind", "human") == "human"
            mode = queued.get("commandMode", "prompt") == "prompt"
            if queued.get("type") != "queued_command" or not person or not mode:
                continue
            kind, message = "user", {"content": queued.get("prompt")}
            ident = queued.get("source_uuid") or ident
        if kind not in ("user", "assistant") or message.get("model") == "<synthetic>":
            continue
        flags = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
        if any(each.get(flag) for flag in flags):
            continue
        who = f"side {kind}" if each.get("isSidechain") or agent else str(kind)
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for number, block in enumerate(blocks):
            text = _text(_dict(block).get("text")) if _dict(block).get("type") == "text" else ""
            if _claude_typed(text) if kind == "user" else text.strip():
                found.setdefault((ident, number), who)
    return Counter(found.values())


# Codex

_CODEX_PUT_IN = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<hook_prompt",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
)


def codex(path: Path) -> Counts:
    counts: Counts = Counter()
    side = ""
    for number, each in enumerate(_objects(path)):
        if number == 0:
            meta = _dict(each.get("payload"))
            spawned = isinstance(meta.get("source"), dict) and "subagent" in meta["source"]
            side = (
                "side "
                if spawned or meta.get("session_id", meta.get("id")) != meta.get("id")
                else ""
            )
        item = _dict(each.get("payload")) if each.get("type") == "response_item" else each
        if "payload" in item or item.get("role") not in ("user", "assistant"):
            continue
        if _dict(each.get("metadata")).get("compaction_output"):
            continue
        content = item.get("content")
        texts = [_text(_dict(part).get("text")) for part in _list(content)] or [_text(content)]
        if item["role"] == "user":
            told = _dict(item.get("internal_chat_message_metadata_passthrough"))
            kinds = _list(told.get("content_item_kinds")) or ["unknown"] * len(texts)
            texts = [
                text
                for text, kind in zip(texts, kinds, strict=True)
                if kind.startswith("user")
                or (kind == "unknown" and not text.strip().startswith(_CODEX_PUT_IN))
            ]
        counts[side + item["role"]] += any(text.strip() for text in texts)
    return +counts


# Copilot CLI


def copilot(path: Path) -> Counts:
    found: dict[Json, str] = {}
    reasons: list[str] = []  # with which stop hooks kept the turn going
    for place, each in enumerate(_objects(path)):
        kind, data = each.get("type"), _dict(each.get("data"))
        text = _text(data.get("content")).strip()
        if kind == "hook.end" and data.get("hookType") == "agentStop":
            output = _dict(data.get("output"))
            if output.get("decision") == "block":
                reasons.append(_text(output.get("reason")).strip())
        elif kind == "user.message" and text in reasons:
            reasons.remove(text)
        elif kind == "user.message" and text and data.get("source", "user") in ("", "user"):
            found.setdefault(each.get("id") or place, "user")
        elif kind == "assistant.message" and text:
            side = "side " if each.get("agentId") or data.get("parentToolCallId") else ""
            found.setdefault(each.get("id") or place, f"{side}assistant")
    return Counter(found.values())


# Gemini CLI

_GEMINI_OWN = ("Got it. Thanks for the additional context!", "Please continue.")


def gemini(path: Path) -> Counts:
    """Count records; a later one with the same id replaces an earlier one."""
    try:
        records = _list(_dict(json.loads(path.read_bytes())).get("messages"))
    except ValueError:
        records = []
        for each in _objects(path):
            records.append(each)
            records.extend(_list(each.get("messages")))
            given = _list(_dict(each.get("$set")).get("messages"))  # what the model is given now
            ids = {one.get("id") for one in records}
            texts = {(one.get("type"), _gemini_text(one)) for one in records}
            records.extend(
                one
                for one in given
                if one.get("id") not in ids and (one.get("type"), _gemini_text(one)) not in texts
            )
    last: dict[Json, Json] = {}
    for place, record in enumerate(records):
        if record.get("type") in ("user", "gemini", "model"):
            last[record.get("id") or place] = record
    counts: Counts = Counter()
    hooked = any("displayContent" in record for record in last.values())
    said: set[Json] = set()
    copies = False  # behind a summary stands again what is kept of what was said before it
    for record in last.values():
        role = "user" if record["type"] == "user" else "assistant"
        text = _gemini_text(record)
        summary = text.startswith("<state_snapshot>")
        copies = summary or (copies and (not text or text in _GEMINI_OWN or (role, text) in said))
        said.add((role, text))
        if copies or not text or text.startswith("<session_context>"):
            continue
        # what a stop hook said: a hook added to it, and there is nothing of a person to show
        added = any("<hook_context>" in _text([part]) for part in _list(record.get("content"))[1:])
        if role == "user" and hooked and added and "displayContent" not in record:
            continue
        counts[role] += 1
    sub = any(each.get("kind") == "subagent" for each in _objects(path))
    return Counter({f"side {role}": number for role, number in counts.items()}) if sub else counts


def _gemini_text(record: Json) -> str:
    shown = record.get("displayContent") or record.get("content") or record.get("parts")
    if isinstance(shown, list):
        shown = [part for part in shown if not _dict(part).get("thought")]
    text = _text(shown)
    if text.strip().startswith("<session_context>"):
        return text.strip()
    return _strip(text, "hook_context")


# opencode


def opencode(path: Path) -> Counts:
    """Count the texts of an export."""
    counts: Counts = Counter()
    made = _dict(json.loads(path.read_bytes()))
    side = "side " if _dict(made.get("info")).get("parentID") else ""
    for message in _list(made.get("messages")):
        info = _dict(message.get("info"))
        for part in _list(message.get("parts")):
            put_in = part.get("synthetic") or part.get("ignored") or info.get("summary") is True
            if part.get("type") == "text" and not put_in and _text(part.get("text")).strip():
                counts[side + info["role"]] += 1
    return counts


# Cursor


def cursor(path: Path) -> Counts:
    """Count Cursor's: a prompt is what its user asked; reasoning that is hidden is no text."""
    counts: Counts = Counter()
    for line in _objects(path):
        content = _dict(line.get("message")).get("content")
        if "type" in line or line.get("role") not in ("user", "assistant"):
            continue
        for block in [{"text": content}] if isinstance(content, str) else _list(content):
            text = _text(_dict(block).get("text")).replace("[REDACTED]", "").strip()
            if line["role"] == "user" and "<user_query>" in text:
                text = text.partition("<user_query>")[2].rpartition("</user_query>")[0].strip()
            elif line["role"] == "user" and text.startswith("<"):
                text = ""
            counts[line["role"]] += bool(text)
    return counts


COUNT = {
    "claude": claude,
    "codex": codex,
    "copilot": copilot,
    "gemini": gemini,
    "opencode": opencode,
    "cursor": cursor,
}
