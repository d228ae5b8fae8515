"""Several tool calls: one after the other, or all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.core.errors import MemfsError
from memfs.tools import archival, calls, catalog, core_memory
from memfs.tools.calls import Result, ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memfs.core.edits import Edit
    from memfs.tools.definition import Tool
    from memfs.tools.tool_context import ToolContext

_NOT_DONE = "not done, since another call of the batch cannot be done"


def run_in_order(
    context: ToolContext, tools: Mapping[str, Tool], wanted: list[ToolCall]
) -> list[Result]:
    """Do calls one after the other; what one of them cannot do keeps no other from being done."""
    return [calls.run(context, tools, call) for call in wanted]


def run_together(
    context: ToolContext, tools: Mapping[str, Tool], wanted: list[ToolCall]
) -> list[Result]:
    """Do all of the calls or none.

    Everything is checked first. All edits of blocks are made in one step, then passages are
    archived, then what reads is answered. `memory_undo` cannot be part of it.
    """
    checked = [calls.check(tools, call) for call in wanted]
    refused = [each if isinstance(each, Result) else _refusal(each) for each in checked]
    ready = [each for each in checked if isinstance(each, calls.CheckedCall)]
    if any(refused):
        return _none_done(wanted, refused)
    try:
        planned = [
            each.tool.plan(context, each.arguments) if each.tool.plan else [] for each in ready
        ]
        lines = _apply(context, ready, planned)
    except MemfsError as error:
        told = calls.build_failure(wanted[0], error)
        return [Result(call, told.text, is_error=True) for call in wanted]
    return [
        Result(each.call, "\n".join(lines), heartbeat=each.heartbeat)
        if mine
        else calls.do(context, each)
        for each, mine in zip(ready, planned, strict=True)
    ]


def _apply(
    context: ToolContext, ready: list[calls.CheckedCall], planned: list[list[Edit]]
) -> list[str]:
    """Make all edits in one step; return a line for each block."""
    edits = [edit for mine in planned for edit in mine]
    versions = [
        core_memory.get_expected(each.arguments)
        for each, mine in zip(ready, planned, strict=True)
        for _ in mine
    ]
    return core_memory.apply(context, edits, _reason(ready), versions) if edits else []


def _refusal(checked: calls.CheckedCall) -> Result | None:
    """Return why a call that fits its schema cannot be part of a batch."""
    if checked.tool.name == catalog.ARCHIVE:
        error = archival.refusal(checked.arguments)
        return calls.build_failure(checked.call, error) if error else None
    if checked.tool.effect == "read" or checked.tool.plan:
        return None
    text = f"error: {checked.tool.name} cannot be done together with others; do it by itself"
    return Result(checked.call, text, is_error=True)


def _none_done(wanted: list[ToolCall], refused: list[Result | None]) -> list[Result]:
    return [
        result or Result(call, f"error: {_NOT_DONE}", is_error=True)
        for call, result in zip(wanted, refused, strict=True)
    ]


def _reason(ready: list[calls.CheckedCall]) -> object:
    reasons = [each.arguments.get("reason") for each in ready]
    return next((reason for reason in reasons if reason), "")
