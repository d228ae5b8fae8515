"""Messages as documents of the index."""

from __future__ import annotations

import functools
import zlib
from datetime import UTC, datetime

from memfs.core.records import Message

_WEIGHTS = {"assistant": 85, "tool": 70}  # percent of the weight of a user's message


def document(message: Message) -> dict[str, object]:
    """Return the document of a message."""
    found = {
        "id": f"{message.host}/{message.session}/{message.id}",
        "kind": "message",
        "text": message.text,
        "role": message.role,
        "host": message.host,
        "session": message.session,
        "project": message.project,
        "branch": message.branch,
        "group": _hash_session(message.host, message.session),
        "weight": _WEIGHTS.get(message.role, 100),
        "at": epoch(message.at) or 0,
        "time": message.at,
    }
    return {**found, "speaker": message.speaker} if message.speaker else found


@functools.lru_cache(64)
def _hash_session(host: str, session: str) -> int:
    """Return the number that groups the turns of a session, 0 for a turn without a session."""
    if not session:
        return 0
    return zlib.crc32(f"{host}/{session}".encode("utf-8", "replace")) or 1


def epoch(text: str) -> int | None:
    """Return the seconds since 1970 of an ISO 8601 time (UTC if it names no zone), or None."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
