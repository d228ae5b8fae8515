"""Gemini's transcripts: a header, then a record a line; until 2026 one JSON object for all.

A record is written again when its tools have run: the later line replaces the earlier one. So a
transcript is read whole. `$set` brings what the model is given from there on: what was not said
before counts, what was stays as it was said. What was taken back (`$rewindTo`) was said.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec

from memfs.core.records import Identity, Message, Transcript
from memfs.files.account import find_named_folder
from memfs.hosts import transcript_files
from memfs.hosts.jsonl import Reader, arguments, cap, remove_elements, tags, text_of, time_of

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
    """The fields that are read of a header, of a record, and of a record inside another."""

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


class _GeminiReader(Reader[_Line]):
    """Ids are the records' and those of their calls."""

    VARIABLE = "GEMINI_CLI_HOME"
    INSIDE = (".gemini/tmp",)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        head = list(lines)
        for line in self._parse_document(head) or self.first(head):
            session = text_of(line.session)
            if session and line.type is None and (text_of(line.project) or time_of(line.started)):
                return self._make_identity(session, line, head, path)
        joined = b"".join(head)
        named = _SESSION.search(joined)
        if named and b'"projectHash"' in joined and not any(self.objects(head[0])):
            session = named.group(1).decode("utf-8", "replace")
            return self._make_identity(session, _Line(), head, path)
        return None

    def _parse_document(self, lines: list[bytes]) -> list[_Line]:
        """Return the single object of a file whose lines are no objects; [] for another file."""
        if not lines or self.objects(lines[0])[0]:
            return []
        found, rest = self.objects(joined := b"".join(lines))
        return list(found.values()) if rest == len(joined) and len(found) == 1 else []

    def _make_identity(self, session: str, header: _Line, head: list[bytes], path: str) -> Identity:
        chats, _, inside = path.replace("\\", "/").rpartition("/chats/")
        parent, _, _ = inside.rpartition("/")
        project = _find_project(chats)
        if not project and isinstance(header.directories, list):
            project = text_of(next(iter(header.directories), None))
        for line in () if project else self.first(head):
            found = [join_text(record.content) for record in _yield_records(line.patch)]
            if workspace := _WORKSPACE.search("\n".join(found)):
                project = workspace.group(1)
                break
        if header.kind == "subagent":
            return Identity(parent or session, session, project, "", whole=True)
        return Identity(session, "", project, "", whole=True)

    def read_transcript(
        self, data: bytes, identity: Identity, *, start: int, before: bytes = b""
    ) -> Transcript:
        """Read the messages of a whole transcript (`start` is 0)."""
        del before
        records = _Records()
        is_object = data[:1] in (b"{", b" ")
        document = self._parse_document(data.splitlines(keepends=True)) if is_object else []
        if document:
            records.add(document[0], "0")
            found = Transcript([], start + len(data), 0, 1)
        else:
            found = self.read_lines(data, identity, start, records.collect)
        messages, used = records.messages(identity)
        return found._replace(messages=messages, left_out=max(0, found.left_out - used))

    def list_roots(self, home: str) -> list[str]:
        return transcript_files.list_roots(find_named_folder(self.VARIABLE), home)

    def list_transcripts(self, home: str, project: str) -> list[str]:
        folders = list_project_folders(home, project)
        return transcript_files.sort_by_age(
            path for folder in folders for path in _list_chats(f"{folder}/chats")
        )


class _Records:
    """The records of a transcript as its lines left them, by id, in the order they came."""

    def __init__(self) -> None:
        self._found: dict[str, _Line] = {}
        self._said: set[tuple[str, str]] = set()

    def collect(self, line: _Line, _identity: Identity, offset: int) -> Iterable[Message]:
        """Add a line of the file; yields no messages."""
        self.add(line, f"@{offset}")
        return ()

    def add(self, line: _Line, place: str) -> None:
        """Add a record, or the records of a header or a patch."""
        self._keep(line, place)
        for index, record in enumerate(_yield_records({"messages": line.messages})):
            self._keep(record, f"{place}.{index}")
        for index, record in enumerate(_yield_records(line.patch)):
            if text_of(record.id) not in self._found and _make_key(record) not in self._said:
                self._keep(record, f"{place}.{index}")

    def _keep(self, record: _Line, place: str) -> None:
        if text_of(record.type) in _ROLES:
            self._found[text_of(record.id) or place] = record
            self._said.add(_make_key(record))

    def messages(self, identity: Identity) -> tuple[list[Message], int]:
        """Return the messages, and the number of records they come from."""
        found: dict[str, Message] = {}
        shown = any(_is_displayed(record) for record in self._found.values())
        used = 0
        last = ""  # display text of the last prompt
        seen: set[tuple[str, str]] = set()
        copied = False  # from a summary on, until a new message
        for key, record in self._found.items():
            text = _clean_text(record)
            again = _make_key(record) in seen or text in _OWN_WORDS
            copied = (copied and again) or text.startswith(_SUMMARY)
            seen.add(_make_key(record))
            if copied or (record.type == "user" and _is_feedback(record, last, shown=shown)):
                continue
            last = join_text(record.displayed) or last
            new = list(_parse_record(record, key, text, identity))
            used += bool(new)
            for message in new:
                found.setdefault(message.id, message)
        return list(found.values()), used


