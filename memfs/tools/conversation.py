"""The tools for recall: what was said in past sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.tools import formatting
from memfs.tools.definition import Arguments, Parameter, Tool

if TYPE_CHECKING:
    from memfs.tools.tool_context import ToolContext

_WHERE = (
    Parameter(
        "role",
        "string",
        "Only what the user, the assistant or a tool said.",
        choices=("user", "assistant", "tool"),
    ),
    Parameter("session", "string", "Only this session."),
    Parameter("host", "string", "Only sessions of this assistant: claude, codex, …"),
    Parameter("project", "string", "Only sessions of this folder."),
    Parameter("branch", "string", "Only what was said on this git branch."),
)


def _search(desk: ToolContext, given: Arguments) -> str:
    if given.get("sessions"):
        return formatting.sessions(desk, given)
    return formatting.hits(desk, given, kinds=("message",))


def _dated(desk: ToolContext, given: Arguments) -> str:
    return formatting.format_dated(
        desk, {**given, "since": given["start_date"], "until": given.get("end_date")}
    )


TOOLS = (
    Tool(
        "conversation_search",
        "Search past sessions",
        "read",
        (
            Parameter(
                "query", "string", "A question or words, in natural language.", required=True
            ),
            Parameter("sessions", "boolean", "true: whole sessions with their best turns."),
            *_WHERE,
            *formatting.DATES,
            *formatting.PAGING,
            formatting.NEAREST,
        ),
        _search,
    ),
    Tool(
        "conversation_search_date",
        "List what was said at a time",
        "read",
        (
            Parameter(
                "start_date",
                "string",
                "The first day: 2026-05-03, yesterday, 7d (days ago).",
                required=True,
            ),
            Parameter("end_date", "string", "The last day, to its end; today if not given."),
            *_WHERE,
            *formatting.PAGING,
        ),
        _dated,
    ),
)
