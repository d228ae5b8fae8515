"""Lines of Claude Code transcripts, as short as they can be and still be read."""

import json
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures" / "claude"
SESSION = "5e551011-0000-4000-8000-000000000001"


def line(kind: str, content: object, uuid: str = "", **more: object) -> bytes:
    """A user or assistant line with its line end."""
    made: dict[str, object] = {
        "type": kind,
        "message": {"role": kind, "content": content},
        "sessionId": SESSION,
        "cwd": "/home/dev/shop",
        "gitBranch": "main",
        "timestamp": "2026-05-03T10:00:00.000Z",
    }
    if uuid:
        made["uuid"] = uuid
    return json.dumps({**made, **more}).encode() + b"\n"


def user(text: str, uuid: str = "", **more: object) -> bytes:
    return line("user", text, uuid, **more)


def assistant(text: str, uuid: str = "", **more: object) -> bytes:
    return line("assistant", [{"type": "text", "text": text}], uuid, **more)


def conversation(count: int, first: int = 0) -> bytes:
    """User and assistant by turns, with uuids u0, u1, …"""
    return b"".join(
        (user if number % 2 == 0 else assistant)(f"turn number {number}", f"u{number}")
        for number in range(first, first + count)
    )
