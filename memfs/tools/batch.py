"""Batches of tool calls: one after the other, or all or nothing."""

from collections.abc import Mapping

from memfs.core.errors import MemfsError
from memfs.tools import archival, calls, catalog, core_memory
from memfs.tools.calls import Result, ToolCall
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext


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
    if any(refused):
        others = "error: not run, because another call in the batch was refused"
        return [
            result or Result(call, others, is_error=True)
            for call, result in zip(requested, refused, strict=True)
        ]
    ready = [each for each in checked if isinstance(each, calls.CheckedCall)]
    lines: list[str] = []
    try:
        planned = [
            each.tool.plan(context, each.arguments) if each.tool.plan else [] for each in ready
        ]
        pairs = [(each, edit) for each, mine in zip(ready, planned, strict=True) for edit in mine]
        if pairs:
            reasons = [each.arguments.get("reason") for each in ready]
            lines = core_memory.apply(
                context,
                [edit for _, edit in pairs],
                next(filter(None, reasons), ""),
                [each.arguments.get("expected_version") for each, _ in pairs],
            )
    except MemfsError as error:
        failure = calls.build_failure(requested[0], error)
        return [Result(call, failure.text, is_error=True) for call in requested]
    return [
        Result(each.call, "\n".join(lines), heartbeat=each.heartbeat)
        if mine
        else calls.do(context, each)
        for each, mine in zip(ready, planned, strict=True)
    ]


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
    text = f"error: {name} cannot be part of a batch; call it by itself"
    return Result(checked.call, text, is_error=True)
