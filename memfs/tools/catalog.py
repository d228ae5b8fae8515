"""The definitions of the built-in tools; the module that does a call is imported at the first call.

Descriptions are files of `templates/tools`: they say when and why to use a tool.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memfs.tools.definition import Arguments, Effect, Parameter, Tool
from memfs.tools.tool_context import ToolContext

if TYPE_CHECKING:
    from memfs.core.body_edits import Edit

USUAL, MOST = 5, 50  # hits on a page
ROOT = "/memories"  # the folder whose files are the blocks, for the tool `memory`
FILE_COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
ARCHIVE = "archival_memory_insert"


def _require(name: str, description: str) -> Parameter:
    return Parameter(name, "string", description, required=True)


def _string(name: str, description: str) -> Parameter:
    return Parameter(name, "string", description)


_LABEL = Parameter(
    "label", "string", "The block, as its heading names it: human, project:api, …", required=True
)
_REASON = _string("reason", "Why, in a few words: kept in the block's history.")
_WHY = _string("reason", "Why, in a few words.")
_EXPECTED = Parameter(
    "expected_version", "integer", "Do it only if the block is still at this version.", least=0
)
_EVERY = Parameter("all", "boolean", "At every place, if there are several. Default: false.")
_QUERY = Parameter("query", "string", "A question or words, in natural language.", required=True)
_NEAREST = Parameter(
    "nearest", "boolean", "true: show the nearest also where nothing is clearly relevant."
)
_DATES = (
    _string("since", "From this day on: 2026-05-03, yesterday, 7d (days ago)."),
    _string("until", "Up to the end of this day."),
)
_PAGES = (
    Parameter("limit", "integer", f"Hits on a page, {USUAL} if not given.", least=1, most=MOST),
    Parameter("page", "integer", "Which page, from 1.", least=1),
)
_SESSIONS = (
    Parameter(
        "role",
        "string",
        "Only what the user, the assistant or a tool said.",
        choices=("user", "assistant", "tool"),
    ),
    _string("speaker", "Only what one agent or person said, by name: planner-agent."),
    _string("session", "Only this session."),
    _string("host", "Only sessions of this assistant: claude, codex, …"),
    _string("project", "Only sessions of this folder."),
    _string("branch", "Only what was said on this git branch."),
)


def _defer(module: str, function: str) -> Callable[[ToolContext, Arguments], Any]:
    """Return a function that imports its module of this room when it is called."""

    def call(context: ToolContext, arguments: Arguments) -> Any:
        return getattr(import_module(f"memfs.tools.{module}"), function)(context, arguments)

    return call


def _build_edit_tool(
    name: str, title: str, effect: Effect, parameters: tuple[Parameter, ...], plan: str
) -> Tool:
    """Return a tool that makes the edits which the function `plan` of core_memory returns."""
    plan_edits: Callable[[ToolContext, Arguments], list[Edit]] = _defer("core_memory", plan)

    def run(context: ToolContext, arguments: Arguments) -> str:
        from memfs.tools import core_memory  # as lazily as the others

        return core_memory.run_plan(context, arguments, plan_edits)

    return Tool(name, title, effect, parameters, run, plan_edits)


CORE_MEMORY = (
    Tool(
        "core_memory_read",
        "Read a memory block",
        "read",
        (
            _string("label", "The block to read; without one all are listed."),
            Parameter("version", "integer", "As it was at this version.", least=1),
        ),
        _defer("core_memory", "read_block"),
    ),
    Tool(
        "core_memory_append",
        "Add to a memory block",
        "add",
        (
            _LABEL,
            _require("content", "What to add, on a new line at the end."),
            Parameter(
                "make_room",
                "boolean",
                "true: where it does not fit, page out what is worth least first.",
            ),
            _REASON,
            _EXPECTED,
        ),
        _defer("paging", "append_text"),
        _defer("core_memory", "plan_append"),
    ),
    _build_edit_tool(
        "core_memory_replace",
        "Replace text in a memory block",
        "change",
        (
            _LABEL,
            _require("old_content", "The text to replace, exactly as it stands there."),
            _require("new_content", "What to put in its place."),
            _EVERY,
            _REASON,
            _EXPECTED,
        ),
        "plan_replace",
    ),
    _build_edit_tool(
        "core_memory_remove",
        "Remove text from a memory block",
        "change",
        (
            _LABEL,
            _require("content", "The text to remove, exactly as it stands there."),
            _EVERY,
            _REASON,
            _EXPECTED,
        ),
        "plan_remove",
    ),
    _build_edit_tool(
        "memory_insert",
        "Insert lines into a memory block",
        "add",
        (
            _LABEL,
            Parameter(
                "line",
                "integer",
                "After which line: 0 before the first, -1 at the end.",
                required=True,
                least=-1,
            ),
            _require("content", "What to insert."),
            _REASON,
            _EXPECTED,
        ),
        "plan_insert",
    ),
    _build_edit_tool(
        "memory_rethink",
        "Rewrite a memory block",
        "change",
        (_LABEL, _require("new_value", "The whole new text of the block."), _REASON, _EXPECTED),
        "plan_rethink",
    ),
    _build_edit_tool(
        "memory_create",
        "Create a memory block",
        "add",
        (
            Parameter(
                "label", "string", "A short name: project_alpha, team, services/api.", required=True
            ),
            _require("description", "What belongs into it, and when to update it."),
            _string("initial_value", "Its first text."),
            Parameter("limit", "integer", "The most characters it may hold.", least=1),
            Parameter("pinned", "boolean", "false: listed by name only, read when it is needed."),
            _REASON,
        ),
        "plan_create",
    ),
    _build_edit_tool(
        "memory_delete",
        "Delete a memory block",
        "remove",
        (_LABEL, _REASON, _EXPECTED),
        "plan_delete",
    ),
    _build_edit_tool(
        "memory_rename",
        "Rename a memory block",
        "change",
        (_LABEL, _require("new_label", "Its new name, in the same tier."), _REASON, _EXPECTED),
        "plan_rename",
    ),
    Tool(
        "memory_undo",
        "Undo the last edit of a block",
        "change",
        (_LABEL, _REASON),
        _defer("core_memory", "undo"),
    ),
    Tool(
        "memory_status",
        "Show the state of memory",
        "read",
        (),
        _defer("core_memory", "format_status"),
    ),
)

ARCHIVAL = (
    Tool(
        ARCHIVE,
        "Archive a passage",
        "add",
        (
            Parameter(
                "content", "string", "A text that can be understood by itself.", required=True
            ),
            Parameter(
                "importance",
                "integer",
                "1 (passing) to 10 (vital); 5 if not given.",
                least=1,
                most=10,
            ),
            Parameter("tags", "strings", "What it is about: deploy, postgres, …"),
            Parameter(
                "about",
                "string",
                "user: into the user's own archive, not the project's; else the text decides.",
                choices=("user", "project"),
            ),
            _WHY,
        ),
        _defer("archival", "insert_passage"),
    ),
    Tool(
        "archival_memory_search",
        "Search the archive",
        "read",
        (
            _QUERY,
            Parameter("sources", "boolean", "true: only data sources; false: none of them."),
            Parameter("tags", "strings", "Only passages that have these tags."),
            Parameter(
                "match",
                "string",
                "Whether all of the tags are needed, or any of them.",
                choices=("all", "any"),
            ),
            Parameter(
                "min_importance", "integer", "Only passages this important.", least=1, most=10
            ),
            *_DATES,
            *_PAGES,
            _NEAREST,
        ),
        _defer("archival", "search"),
    ),
)

CONVERSATION = (
    Tool(
        "conversation_search",
        "Search past sessions",
        "read",
        (
            _QUERY,
            Parameter("sessions", "boolean", "true: whole sessions with their best turns."),
            Parameter("team", "boolean", "true: also what others shared of this project."),
            *_SESSIONS,
            *_DATES,
            *_PAGES,
            _NEAREST,
        ),
        _defer("archival", "search_conversations"),
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
            _string("end_date", "The last day, to its end; today if not given."),
            *_SESSIONS,
            *_PAGES,
        ),
        _defer("archival", "list_by_date"),
    ),
)

FILES = (
    Tool(
        "memory",
        "Memory as files",
        "change",
        (
            Parameter("command", "string", "What to do.", required=True, choices=FILE_COMMANDS),
            _string("path", f"A file or folder below {ROOT}."),
            Parameter("view_range", "integers", "view: the first and last line, -1 for the end."),
            _string("file_text", "create: the text of the new file."),
            _string("old_str", "str_replace: the text to replace; it occurs once."),
            _string("new_str", "str_replace: what to put in its place."),
            Parameter("insert_line", "integer", "insert: after which line, 0 for the beginning."),
            _string("insert_text", "insert: the text to insert."),
            _string("old_path", "rename: from."),
            _string("new_path", "rename: to."),
        ),
        _defer("files", "run_command"),
        _defer("files", "plan_command"),
    ),
)

PAGING = (
    Tool(
        "memory_page_out",
        "Page memory out of a block",
        "change",
        (
            _require("label", "The block."),
            Parameter(
                "task", "string", "What you work on now; what has nothing to do with it goes."
            ),
            _WHY,
        ),
        _defer("paging", "page_out"),
    ),
    Tool(
        "memory_page_in",
        "Page memory in",
        "change",
        (
            Parameter(
                "query",
                "string",
                "A block's label, to bring back what left it; or what to "
                "look for in archive and recall, and to put into the block working.",
                required=True,
            ),
            _WHY,
        ),
        _defer("paging", "page_in"),
    ),
)

BUILT_IN = (*CORE_MEMORY, *PAGING, *ARCHIVAL, *CONVERSATION, *FILES)
