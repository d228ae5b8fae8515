"""Qwen Code's transcripts: a record a line, with the parts of messages as Gemini has them.

What a person typed stands beside the parts where a hook or the program added some to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from memfs.core.records import Identity, Message, Transcript
from memfs.files.account import find_named_folder
from memfs.hosts import transcript_files
from memfs.hosts.claude_transcript import name_folder
from memfs.hosts.gemini_transcript import join_text
from memfs.hosts.jsonl import JsonLines, arguments, cap, remove_elements, tags, text_of, time_of

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


_LINES = JsonLines(_Line)


def identify(lines: Iterable[bytes], path: str) -> Identity | None:  # noqa: ARG001 - as every reader
    """Return the session of a transcript by its first lines; None: not Qwen Code's."""
    for line in _LINES.first(lines):
        session = text_of(line.session_id)
        if session and line.type in _ROLES and _list_parts(line):
            agent = text_of(line.agent_id) if line.is_sidechain else ""
            return Identity(session, agent, text_of(line.cwd), text_of(line.git_branch))
    return None


def read_transcript(
    data: bytes, identity: Identity, *, start: int, before: bytes = b""
) -> Transcript:
    """Read the messages of whole lines. Ids are the records' and the places of their parts."""
    del before
    return _LINES.read(data, identity, start, _parse_line)


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


def list_folders(home: str, project: str) -> list[str]:
    """List the folders below which transcripts of a project may come to be."""
    return [f"{root}/projects/{name_folder(project)}" for root in _list_roots(home)]


def _list_roots(home: str) -> list[str]:
    return transcript_files.list_roots(find_named_folder("QWEN_HOME"), f"{home}/.qwen")


def list_transcripts(home: str, project: str) -> list[str]:
    """List the transcripts kept for a project ("": all) and the folders below it, oldest first."""
    paths = [
        path
        for root in _list_roots(home)
        for path in transcript_files.list_files(f"{root}/projects", "", ".jsonl")
    ]
    return transcript_files.sort_by_age(
        path for path in paths if transcript_files.mentions_project(path, project)
    )
