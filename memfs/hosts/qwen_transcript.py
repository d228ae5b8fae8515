"""Qwen Code's transcripts: a record a line, with the parts of messages as Gemini has them.

What a person typed stands beside the parts where a hook or the program added some to it.
"""

from collections.abc import Iterable, Iterator

import msgspec

from memfs.core.records import Identity, Message
from memfs.hosts import jsonl
from memfs.hosts.claude_transcript import name_folder
from memfs.hosts.gemini_transcript import join_text

HOST = "qwen"
_ROLES = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
_INJECTED = jsonl.tags("qwen:user-prompt-submit-context", "system-reminder")
_PERSON = ("", "real_user")  # who a user's record is from


class _Line(msgspec.Struct, gc=False, rename="camel"):
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


class _QwenReader(jsonl.Reader[_Line]):
    """Ids are the records' and the places of their parts."""

    VARIABLE, USUAL = "QWEN_HOME", ".qwen"
    INSIDE = ("projects",)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:  # noqa: ARG002 - as all
        for line in self.first(lines):
            session = jsonl.text_of(line.session_id)
            if session and line.type in _ROLES and _list_parts(line):
                agent = jsonl.text_of(line.agent_id) if line.is_sidechain else ""
                return Identity(
                    session, agent, jsonl.text_of(line.cwd), jsonl.text_of(line.git_branch)
                )
        return None

    def list_folders(self, home: str, project: str) -> list[str]:
        return [f"{root}/projects/{name_folder(project)}" for root in self.list_roots(home)]


def _parse_line(line: _Line, identity: Identity, offset: int) -> Iterator[Message]:
    key, at = jsonl.text_of(line.uuid) or f"@{offset}", jsonl.time_of(line.timestamp)
    role = _ROLES.get(jsonl.text_of(line.type), "")
    base = identity.make_message(HOST, key, at, role, "")
    parts = _list_parts(line)
    if role in ("user", "assistant") and (text := _read_text(line, parts)):
        yield base._replace(text=text)
    for place, part in enumerate(parts if role in ("assistant", "tool") else []):
        call, response = (
            part.get("functionCall"),
            jsonl.get(part.get("functionResponse"), "response"),
        )
        used = base._replace(id=f"{key}.{place}", role="tool")
        if isinstance(call, dict) and (given := jsonl.arguments(call.get("args"))):
            yield used._replace(text=given, tool=jsonl.get_text(call, "name") or "tool")
        text = jsonl.get_text(response, "output") or jsonl.get_text(response, "error")
        if put := jsonl.cap(text.strip()):
            yield used._replace(text=put, tool="result")


def _list_parts(line: _Line) -> list[dict[str, object]]:
    return jsonl.list_objects(jsonl.get(line.message, "parts"))


def _read_text(line: _Line, parts: list[dict[str, object]]) -> str:
    """Return what was said; "" for a prompt of a program."""
    if line.type == "user" and jsonl.text_of(line.provenance) not in _PERSON:
        return ""
    typed = jsonl.get_text(line.system_payload, "displayText").strip()
    return typed or jsonl.remove_elements(_INJECTED, join_text(parts))


READER = _QwenReader(_Line, _parse_line)
