"""Fits tools into a small window: what doubles another goes first, then descriptions are cut.

The tools that memory is managed with are whole as long as they leave half of the window's room.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from memfs.core.tokens import estimate
from memfs.tools import catalog, provider_formats
from memfs.tools.definition import Tool

_CORE = (
    *("core_memory_append", "core_memory_replace", "memory_create", "memory_rethink"),
    *("archival_memory_insert", "archival_memory_search", "memory_page_in", "memory_page_out"),
)
_DOUBLES = (  # others do the same
    *("memory", "memory_insert", "memory_rename", "memory_delete"),
    *("memory_search", "memory_read"),
)
_LAST = ("core_memory_read", "conversation_search")  # the last ones beside those of `_CORE`
_MOST = 2.25  # times the share of tools: those of `_CORE` may take so much
_SPARE = ("reason", "expected_version")  # arguments that can be left out


def fit_tools(tools: Sequence[Tool], room: int) -> list[Tool]:
    """Return tools whose definitions have at most `room` tokens, as far as that can be done.

    The tools of a plugin or of `tools.add` always stay.
    """
    ours = {tool.name for tool in catalog.BUILT_IN}
    single = [tool for tool in tools if tool.name not in _DOUBLES]
    few = [tool for tool in single if tool.name in (*_CORE, *_LAST) or tool.name not in ours]
    for found in (list(tools), single):
        if tokens(found) <= room:
            return found
    for some, core in ((single, None), (few, None), (few, _condense), (few, _shorten)):
        found = [
            (core(tool) if core else tool) if tool.name in _CORE else _shorten(tool)
            for tool in some
        ]
        if tokens(found) <= _MOST * room:
            break
    return found


def tokens(tools: Sequence[Tool]) -> int:
    """Estimate the tokens of the definitions of tools."""
    return estimate(json.dumps(provider_formats.definitions(tools, "openai"))) if tools else 0


def _condense(tool: Tool) -> Tool:
    """Return a tool whose description says what it does, and has one example."""
    start, _, examples = tool.description.partition("\n\nExample")
    example = examples.strip().partition("\n")[2].partition("\n")[0]
    text = start.partition("\n\n")[0]
    return _shorten(tool).with_changes(
        description=f"{text}\n\nExample:\n{example}" if example else text
    )


def _shorten(tool: Tool) -> Tool:
    kept = [each for each in tool.parameters if each.required or each.name not in _SPARE]
    return tool.with_changes(
        description=tool.description.partition("\n\n")[0],
        parameters=tuple(each.without_description() for each in kept),
    )
