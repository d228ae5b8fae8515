"""Fits tools into a small window: what doubles another goes first, then descriptions are cut.

The tools that memory is managed with stay whole in any window.
"""

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
_MOST = 2.25  # times their share: tools beside those of `_CORE` go where all take more
_SPARE = ("reason", "expected_version")  # arguments that can be left out


def fit_tools(tools: Sequence[Tool], room: int) -> list[Tool]:
    """Return tools whose definitions have at most `room` tokens, as far as that can be done.

    The tools of a plugin or of `tools.add` always stay.
    """
    single = [tool for tool in tools if tool.name not in _DOUBLES]
    for found in (list(tools), single):
        if tokens(found) <= room:
            return found
    cut = [tool if tool.name in _CORE else _shorten(tool) for tool in single]
    if tokens(cut) <= _MOST * room:
        return cut
    rest = {tool.name for tool in catalog.BUILT_IN}.difference(_CORE, _LAST)
    return [tool for tool in cut if tool.name not in rest]


def tokens(tools: Sequence[Tool]) -> int:
    """Estimate the tokens of the definitions of tools."""
    return estimate(format_definitions(tools)) if tools else 0


def format_definitions(tools: Sequence[Tool]) -> str:
    """Return the definitions of tools as a request of `memfs agent` has them."""
    return json.dumps(provider_formats.definitions(tools, "openai"), ensure_ascii=False)


def _shorten(tool: Tool) -> Tool:
    kept = [each for each in tool.parameters if each.required or each.name not in _SPARE]
    return tool.with_changes(
        description=tool.description.partition("\n\n")[0],
        parameters=tuple(each.without_description() for each in kept),
    )
