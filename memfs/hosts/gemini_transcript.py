"""Gemini's transcripts: a header, then a record a line; until 2026 one JSON object for all.

A record is written again when its tools have run: the later line replaces the earlier one. So a
transcript is read whole. `$set` brings what the model is given from there on: what was not said
before counts, what was stays as it was said. What was taken back (`$rewindTo`) was said.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from memfs.core.records import Identity, Message, Transcript
from memfs.files.account import find_named_folder
from memfs.hosts import transcript_files
from memfs.hosts.jsonl import JsonLines, arguments, cap, remove_elements, tags, text_of, time_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOST = "gemini"
_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_INJECTED = tags("hook_context", "session_context")
_WRAPPER = re.compile(r"</?untrusted_context>\n?")
_SUMMARY = "<state_snapshot>"
_NOT_TYPED = (
    _SUMMARY,
    "<session_context>",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
)
_OWN_WORDS = ("Got it. Thanks for the additional context!", "Please continue.")
_SESSION = re.compile(rb'"sessionId": ?"([^"\\]+)"')
_WORKSPACE = re.compile(r"\*\*Workspace Directories:\*\*\n\s*- ([^\n]+)")


class _Line(
    msgspec.Struct,
    gc=False,
    rename={
        "session": "sessionId",
        "project": "projectHash",
        "started": "startTime",
        "patch": "$set",
        "displayed": "displayContent",
        "calls": "toolCalls",
    },
):
    """What is looked at of a header, of a record, and of a record inside another."""

    session: object = None
    project: object = None
    started: object = None
    kind: object = None
    directories: object = None
    messages: object = None
    patch: object = None
    id: object = None
    type: object = None
    timestamp: object = None
    content: object = None
    parts: object = None
    displayed: object = None
    calls: object = None


_LINES = JsonLines(_Line)


def identify(lines: Iterable[bytes], path: str) -> Identity | None:
    """Tell whose session this is, from its first lines; None: not Gemini's."""
    head = list(lines)
    for line in _document(head) or _LINES.first(head):
        session = text_of(line.session)
        if session and line.type is None and (text_of(line.project) or time_of(line.started)):
            return _identity(session, line, head, path)
    joined = b"".join(head)
    named = _SESSION.search(joined)
    if named and b'"projectHash"' in joined and not any(_LINES.objects(head[0])):
        return _identity(named.group(1).decode("utf-8", "replace"), _Line(), head, path)
    return None


def _document(lines: list[bytes]) -> list[_Line]:
    """Return the one object of a file that is none on each line."""
    if not lines or _LINES.objects(lines[0])[0]:
        return []
    found, rest = _LINES.objects(joined := b"".join(lines))
    return list(found.values()) if rest == len(joined) and len(found) == 1 else []


def _identity(session: str, header: _Line, head: list[bytes], path: str) -> Identity:
    chats, _, inside = path.replace("\\", "/").rpartition("/chats/")
    parent, _, _ = inside.rpartition("/")
    project = _project(chats)
    if not project and isinstance(header.directories, list):
        project = text_of(next(iter(header.directories), None))
    for line in () if project else _LINES.first(head):
        found = [_text(record.content) for record in _inside(line.patch)]
        if told := _WORKSPACE.search("\n".join(found)):
            project = told.group(1)
            break
    if header.kind == "subagent":
        return Identity(parent or session, session, project, "", whole=True)
    return Identity(session, "", project, "", whole=True)


def read_transcript(
    data: bytes,
    identity: Identity,
    *,
    start: int,
    before: bytes = b"",  # noqa: ARG001 - each of its lines tells all of itself
) -> Transcript:
    """Read the messages of a whole transcript (`start` is 0).

    Their ids are the records' and those of their calls.
    """
    records = _Records()
    document = _document(data.splitlines(keepends=True)) if data[:1] in (b"{", b" ") else []
    if document:
        records.add(document[0], "0")
        found = Transcript([], start + len(data), 0, 1)
    else:
        found = _LINES.read(data, identity, start, records.collect)
    messages, used = records.messages(identity)
    return found._replace(messages=messages, left_out=max(0, found.left_out - used))


class _Records:
    """The records of a transcript as its lines left them, by id, in the order they came."""

    def __init__(self) -> None:
        self._found: dict[str, _Line] = {}
        self._said: set[tuple[str, str]] = set()

    def collect(self, line: _Line, _identity: Identity, offset: int) -> Iterable[Message]:
        """Take a line of the file."""
        self.add(line, f"@{offset}")
        return ()

    def add(self, line: _Line, place: str) -> None:
        """Take a record, or those inside of a header or a patch."""
        self._keep(line, place)
        for index, record in enumerate(_inside({"messages": line.messages})):
            self._keep(record, f"{place}.{index}")
        for index, record in enumerate(_inside(line.patch)):
            if text_of(record.id) not in self._found and _key(record) not in self._said:
                self._keep(record, f"{place}.{index}")

    def _keep(self, record: _Line, place: str) -> None:
        if text_of(record.type) in _ROLES:
            self._found[text_of(record.id) or place] = record
            self._said.add(_key(record))

    def messages(self, identity: Identity) -> tuple[list[Message], int]:
        """Return the messages, and how many records they are of."""
        found: dict[str, Message] = {}
        shown = any(_shows(record) for record in self._found.values())
        used = 0
        last = ""  # what was shown of the last prompt
        said: set[tuple[str, str]] = set()
        copied = False  # from a summary on, until something new is said
        for key, record in self._found.items():
            text = _own(record)
            again = _key(record) in said or text in _OWN_WORDS
            copied = (copied and again) or text.startswith(_SUMMARY)
            said.add(_key(record))
            if copied or (record.type == "user" and _is_feedback(record, last, shown=shown)):
                continue
            last = _text(record.displayed) or last
            new = list(_messages(record, key, text, identity))
            used += bool(new)
            for message in new:
                found.setdefault(message.id, message)
        return list(found.values()), used


