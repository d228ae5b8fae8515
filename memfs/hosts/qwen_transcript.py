"""Qwen Code's transcripts: a record a line, with the parts of messages as Gemini has them.

What a person typed stands beside the parts where a hook or the program added some to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts.claude_transcript import name_folder
from memfs.hosts.gemini_transcript import join_text
from memfs.hosts.jsonl import Parse, Reader, arguments, cap, remove_elements, tags, text_of, time_of

HOST = "qwen"
_ROLES = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
_INJECTED = tags("qwen:user-prompt-submit-context", "system-reminder")
_PERSON = ("", "real_user")  # who a user's record is from


class _Line(msgspec.Struct, gc=False, rename="camel"):
    """The fields of a line that are read."""

    uuid: object = None
    session_id: object = None
    timestamp: object = None
    type: object = None
    provenance: object = None
    cwd: object = None
    git_branch: object = None
    message: object = None
    system_payload: object = None
    is_sidechain: object = None
    agent_id: object = None


class _QwenReader(Reader[_Line]):
    """Ids are the records' and the places of their parts."""

    VARIABLE, USUAL = "QWEN_HOME", ".qwen"
    INSIDE = ("projects",)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:  # noqa: ARG002 - as all
        for line in self.first(lines):
            session = text_of(line.session_id)
            if session and line.type in _ROLES and _list_parts(line):
                agent = text_of(line.agent_id) if line.is_sidechain else ""
                return Identity(session, agent, text_of(line.cwd), text_of(line.git_branch))
        return None

    def begin(self, identity: Identity, before: bytes) -> Parse[_Line]:  # noqa: ARG002 - as all
        return _parse_line

    def list_folders(self, home: str, project: str) -> list[str]:
        return [f"{root}/projects/{name_folder(project)}" for root in self.list_roots(home)]


def _parse_line(line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
    key, at = text_of(line.uuid) or f"@{offset}", time_of(line.timestamp)
    role = _ROLES.get(text_of(line.type), "")
    base = identity.make_message(HOST, key, at, role, "")
    parts = _list_parts(line)
    if role in ("user", "assistant") and (text := _read_text(line, parts)):
        yield base._replace(text=text)
    for place, part in enumerate(parts if role in ("assistant", "tool") else []):
        call, answer = part.get("functionCall"), part.get("functionResponse")
        used = base._replace(id=f"{key}.{place}", role="tool")
        if isinstance(call, dict) and (given := arguments(call.get("args"))):
            yield used._replace(text=given, tool=text_of(call.get("name")) or "tool")
        response = answer.get("response") if isinstance(answer, dict) else None
        if isinstance(response, dict):
            text = text_of(response.get("output")) or text_of(response.get("error"))
            if put := cap(text.strip()):
                yield used._replace(text=put, tool="result")


def _list_parts(line: _Line) -> list[dict[str, object]]:
    parts = line.message.get("parts") if isinstance(line.message, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _read_text(line: _Line, parts: list[dict[str, object]]) -> str:
    """Return what was said; "" for a prompt of a program."""
    if line.type == "user" and text_of(line.provenance) not in _PERSON:
        return ""
    typed = line.system_payload.get("displayText") if isinstance(line.system_payload, dict) else ""
    return text_of(typed).strip() or remove_elements(_INJECTED, join_text(parts))


READER = _QwenReader(_Line)
