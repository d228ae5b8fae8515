"""The definitions of the built-in tools; the module that does a call is imported at the first call.

Descriptions are files of `templates/tools`: they say when and why to use a tool.
"""

from memfs.core import label as labels
from memfs.tools.definition import Parameter, Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memfs.core.body_edits import Edit
    from memfs.tools.definition import Arguments, Effect
    from memfs.tools.tool_context import ToolContext

# What our MCP server says of them all.
INSTRUCTIONS = (
    "memfs is the memory of this project and its user: blocks that are always in context, an "
    "archive of passages, and a record of past sessions. Save what will matter in a later session, "
    "search before you say that you do not remember, and never store secrets."
)
USUAL, MOST = 5, 50  # hits on a page
ROOT = "/memories"  # the folder whose files are the blocks, for the tool `memory`
ARCHIVE = "archival_memory_insert"
TEAM = "team"
SCOPES = {  # of `memory_search`: the kinds of documents
    "sessions": ("message",),
    "archive": ("passage",),
    "sources": ("source",),
    "commits": ("commit",),
    "blocks": ("block",),
    "facts": ("fact", "static"),
    TEAM: ("message",),
}


def _string(name: str, description: str, *choices: str) -> Parameter:
    return Parameter(name, "string", description, choices=choices)


def _require(name: str, description: str, *choices: str) -> Parameter:
    return Parameter(name, "string", description, required=True, choices=choices)


def _flag(name: str, description: str) -> Parameter:
    return Parameter(name, "boolean", description)


def _number(
    name: str, description: str, least: int | None = None, most: int | None = None
) -> Parameter:
    return Parameter(name, "integer", description, least=least, most=most)


_LABEL = _require("label", "The block: human, project:api, …")
_REASON = _string("reason", "Why, in a few words.")
_ENDS = (_REASON, _number("expected_version", "Edit only if at this version.", least=0))
_LINE = Parameter("line", "integer", "Insert after this line; 0: start, -1: end.", True, (), -1)
_EVERY = _flag("all", "true: all matches.")
_QUERY = _require("query", "A question or words, in natural language.")
_NEAREST = _flag("nearest", "true: nearest hits, even if none is clearly relevant.")
_DATES = (
    _string("since", "From this day on: 2026-05-03, yesterday, 7d."),
    _string("until", "Until this day, inclusive."),
)
_PAGES = (
    _number("limit", f"Hits per page ({USUAL}).", least=1, most=MOST),
    _number("page", "Page number, from 1.", least=1),
)
_SESSIONS = (
    _string(
        "role", "Only what the user, the assistant or a tool said.", "user", "assistant", "tool"
    ),
    _string("speaker", "Only what one agent or person said, by name: planner-agent."),
    _string("session", "Only this session."),
    _string("host", "Only sessions of this assistant: claude, codex, …"),
    _string("project", "Only sessions in this folder."),
    _string("branch", "Only what was said on this git branch."),
)


def _defer(path: str) -> "Callable[..., Any]":
    """Return a function of this room that is imported when it is called: `module.function`."""
    module, _, function = path.partition(".")

    def call(*given: object) -> "Any":
        from importlib import import_module  # with the first call

        return getattr(import_module(f"memfs.tools.{module}"), function)(*given)

    return call


def _build(
    name: str, title: str, effect: "Effect", run: str, *parameters: Parameter, plan: str = ""
) -> Tool:
    return Tool(name, title, effect, parameters, _defer(run), _defer(plan) if plan else None)


def _build_edit(
    name: str,
    title: str,
    effect: "Effect",
    make: "Callable[[Any, str, Arguments], Edit]",
    *parameters: Parameter,
    run: str = "core_memory.run_edits",
) -> Tool:
    """Return a tool that makes one edit: of `body_edits`, a label and the checked arguments."""

    def plan(_: "ToolContext", arguments: "Arguments") -> "list[Edit]":
        from memfs.core import body_edits  # with the detector of secrets, for a call

        return [make(body_edits, labels.normalise(arguments["label"]), arguments)]

    do = _defer(run)
    return Tool(name, title, effect, parameters, lambda c, a: do(c, a, plan(c, a)), plan)


