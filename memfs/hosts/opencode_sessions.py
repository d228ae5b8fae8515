"""opencode's sessions: rows of a database for messages and their parts, or an export as JSON.

What was said are parts of type text; those that are `synthetic` were put in by programs. Messages
change while they are written, so a session is read whole whenever it changed.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct

from memfs.core.records import Identity, Message, Transcript
from memfs.files import database
from memfs.hosts import opencode, transcript_files
from memfs.hosts.jsonl import Reader, arguments, cap, format_milliseconds, get, get_text, text_of

HOST = "opencode"
_MARKED = """
    SELECT s.id, s.parent_id, s.directory, s.time_updated,
        (SELECT count(*) || '/' || coalesce(max(m.time_updated), 0)
            FROM message m WHERE m.session_id = s.id),
        (SELECT count(*) || '/' || coalesce(max(p.time_updated), 0)
            FROM part p WHERE p.session_id = s.id)
    FROM session s WHERE ? IN ('', s.id, s.parent_id) ORDER BY s.time_created, s.id
"""
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"


class _OpenCodeReader(Reader[Struct]):
    """Reads exports, and is the `Collection` of databases."""

    def sessions(self, path: str, head: bytes, project: str, session: str = "") -> list[Identity]:
        """List the sessions in a database, the oldest first."""
        if not head.startswith(database.MAGIC):
            return []
        with database.open_database(path) as base:
            if not {"session", "message", "part"} <= {*base.list_tables()}:
                return []  # somebody else's database
            rows = list(base.run_query(_MARKED, (session,)))
        found = []
        for ident, parent, directory, *marks in rows:
            folder = text_of(directory)
            if not text_of(ident) or (project and not transcript_files.is_inside(folder, project)):
                continue
            mark = " ".join(str(mark) for mark in marks)
            found.append(Identity(*_split_names(ident, parent), folder, "", whole=True, mark=mark))
        return found

    def read_session(self, path: str, identity: Identity) -> Transcript:
        """Read one session of a database; rows that hold no JSON are counted."""
        session = identity.agent or identity.session
        with database.open_database(path) as base:
            rows = list(base.run_query(_MESSAGES, (session,)))
            parts = list(base.run_query(_PARTS, (session,)))
        messages: dict[str, tuple[object, list[object]]] = {}
        malformed = 0
        for ident, data in rows:
            info = _parse_object(data)
            malformed += info is None
            messages[str(ident)] = info, []
        for message, ident, data in parts:
            part = _parse_object(data)
            malformed += part is None
            if part is not None and message in messages:
                messages[message][1].append({**part, "id": ident})
        found, left_out = _collect(
            ((ident, *message) for ident, message in messages.items()), identity
        )
        return Transcript(found, 0, malformed, left_out)

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:  # noqa: ARG002 - as all
        head = b"".join(lines)
        if not head.lstrip().startswith(b"{") or b'"info"' not in head[:1000]:
            return None
        made = _parse_object(head) or _parse_object(_close_head(head))
        info = made.get("info") if made else None
        if not isinstance(info, dict) or not text_of(info.get("projectID")):
            return None
        session = text_of(info.get("id"))
        names = _split_names(session, info.get("parentID"))
        return Identity(*names, text_of(info.get("directory")), "", whole=True) if session else None

    def read_transcript(
        self, data: bytes, identity: Identity, *, start: int, before: bytes = b""
    ) -> Transcript:
        """Read the messages of an export, which is whole (`start` is 0)."""
        del before
        made = _parse_object(data)
        messages = made.get("messages") if made else None
        each = [
            (get_text(get(message, "info"), "id"), message.get("info"), message.get("parts"))
            for message in (messages if isinstance(messages, list) else [])
            if isinstance(message, dict)
        ]
        found, left_out = _collect(each, identity)
        return Transcript(found, start + len(data), int(made is None), left_out)

    def list_roots(self, home: str) -> list[str]:  # noqa: ARG002 - our plugin reports changes
        return []

    def list_transcripts(self, home: str, project: str) -> list[str]:
        """List the databases that have sessions of a project, or cannot be read."""
        found = []
        for path in opencode.HOST.list_databases(home):
            try:
                with open(path, "rb") as handle:
                    head = handle.read(len(database.MAGIC))
                if self.sessions(path, head, project):
                    found.append(path)
            except FileNotFoundError:
                continue
            except OSError:
                found.append(path)
        return found


def _split_names(session: object, parent: object) -> tuple[str, str]:
    """Return the ids of a session and an agent; a subagent's session has a parent."""
    own, above = text_of(session), text_of(parent)
    return (above, own) if above else (own, "")


def _close_head(head: bytes) -> bytes:
    """Return the part before the messages, closed as a JSON object."""
    before, found, _ = head.partition(b'"messages"')
    return before.rstrip().removesuffix(b",") + b"}" if found else b""


def _collect(
    messages: Iterable[tuple[str, object, object]], identity: Identity
) -> tuple[list[Message], int]:
    """Return the messages of (id, info, parts), and the number of those without any."""
    found: dict[str, Message] = {}
    left_out = 0
    for place, (ident, info, parts) in enumerate(messages):
        new = list(_read_parts(ident or f"@{place}", info, parts, identity))
        left_out += not new
        for message in new:
            found.setdefault(message.id, message)
    return list(found.values()), left_out


def _read_parts(ident: str, info: object, parts: object, identity: Identity) -> Iterator[Message]:
    role = get_text(info, "role")
    if (
        role not in ("user", "assistant")
        or not isinstance(info, dict)
        or info.get("summary") is True
    ):
        return
    at = format_milliseconds(get(get(info, "time"), "created"))
    base = identity.make_message(HOST, ident, at, role, "")
    for place, part in enumerate(parts if isinstance(parts, list) else []):
        if not isinstance(part, dict) or part.get("synthetic") or part.get("ignored"):
            continue
        base = base._replace(id=text_of(part.get("id")) or f"{ident}.{place}")
        if part.get("type") == "text":
            text = text_of(part.get("text")).strip()
            text = _unquote(text) if role == "user" else text
            if text:
                yield base._replace(text=text)
        elif part.get("type") == "tool":
            yield from _parse_tool(part, base._replace(role="tool"))


def _parse_tool(part: dict[str, object], base: Message) -> Iterator[Message]:
    """Yield the call of a tool and its output."""
    state = part.get("state")
    if not isinstance(state, dict):
        return
    times = state.get("time")
    if tool_input := arguments(state.get("input")):
        name = text_of(part.get("tool")) or "tool"
        yield base._replace(
            text=tool_input, tool=name, at=format_milliseconds(get(times, "start")) or base.at
        )
    output = text_of(state.get("output")) or text_of(state.get("error"))
    if put := cap(output.strip()):
        at = format_milliseconds(get(times, "end")) or base.at
        yield base._replace(id=f"{base.id}.result", text=put, tool="result", at=at)


def _unquote(text: str) -> str:
    """Return a prompt without the quotes that `opencode run` adds."""
    inner = text[1:-1].replace('\\"', "\0")
    if len(text) < 3 or text[0] + text[-1] != '""' or " " not in inner or '"' in inner:
        return text
    return inner.replace("\0", '"').strip()


def _parse_object(data: object) -> dict[str, object] | None:
    with suppress(ValueError, RecursionError):
        found = json.loads(data) if isinstance(data, str | bytes) else None
        return found if isinstance(found, dict) else None
    return None


READER = _OpenCodeReader(Struct)
