"""Batches of tool calls: one after the other, or all or nothing."""

from __future__ import annotations

from collections.abc import Mapping

from memfs.core.body_edits import Edit
from memfs.core.errors import MemfsError
from memfs.tools import archival, calls, catalog, core_memory
from memfs.tools.calls import Result, ToolCall
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext

_NOT_DONE = "not done, since another call of the batch cannot be done"


def run_in_order(
    context: ToolContext, tools: Mapping[str, Tool], requested: list[ToolCall]
) -> list[Result]:
    """Run calls one after the other; an error of one does not stop the others."""
    return [calls.run(context, tools, call) for call in requested]


def run_together(
    context: ToolContext, tools: Mapping[str, Tool], requested: list[ToolCall]
) -> list[Result]:
    """Run all of the calls or none.

    Everything is checked first. All edits of blocks are made in one step, then the other calls
    run in their order. `memory_undo` cannot be part of a batch.
    """
    checked = [calls.check(tools, call) for call in requested]
    refused = [each if isinstance(each, Result) else _check_batchable(each) for each in checked]
    ready = [each for each in checked if isinstance(each, calls.CheckedCall)]
    if any(refused):
        return _refuse_all(requested, refused)
    try:
        planned = [
            each.tool.plan(context, each.arguments) if each.tool.plan else [] for each in ready
        ]
        lines = _apply(context, ready, planned)
    except MemfsError as error:
        failure = calls.build_failure(requested[0], error)
        return [Result(call, failure.text, is_error=True) for call in requested]
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
        each.arguments.get("expected_version")
        for each, mine in zip(ready, planned, strict=True)
        for _ in mine
    ]
    return core_memory.apply(context, edits, _find_reason(ready), versions) if edits else []


def _check_batchable(checked: calls.CheckedCall) -> Result | None:
    """Return the error of a valid call that cannot be part of a batch, None if it can."""
    if checked.tool.name == catalog.ARCHIVE:
        error = archival.refusal(checked.arguments)
        return calls.build_failure(checked.call, error) if error else None
    name = checked.tool.name
    if checked.arguments.get("make_room"):
        name = "make_room"
    elif checked.tool.effect == "read" or checked.tool.plan:
        return None
    text = f"error: {name} cannot be done together with others; do it by itself"
    return Result(checked.call, text, is_error=True)


def _refuse_all(requested: list[ToolCall], refused: list[Result | None]) -> list[Result]:
    return [
        result or Result(call, f"error: {_NOT_DONE}", is_error=True)
        for call, result in zip(requested, refused, strict=True)
    ]


def _find_reason(ready: list[calls.CheckedCall]) -> object:
    reasons = [each.arguments.get("reason") for each in ready]
    return next((reason for reason in reasons if reason), "")