BUILT_IN = (
    _build(
        "core_memory_read",
        "Read a memory block",
        "read",
        "core_memory.read_block",
        _string("label", "The block to read; omit to list all blocks."),
        _number("version", "Read this older version.", least=1),
    ),
    _build_edit(
        "core_memory_append",
        "Add to a memory block",
        "add",
        lambda edits, label, a: edits.Append(label, a["content"]),
        _LABEL,
        _require("content", "The line to add."),
        _flag("make_room", "true: if full, page out the least useful parts."),
        *_ENDS,
        run="paging.append_text",
    ),
    _build_edit(
        "core_memory_replace",
        "Replace text in a memory block",
        "change",
        lambda edits, label, a: edits.Replace(
            label, a["old_content"], a["new_content"], a.get("all", False)
        ),
        _LABEL,
        _require("old_content", "The text to replace, exactly."),
        _require("new_content", "The new text."),
        _EVERY,
        *_ENDS,
    ),
    _build_edit(
        "core_memory_remove",
        "Remove text from a memory block",
        "change",
        lambda edits, label, a: edits.Remove(label, a["content"], a.get("all", False)),
        _LABEL,
        _require("content", "The exact text to remove."),
        _EVERY,
        *_ENDS,
    ),
    _build_edit(
        "memory_insert",
        "Insert lines into a memory block",
        "add",
        lambda edits, label, a: edits.Insert(label, a["line"], a["content"]),
        _LABEL,
        _LINE,
        _require("content", "The text to insert."),
        *_ENDS,
    ),
    _build_edit(
        "memory_rethink",
        "Rewrite a memory block",
        "change",
        lambda edits, label, a: edits.Rethink(label, a["new_value"]),
        _LABEL,
        _require("new_value", "The whole new text of the block."),
        *_ENDS,
    ),
    _build_edit(
        "memory_create",
        "Create a memory block",
        "add",
        lambda edits, label, a: edits.Create(
            label,
            a["description"],
            a.get("initial_value", ""),
            a.get("limit", 0),
            a.get("pinned", True),
        ),
        _require("label", "A short name: project_alpha, team, services/api."),
        _require("description", "What the block is for; when to update it."),
        _string("initial_value", "The initial text."),
        _number("limit", "Maximum number of characters.", least=1),
        _flag("pinned", "false: listed by name only."),
        _REASON,
    ),
    _build_edit(
        "memory_delete",
        "Delete a memory block",
        "remove",
        lambda edits, label, _: edits.Delete(label),
        _LABEL,
        *_ENDS,
    ),
    _build_edit(
        "memory_rename",
        "Rename a memory block",
        "change",
        lambda edits, label, a: edits.Rename(label, labels.normalise(a["new_label"])),
        _LABEL,
        _require("new_label", "The new name, in the same tier."),
        *_ENDS,
    ),
    _build(
        "memory_undo",
        "Undo the last edit of a block",
        "change",
        "core_memory.undo",
        _LABEL,
        _REASON,
    ),
    _build("memory_status", "Show the state of memory", "read", "core_memory.format_status"),
    _build(
        "memory_page_out",
        "Page memory out of a block",
        "change",
        "paging.page_out",
        _require("label", "The block."),
        _string("task", "Your current task; unrelated parts are paged out."),
        _flag("back", "true: restore all paged-out parts."),
        _REASON,
    ),
    _build(
        "memory_page_in",
        "Page memory in",
        "change",
        "paging.page_in",
        _require(
            "query",
            "A block's label, to restore its parts; or words to search archive and recall: "
            "hits go into the block 'working'.",
        ),
        _REASON,
    ),
    _build(
        ARCHIVE,
        "Archive a passage",
        "add",
        "archival.insert_passage",
        _require("content", "A text that can be understood by itself."),
        _number("importance", "1 (trivial) to 10 (vital).", least=1, most=10),
        Parameter("tags", "strings", "Topics: deploy, postgres, …"),
        _string("about", "user: save in the user's archive.", "user", "project"),
        _REASON,
    ),
    _build(
        "memory_search",
        "Search memory",
        "read",
        "archival.search_scope",
        _string("query", "A question, words, a path, an error message."),
        _string("scope", "Where to look; everywhere if not given.", *SCOPES),
        *_DATES,
        *_PAGES,
        _NEAREST,
    ),
    _build(
        "memory_read",
        "Read a block, session or passage",
        "read",
        "reading.read_memory",
        _string("id", "A block label, or a passage or session id."),
        _number("page", "The page of a session, from 1.", least=1),
    ),
    _build(
        "archival_memory_search",
        "Search the archive",
        "read",
        "archival.search",
        _QUERY,
        _flag("sources", "true: only sources; false: no sources."),
        Parameter("tags", "strings", "Only passages that have these tags."),
        _string("match", "Match all of the tags, or any tag.", "all", "any"),
        _number("min_importance", "Only passages of at least this importance.", least=1, most=10),
        *_DATES,
        *_PAGES,
        _NEAREST,
    ),
    _build(
        "conversation_search",
        "Search past sessions",
        "read",
        "archival.search_conversations",
        _QUERY,
        _flag("sessions", "true: whole sessions with their best turns."),
        _flag("team", "true: also messages that others shared."),
        *_SESSIONS,
        *_DATES,
        *_PAGES,
        _NEAREST,
    ),
    _build(
        "conversation_search_date",
        "List messages by date",
        "read",
        "formatting.list_by_date",
        _require("start_date", "The first day: 2026-05-03, yesterday, 7d (days ago)."),
        _string("end_date", "The last day, inclusive; default: today."),
        *_SESSIONS,
        *_PAGES,
    ),
    _build(
        "memory",
        "Memory as files",
        "change",
        "files.run_command",
        _require(
            "command", "What to do.", "view", "create", "str_replace", "insert", "delete", "rename"
        ),
        _string("path", f"A file or folder below {ROOT}."),
        Parameter("view_range", "integers", "view: the first and last line, -1 for the end."),
        _string("file_text", "create: the text of the new file."),
        _string("old_str", "str_replace: the text to replace; must occur once."),
        _string("new_str", "str_replace: the new text."),
        _number("insert_line", "insert: after this line; 0 for the beginning."),
        _string("insert_text", "insert: the text to insert."),
        _string("old_path", "rename: from."),
        _string("new_path", "rename: to."),
        plan="files.plan_command",
    ),
)