def _yield_records(holder: object) -> Iterator[_Line]:
    """Yield the records in the messages of a header or a patch."""
    records = holder.get("messages") if isinstance(holder, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict):
            with suppress(ValueError, RecursionError):  # halves of characters in a key
                yield msgspec.convert(record, _Line)


def _is_displayed(record: _Line) -> bool:
    return record.type == "user" and record.displayed is not None and _is_hooked(record)


def _is_hooked(record: _Line) -> bool:
    """Return whether a hook added a part to a prompt."""
    parts = record.content if isinstance(record.content, list) else []
    return any(join_text([part]).startswith("<hook_context>") for part in parts[1:])


def _is_feedback(record: _Line, last: str, *, shown: bool) -> bool:
    """Return whether a prompt is the reason of a hook that kept the turn going.

    Such a prompt has no display text, where other prompts with a hook's part do, or the display
    text of the prompt before it.
    """
    if record.displayed is None:
        return shown and _is_hooked(record)
    display = join_text(record.displayed)
    return _is_hooked(record) and display == last and display not in join_text(record.content)


def _clean_text(record: _Line) -> str:
    """Return the text of a record without injections."""
    shown = record.displayed if record.type == "user" and record.displayed else record.content
    text = join_text(shown) or join_text(record.parts)
    if text.startswith(_SUMMARY):
        return text
    return remove_elements(_INJECTED, text)


def _make_key(record: _Line) -> tuple[str, str]:
    return text_of(record.type), _clean_text(record)


def join_text(value: object) -> str:
    """Return the text of parts, without thoughts and tools' output."""
    if not isinstance(value, list):
        return text_of(value).strip()
    parts = [part for part in value if isinstance(part, dict) and not part.get("thought")]
    texts = [text_of(part.get("text")) for part in parts]
    return "\n".join(text for text in texts if text).strip()


def _parse_record(record: _Line, key: str, text: str, identity: Identity) -> Iterator[Message]:
    role, at = _ROLES[str(record.type)], time_of(record.timestamp)
    base = identity.make_message(HOST, key, at, role, text)
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
        if put := cap(_extract_output(call)):
            yield used._replace(id=f"{ident}.result", text=put, tool="result")


def _extract_output(call: dict[str, object]) -> str:
    """Return a tool's output, without what hooks added for the model."""
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


READER = _GeminiReader(_Line)


def list_project_folders(home: str, project: str) -> list[str]:
    """List Gemini's folders of a project ("": all), which hold its chats and its memory."""
    return [
        each
        for folder in READER.list_folders(home, project)
        for each in transcript_files.list_folders(folder)
        if _is_of(each, project)
    ]


def _list_chats(folder: str) -> Iterator[str]:
    yield from transcript_files.list_files(folder, "", ".jsonl")
    yield from transcript_files.list_files(folder, "session-", ".json")


def _is_of(folder: str, project: str) -> bool:
    """Return whether a folder is of a project ("": any); older ones are named by a hash of it."""
    root = _find_project(folder)
    if root or not project:
        return transcript_files.is_inside(root, project)
    return os.path.basename(folder) == _hash_path(project)


def _find_project(folder: str) -> str:
    """Return the project of a folder of chats, "" if it is unknown."""
    with suppress(OSError, ValueError), open(f"{folder}/.project_root", encoding="utf-8") as handle:
        if text := handle.read(4096).strip():
            return text
    root, name = os.path.dirname(os.path.dirname(folder)), os.path.basename(folder)
    with suppress(OSError, ValueError, AttributeError), open(f"{root}/projects.json", "rb") as file:
        for path, named in json.loads(file.read()).get("projects").items():
            if name in (named, _hash_path(path)):
                return str(path)
    return ""


def _hash_path(project: str) -> str:
    return hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()
