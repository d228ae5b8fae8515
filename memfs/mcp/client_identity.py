"""Identifies a client: its host, and the session that calls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from memfs import hosts
from memfs.core.errors import MemfsError
from memfs.core.privacy import excerpt
from memfs.store import blocks, host_sessions

# The beginning of a client's name, and the name of its host in memfs.
_HOSTS = (
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("copilot", "copilot"),
    ("github-copilot", "copilot"),
    ("opencode", "opencode"),
    ("cursor", "cursor"),
)


def host_of(client: str) -> str:
    """Return the host of a client, by the client's name."""
    folded = client.lower()
    return next((name for start, name in _HOSTS if folded.startswith(start)), excerpt(folded, 40))


def session_of(
    host: str, meta: Mapping[str, object], folder: str, environment: Mapping[str, str]
) -> str:
    """Return the id of the host's session, "" if it is unknown.

    Codex passes it with each call (`_meta`): it starts servers with hardly an environment, and
    several of its sessions may share one. Others pass it to hooks, which note it, or once to the
    server, which misses later changes (`/clear`).
    """
    ident = meta.get("sessionId")
    if ident and isinstance(ident, str):
        return ident
    noted = ""
    with suppress(MemfsError):  # a store that is broken: calls say so
        place = blocks.find_serving(folder, "")
        noted = host_sessions.session(place.home) if place else ""
    return noted or hosts.session_of(host, environment)
