"""Runs a tool call: checks it, calls the tool, and words errors for a model."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from memfs.core import os_errors
from memfs.core.errors import MemfsError, Remedy, find_refusal, is_panic
from memfs.core.escaping import flatten_text
from memfs.core.privacy import excerpt
from memfs.tools.arguments import check_arguments
from memfs.tools.definition import HEARTBEAT, Arguments, Tool, VerbatimError
from memfs.tools.tool_context import ToolContext

_PREFIX = re.compile(r"^.*(?:[.:/]|__)")  # of a tool's name, as models write it


@dataclass(frozen=True)
class ToolCall:
    """A tool's name and arguments, as a model wrote them; `id` ties the result to it."""

    name: str
    arguments: object = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Result:
    """The result of a call for the model. `heartbeat`: it asked to continue after this."""

    call: ToolCall
    text: str
    is_error: bool = False
    heartbeat: bool = False


@dataclass(frozen=True)
class CheckedCall:
    """A call that fits the schema of its tool."""

    call: ToolCall
    tool: Tool
    arguments: Arguments
    heartbeat: bool


def run(
    context: ToolContext, tools: Mapping[str, Tool], call: ToolCall, listed: Collection[str] = ()
) -> Result:
    """Run one call. Errors become results, none is raised.

    Those for an unknown tool name the tools that are `listed`, by default all.
    """
    checked = check(tools, call, listed)
    return checked if isinstance(checked, Result) else do(context, checked)


def check(
    tools: Mapping[str, Tool], call: ToolCall, listed: Collection[str] = ()
) -> CheckedCall | Result:
    """Check a call against the schema of its tool; return the checked call, or an error result."""
    tool = tools.get(call.name)
    bare = _PREFIX.sub("", call.name).lower()
    if tool is None and bare in tools:  # `default_api.NAME`, `memory__NAME`
        tool, call = tools[bare], replace(call, name=bare)
    if tool is None:
        named = listed or tools
        near = difflib.get_close_matches(call.name, named, 3, 0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"use one of {', '.join(named)}"
        text = f"error: unknown tool {excerpt(call.name, 80)!r}; {hint}"
        return Result(call, text, is_error=True)
    given, heartbeat = call.arguments, False
    if isinstance(given, dict):
        heartbeat = str(given.get(HEARTBEAT)).lower() == "true"
        given = {name: value for name, value in given.items() if name != HEARTBEAT}
    checked = check_arguments(tool, given)
    if isinstance(checked, str):
        return Result(call, f"error: {checked}", is_error=True, heartbeat=heartbeat)
    if "label" in checked:  # as the heading of a block has it: [HUMAN]
        checked["label"] = checked["label"].strip("[] ")
    return CheckedCall(call, tool, checked, heartbeat)


def do(context: ToolContext, checked: CheckedCall) -> Result:
    """Run a checked call."""
    try:
        text = checked.tool.run(context, checked.arguments)
    except MemfsError as error:
        return build_failure(checked.call, error, heartbeat=checked.heartbeat)
    except BaseException as error:  # a full disk, a plugin's bug: reported as a result
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        refusal = find_refusal(error)
        if refusal and refusal.filename:
            told = os_errors.describe_refusal(refusal)
        else:
            broken = f"{checked.tool.name} failed: {type(error).__name__}: {error}"
            told = MemfsError(excerpt(broken, 500))
        return build_failure(checked.call, told, heartbeat=checked.heartbeat)
    return Result(checked.call, text, heartbeat=checked.heartbeat)


def build_failure(call: ToolCall, error: MemfsError, *, heartbeat: bool = False) -> Result:
    """Return the error result of a call."""
    verbatim = isinstance(error, VerbatimError)
    text = error.message if verbatim else format_error(error.message, error.hint)
    return Result(call, text, is_error=True, heartbeat=heartbeat)


def format_error(message: str, hint: str) -> str:
    """Return an error and its hint in lines, worded for a model."""
    hint = hint.for_model if isinstance(hint, Remedy) else hint
    lines = [f"error: {message}", *([f"hint: {hint}"] if hint else [])]
    return "\n".join(map(flatten_text, lines))
