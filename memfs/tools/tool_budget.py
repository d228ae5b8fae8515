"""The tools that a small window has room for: said shortly, and in the end fewer of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from memfs.context.brief_text import TOOLS
from memfs.core.tokens import estimate
from memfs.tools import catalog, provider_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.tools.definition import Tool

_SPARE = ("reason", "expected_version")  # arguments that a model can do without


def fit_tools(tools: Sequence[Tool], room: int) -> list[Tool]:
    """Return tools whose definitions have at most `room` tokens, as far as that can be done.

    All of them as they are; else with the first words of their descriptions; else without those of
    memfs that a model can do without.
    """
    short = [_short(tool) for tool in tools]
    few = [tool for tool in short if tool.name in TOOLS or not _is_ours(tool)]
    for found in (list(tools), short):
        if tokens(found) <= room:
            return found
    return few


def tokens(tools: Sequence[Tool]) -> int:
    """Return about how many tokens the definitions of tools have."""
    return estimate(json.dumps(provider_formats.definitions(tools, "openai"))) if tools else 0


def _short(tool: Tool) -> Tool:
    kept = [each for each in tool.parameters if each.required or each.name not in _SPARE]
    return replace(
        tool,
        description=tool.description.partition("\n\n")[0],
        parameters=tuple(replace(each, description="") for each in kept),
    )


def _is_ours(tool: Tool) -> bool:
    return any(tool.name == ours.name for ours in catalog.BUILT_IN)
