"""Codex's transcripts ("rollouts"): one JSON object a line, `{timestamp, type, payload}`.

What was said stands in `response_item` lines; events repeat it. Left out are injections (ours and
others'), what Codex tells its model as if a person had, summaries and reasoning.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts import jsonl, transcript_files

HOST = "codex"
_OURS = ("session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state")
_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT[\d-]{8}-([0-9a-fA-F-]{36})")
_CWD = re.compile(r"(?:<cwd>|Current working directory: )([^<\n]+)")
_ASKED = "## My request for Codex:"  # heading before the prompt, after an editor's context
_SHELL = "<user_shell_command>"  # a command that the person ran, with its output
_NOT_TYPED = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<hook_prompt",
    "<subagent_notification>",
    "<skill>",
    "<user_action>",
    "<recommended_plugins>",
    "<goal_context>",
    "<codex_internal_context",
    "<image",
    "</image>",
    "Another language model started to solve this problem and produced a summary",
    "You were originally given instructions from a user over one or more turns.",
    "Warning: The maximum number of unified exec processes",
)


class _Line(msgspec.Struct, gc=False):
    """The fields of a line that are read. Before 0.32 (2025) the line itself was the payload."""

    timestamp: object = None
    type: object = None
    payload: object = None
    metadata: object = None
    id: object = None
    git: object = None
    instructions: object = msgspec.UNSET
    role: object = None
    content: object = None
    name: object = None
    arguments: object = None
    action: object = None
    output: object = None


class _CodexReader(jsonl.Reader[_Line]):
    """A message's id is the byte offset of its line."""

    VARIABLE, USUAL = "CODEX_HOME", ".codex"
    INSIDE = ("sessions", "archived_sessions")
    PREFIX = "rollout-"

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        named = _NAME.match(os.path.basename(path))
        session = branch = ""
        rollout = False
        for line in self.first(lines):
            payload = line.payload
            if line.type == "session_meta" and isinstance(payload, dict):
                found = _parse_header(payload)
                if found:
                    return found
            if line.type in _OURS and isinstance(payload, dict):
                rollout = True
            elif not session and _is_old_header(line):
                session, branch = jsonl.text_of(line.id), jsonl.get_text(line.git, "branch")
            elif (
                session
                and line.type == "message"
                and (cwd := _CWD.search(jsonl.flatten_content(line.content)))
            ):
                return Identity(session, "", cwd.group(1).strip(), branch)
        if session:
            return Identity(session, "", "", branch)
        return Identity(named.group(1), "") if rollout and named else None

    def list_transcripts(self, home: str, project: str) -> list[str]:
        """List compressed ones, too, whosever they are: they are named, and not read."""
        packed = [
            path
            for folder in self.list_folders(home, project)
            for path in transcript_files.list_files(
                folder, self.PREFIX, transcript_files.COMPRESSED
            )
        ]
        return transcript_files.sort_by_age([*packed, *super().list_transcripts(home, project)])


def _is_old_header(line: _Line) -> bool:
    if line.type is not None or not jsonl.text_of(line.id) or not jsonl.time_of(line.timestamp):
        return False
    return line.instructions is not msgspec.UNSET or isinstance(line.git, dict)


def _parse_header(payload: dict[str, object]) -> Identity | None:
    """Return the session of a first line. A subagent has a thread of its own."""
    thread = jsonl.text_of(payload.get("id"))
    session = jsonl.text_of(payload.get("session_id")) or thread
    if not session:
        return None
    agent = thread if thread != session else ""
    sub = jsonl.get(payload.get("source"), "subagent")
    if sub and not agent:
        parent = jsonl.get_text(jsonl.get(sub, "thread_spawn"), "parent_thread_id")
        agent = session if parent else jsonl.text_of(sub) or "subagent"
        session = parent or session
    cwd, branch = jsonl.text_of(payload.get("cwd")), jsonl.get_text(payload.get("git"), "branch")
    return Identity(session, agent, cwd, branch)


def _parse_line(line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
    item = line.payload
    if line.type != "response_item":
        if item is not None or not isinstance(line.type, str):
            return
        item = msgspec.structs.asdict(line)
    if not isinstance(item, dict):
        return
    if jsonl.get(line.metadata, "compaction_output") is True:
        return
    role, text, tool = _parse_item(item)
    if text:
        yield identity.make_message(
            HOST, f"@{offset}", jsonl.time_of(line.timestamp), role, text, tool
        )


def _parse_item(item: dict[str, object]) -> tuple[str, str, str]:
    """Return (role, text, tool) of an item; the text is "" if it is left out."""
    kind = jsonl.text_of(item.get("type"))
    if kind == "message" or (not kind and "role" in item):
        role = item.get("role")
        if role == "assistant":
            return "assistant", jsonl.flatten_content(item.get("content")).strip(), ""
        return _parse_prompt(item) if role == "user" else ("", "", "")
    if kind.endswith("_call"):
        tool_input = next((item[k] for k in ("arguments", "input", "action") if item.get(k)), None)
        space, name = jsonl.text_of(item.get("namespace")), jsonl.text_of(item.get("name"))
        name = f"{space.removesuffix('__')}__{name}" if space and name else name
        return "tool", jsonl.arguments(tool_input), name or kind.removesuffix("_call")
    if kind.endswith("_output"):
        return "tool", jsonl.cap(_flatten_output(item.get("output")).strip()), "result"
    return "", "", ""


def _parse_prompt(item: dict[str, object]) -> tuple[str, str, str]:
    """Return (role, text, tool) of the parts a person typed, by their kinds or their texts."""
    content = item.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = []
    for index, part in enumerate(parts):
        text = jsonl.get_text(part, "text").strip()
        kind = _get_kind(item, index)
        if kind.startswith("user") or (kind in ("", "unknown") and not text.startswith(_NOT_TYPED)):
            texts.append(text)
    text = "\n".join(text for text in texts if text)
    if text.startswith(_SHELL):
        return "tool", jsonl.cap(text), "shell"
    if text.startswith("# Context from my IDE setup"):
        text = text.partition(_ASKED)[2].strip()
    return "user", text, ""


def _get_kind(item: dict[str, object], index: int) -> str:
    kinds = jsonl.get(item.get("internal_chat_message_metadata_passthrough"), "content_item_kinds")
    return jsonl.text_of(kinds[index]) if isinstance(kinds, list) and index < len(kinds) else ""


def _flatten_output(value: object) -> str:
    """Return a tool's output as text; some write it as JSON, with its exit code."""
    if isinstance(value, str):
        if value.startswith('{"output":'):
            with suppress(ValueError, RecursionError):
                return jsonl.get_text(json.loads(value), "output") or jsonl.text_of(value)
        return jsonl.text_of(value)
    if isinstance(value, dict):
        inner = value.get("content", value.get("text"))
        return (
            jsonl.flatten_content(inner)
            if isinstance(inner, str | list)
            else jsonl.text_of(jsonl.dumps(value))
        )
    return jsonl.flatten_content(value)


READER = _CodexReader(_Line, _parse_line)
