"""Fits tools into a small window: with shorter descriptions, then with fewer tools."""

from __future__ import annotations

import json
from collections.abc import Sequence

from memfs.core.settings import SMALL
from memfs.core.tokens import estimate
from memfs.tools import catalog, provider_formats
from memfs.tools.definition import Tool

_SPARE = ("reason", "expected_version")  # arguments that can be left out


def fit_tools(tools: Sequence[Tool], room: int) -> list[Tool]:
    """Return tools whose definitions have at most `room` tokens, as far as that can be done.

    All of them unchanged; else with the first paragraph of their descriptions; else of those of
    memfs only the ones in `SMALL`.
    """
    short = [_shorten(tool) for tool in tools]
    few = [tool for tool in short if tool.name in SMALL or not _is_ours(tool)]
    for found in (list(tools), short):
        if tokens(found) <= room:
            return found
    return few


def tokens(tools: Sequence[Tool]) -> int:
    """Estimate the tokens of the definitions of tools."""
    return estimate(json.dumps(provider_formats.definitions(tools, "openai"))) if tools else 0


def _shorten(tool: Tool) -> Tool:
    kept = [each for each in tool.parameters if each.required or each.name not in _SPARE]
    return tool.with_changes(
        description=tool.description.partition("\n\n")[0],
        parameters=tuple(each.without_description() for each in kept),
    )


def _is_ours(tool: Tool) -> bool:
    return any(tool.name == ours.name for ours in catalog.BUILT_IN)
