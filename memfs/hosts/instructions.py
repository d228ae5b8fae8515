"""Files that assistants read by themselves at the start of a session: those that can be synced."""

from __future__ import annotations

from typing import NamedTuple

MARKS = ("<!-- memfs: begin -->", "<!-- memfs: end -->")  # of our section in them


class InstructionFile(NamedTuple):
    """A file, relative to the project, and the head of one that we create."""

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
        InstructionFile("agents", "AGENTS.md"),
        InstructionFile("claude", "CLAUDE.md"),
        InstructionFile("gemini", "GEMINI.md"),
        InstructionFile("cursor", ".cursor/rules/memfs.mdc", _CURSOR),
        InstructionFile("copilot", ".github/copilot-instructions.md"),
        InstructionFile("windsurf", ".windsurfrules"),
    )
}
