"""The tools for recall: what was said in past sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.tools import found
from memfs.tools.definition import Arguments, Parameter, Tool

if TYPE_CHECKING:
    from memfs.tools.desk import Desk

_WHERE = (
    Parameter("role", "string", "Only what the user, the assistant or a tool said.",
              choices=("user", "assistant", "tool")),
    Parameter("session", "string", "Only this session."),
    Parameter("host", "string", "Only sessions of this assistant: claude, codex, …"),
    Parameter("project", "string", "Only sessions of this folder."),
    Parameter("branch", "string", "Only what was said on this git branch."),
)  # fmt: skip


def _search(desk: Desk, given: Arguments) -> str:
    if given.get("sessions"):
        return found.sessions(desk, given)
    return found.hits(desk, given, kinds=("message",))


def _dated(desk: Desk, given: Arguments) -> str:
    return found.dated(
        desk, {**given, "since": given["start_date"], "until": given.get("end_date")}
    )


TOOLS = (
    Tool("conversation_search", "Search past sessions", "read", (
        Parameter("query", "string", "A question or words, in natural language.", required=True),
        Parameter("sessions", "boolean", "true: whole sessions with their best turns."),
        *_WHERE, *found.DATES, *found.PAGING, found.NEAREST,
    ), _search),
    Tool("conversation_search_date", "List what was said at a time", "read", (
        Parameter("start_date", "string", "The first day: 2026-05-03, yesterday, 7d (days ago).",
                  required=True),
        Parameter("end_date", "string", "The last day, to its end; today if not given."),
        *_WHERE, *found.PAGING,
    ), _dated),
)  # fmt: skip
