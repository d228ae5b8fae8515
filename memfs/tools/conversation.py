"""Tool calls on recall: the messages of past sessions."""

from __future__ import annotations

from memfs.tools import formatting
from memfs.tools.definition import Arguments
from memfs.tools.tool_context import ToolContext


def search(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of messages, also of what others shared, or of whole sessions."""
    if arguments.get("team"):
        return formatting.search_with_team(context, arguments)
    if arguments.get("sessions"):
        return formatting.search_sessions(context, arguments)
    return formatting.search_hits(context, arguments, kinds=("message",))


def list_by_date(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of the messages between two days."""
    return formatting.format_by_date(
        context, {**arguments, "since": arguments["start_date"], "until": arguments.get("end_date")}
    )