def _inside(holder: object) -> Iterator[_Line]:
    """Yield the records in the messages of a header or a patch."""
    records = holder.get("messages") if isinstance(holder, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict):
            with suppress(ValueError, RecursionError):  # halves of characters in a key
                yield msgspec.convert(record, _Line)


def _shows(record: _Line) -> bool:
    return record.type == "user" and record.displayed is not None and _is_hooked(record)


def _is_hooked(record: _Line) -> bool:
    """Tell whether a hook added a part to a prompt."""
    parts = record.content if isinstance(record.content, list) else []
    return any(_text([part]).startswith("<hook_context>") for part in parts[1:])


def _is_feedback(record: _Line, last: str, *, shown: bool) -> bool:
    """Tell whether a prompt is what a hook said to keep the turn going.

    It has no text of its own to show, where prompts that hooks added to have one, or that of the
    prompt before it.
    """
    if record.displayed is None:
        return shown and _is_hooked(record)
    display = _text(record.displayed)
    return _is_hooked(record) and display == last and display not in _text(record.content)


def _own(record: _Line) -> str:
    """Return the text of a record without injections, "" for what nobody typed or said."""
    shown = record.displayed if record.type == "user" and record.displayed else record.content
    text = _text(shown) or _text(record.parts)
    if text.startswith(_SUMMARY):
        return text
    return remove_elements(_INJECTED, text)


def _key(record: _Line) -> tuple[str, str]:
    return text_of(record.type), _own(record)


def _text(value: object) -> str:
    """Return the text of parts: without thoughts, and without what tools put out."""
    if not isinstance(value, list):
        return text_of(value).strip()
    parts = [part for part in value if isinstance(part, dict) and not part.get("thought")]
    texts = [text_of(part.get("text")) for part in parts]
    return "\n".join(text for text in texts if text).strip()


def _messages(record: _Line, key: str, text: str, identity: Identity) -> Iterator[Message]:
    role, at, side = _ROLES[str(record.type)], time_of(record.timestamp), bool(identity.agent)
    base = Message(
        key, identity.session, HOST, identity.project, identity.branch, at, role, text, side=side
    )
    if text and text not in _OWN_WORDS and not (role == "user" and text.startswith(_NOT_TYPED)):
        yield base
    calls = record.calls if isinstance(record.calls, list) else []
    for index, call in enumerate(calls):
        if not isinstance(call, dict):
            continue
        ident = f"{key}.{text_of(call.get('id')) or index}"
        used = base._replace(id=ident, role="tool", at=time_of(call.get("timestamp")) or at)
        if given := arguments(call.get("args")):
            yield used._replace(text=given, tool=text_of(call.get("name")) or "tool")
        if put := cap(_output(call)):
            yield used._replace(id=f"{ident}.result", text=put, tool="result")


def _output(call: dict[str, object]) -> str:
    """Return what a tool put out, without what hooks added for the model."""
    result = call.get("result")
    texts = []
    for part in result if isinstance(result, list) else [result]:
        answer = part.get("functionResponse") if isinstance(part, dict) else part
        response = answer.get("response") if isinstance(answer, dict) else answer
        if isinstance(response, dict):
            response = response.get("output", response.get("error"))
        texts.append(text_of(response))
    text = "\n".join(text for text in texts if text) or text_of(call.get("resultDisplay"))
    return _WRAPPER.sub("", remove_elements(_INJECTED, text)).strip()


def list_folders(home: str, project: str) -> list[str]:  # noqa: ARG001 - one of a project comes later
    """List the folders below which transcripts may come to be."""
    return [f"{root}/.gemini/tmp" for root in _roots(home)]


def _roots(home: str) -> list[str]:
    return transcript_files.list_roots(find_named_folder("GEMINI_CLI_HOME"), home)


def list_transcripts(home: str, project: str) -> Iterable[str]:
    """List the transcripts kept for a project ("": all) and the folders below it, oldest first."""
    chats = [
        f"{each}/chats"
        for folder in list_folders(home, project)
        for each in transcript_files.list_folders(folder)
        if _is_of(each, project)
    ]
    return transcript_files.sort_by_age(path for folder in chats for path in _chats(folder))


def _chats(folder: str) -> Iterator[str]:
    yield from transcript_files.list_files(folder, "", ".jsonl")
    yield from transcript_files.list_files(folder, "session-", ".json")


def _is_of(folder: str, project: str) -> bool:
    """Tell whether a folder is a project's ("": any); the older ones are named by a hash of it."""
    root = _project(folder)
    if root or not project:
        return transcript_files.is_inside(root, project)
    return os.path.basename(folder) == _hashed(project)


def _project(folder: str) -> str:
    """Return the project whose chats a folder is for, "" if that is not told."""
    with suppress(OSError, ValueError), open(f"{folder}/.project_root", encoding="utf-8") as handle:
        if told := handle.read(4096).strip():
            return told
    root, name = os.path.dirname(os.path.dirname(folder)), os.path.basename(folder)
    with suppress(OSError, ValueError, AttributeError), open(f"{root}/projects.json", "rb") as file:
        for path, named in json.loads(file.read()).get("projects").items():
            if name in (named, _hashed(path)):
                return str(path)
    return ""


def _hashed(project: str) -> str:
    return hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()
