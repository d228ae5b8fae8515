"""Files that assistants read by themselves at the start of a session: those that can be synced."""

from __future__ import annotations

from typing import NamedTuple

MARKS = ("<!-- memfs: begin -->", "<!-- memfs: end -->")  # of our section in them


class Target(NamedTuple):
    """A file, relative to the project, and what must be at its top where we make it."""

    name: str
    path: str
    head: str = ""


_CURSOR = """\
---
description: The memory of this project, kept by memfs
globs:
alwaysApply: true
---
"""

TARGETS = {
    target.name: target
    for target in (
        Target("agents", "AGENTS.md"),
        Target("claude", "CLAUDE.md"),
        Target("gemini", "GEMINI.md"),
        Target("cursor", ".cursor/rules/memfs.mdc", _CURSOR),
        Target("copilot", ".github/copilot-instructions.md"),
        Target("windsurf", ".windsurfrules"),
    )
}
