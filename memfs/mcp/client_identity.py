"""Which assistant a client is, and which of its sessions calls."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.core.errors import MemfsError
from memfs.core.privacy import excerpt
from memfs.store import blocks, host_sessions

if TYPE_CHECKING:
    from collections.abc import Mapping

# How clients name themselves begins so; the host is called so everywhere else.
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
    """Return the host that a client's name stands for."""
    folded = client.lower()
    return next((name for start, name in _HOSTS if folded.startswith(start)), excerpt(folded, 40))


def session_of(
    host: str, meta: Mapping[str, object], folder: str, environment: Mapping[str, str]
) -> str:
    """Return the host's session, as far as it says.

    Codex says it with each call (`_meta`): it starts servers with hardly an environment, and
    several of its sessions may share one. Others say it to hooks, which note it, or once to the
    server, whatever session comes after that (`/clear`).
    """
    told = meta.get("sessionId")
    if told and isinstance(told, str):
        return told
    noted = ""
    with suppress(MemfsError):  # a store that is broken: calls say so
        place = blocks.find_serving(folder, "")
        noted = host_sessions.session(place.home) if place else ""
    return noted or hosts.session_of(host, environment)
