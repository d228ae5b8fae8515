"""Which assistant a client is, and which of its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs import hosts

if TYPE_CHECKING:
    from collections.abc import Mapping

# How clients name themselves begins so; the host is called so everywhere else.
_HOSTS = (
    ("claude", "claude"), ("codex", "codex"), ("gemini", "gemini"), ("copilot", "copilot"),
    ("github-copilot", "copilot"), ("opencode", "opencode"), ("cursor", "cursor"),
)  # fmt: skip


def host_of(client: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the host that a client's name stands for, and its session as far as it says."""
    folded = client.lower()
    host = next((name for start, name in _HOSTS if folded.startswith(start)), folded[:40])
    return host, hosts.running(environment)[0]
