"""All tools: those of memfs, what the configuration changes about them, and those of others.

A description is a file of `templates/tools`: it says when and why, not only what.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memfs.store import shipped
from memfs.tools import archival, conversation, core_memory, files

if TYPE_CHECKING:
    from memfs.tools.definition import Tool

BUILT_IN = (*core_memory.TOOLS, *archival.TOOLS, *conversation.TOOLS, *files.TOOLS)


def built_in() -> dict[str, Tool]:
    """Return the tools of memfs by name, with their descriptions."""
    return {
        tool.name: replace(tool, description=shipped.text("templates", "tools", f"{tool.name}.md"))
        for tool in BUILT_IN
    }
