"""The tools for blocks: what is always in context."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from memfs.core import label
from memfs.core.block import WARN_AT
from memfs.core.edits import (
    Append,
    Create,
    Delete,
    Insert,
    Rejected,
    Remove,
    Rename,
    Replace,
    Rethink,
)
from memfs.core.errors import RejectedError
from memfs.core.escaping import flatten_text
from memfs.tools.definition import Arguments, Effect, Parameter, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memfs.core.block import Block
    from memfs.core.edits import Edit
    from memfs.core.records import JournalEntry
    from memfs.tools.tool_context import ToolContext

_LABEL = Parameter(
    "label", "string", "The block, as its heading names it: human, project:api, …", required=True
)
_REASON = Parameter("reason", "string", "Why, in a few words: kept in the block's history.")
_EXPECTED = Parameter(
    "expected_version", "integer", "Do it only if the block is still at this version.", least=0
)
_EVERY = Parameter("all", "boolean", "At every place, if there are several. Default: false.")

_DELETED = "is deleted; memory_undo brings it back"
_GONE = {"rename": "has another name now", "undo": "is gone again"}


def _text(name: str, description: str) -> Parameter:
    return Parameter(name, "string", description, required=True)


def _read(desk: ToolContext, given: Arguments) -> str:
    """Return one block with its numbers, or the list of all."""
    from memfs.ops import show

    label = str(given.get("label") or "")
    if not label:
        return _listed(desk)
    shown = show.run(desk.place(), label, str(given.get("version") or ""))
    block = shown.block
    facts = [f"version {shown.version}", f"{block.chars:,}/{block.limit:,} characters"]
    if block.read_only:
        facts.append("read-only")
    if block.problem:
        facts.append(block.problem)
    head = flatten_text(f"[{_named(block)}] {', '.join(facts)}")
    return f"{head}\n{flatten_text(block.description)}\n\n{block.value}"


def _listed(desk: ToolContext) -> str:
    from memfs.ops import show

    lines = []
    for shown in show.show_all(desk.place()):
        block = shown.block
        facts = f"{block.chars:,}/{block.limit:,} characters"
        pinned = "" if block.pinned else ", not shown unless it is read"
        lines.append(flatten_text(f"[{_named(block)}] {facts}{pinned}: {block.description}"))
    return "\n".join(lines) or "there are no blocks yet; memory_create makes one"


def _named(block: Block) -> str:
    return label.qualified(block.tier, block.label)


def _append(_: ToolContext, given: Arguments) -> list[Edit]:
    return [Append(_label(given), str(given["content"]))]


def _replace(_: ToolContext, given: Arguments) -> list[Edit]:
    old, new = str(given["old_content"]), str(given["new_content"])
    return [Replace(_label(given), old, new, bool(given.get("all")))]


def _remove(_: ToolContext, given: Arguments) -> list[Edit]:
    return [Remove(_label(given), str(given["content"]), bool(given.get("all")))]


def _insert(_: ToolContext, given: Arguments) -> list[Edit]:
    return [Insert(_label(given), _number(given["line"]), str(given["content"]))]


def _rethink(_: ToolContext, given: Arguments) -> list[Edit]:
    return [Rethink(_label(given), str(given["new_value"]))]


def _create(_: ToolContext, given: Arguments) -> list[Edit]:
    return [
        Create(
            _label(given),
            str(given["description"]),
            str(given.get("initial_value") or ""),
            _number(given.get("limit") or 0),
            bool(given.get("pinned", True)),
        )
    ]


def _delete(_: ToolContext, given: Arguments) -> list[Edit]:
    return [Delete(_label(given))]


def _rename(_: ToolContext, given: Arguments) -> list[Edit]:
    return [Rename(_label(given), _label(given, "new_label"))]


def _undo(desk: ToolContext, given: Arguments) -> str:
    from memfs.ops import history

    done = history.undo(desk.place(), _label(given), desk.because(given.get("reason")))
    return "\n".join([f"undone: version {done.undone.version}", *_told(desk, done.entries)])


def _status(desk: ToolContext, given: Arguments) -> str:  # noqa: ARG001 - every tool is called alike
    """Say how full memory is, and what is in it."""
    from memfs.ops import status as op

    found = op.run(desk.place(), "")
    lines = [
        flatten_text(
            f"- {each.block.label} ({each.block.tier}): version {each.version}, "
            f"{each.block.chars:,}/{each.block.limit:,} characters, {each.content}, "
            + ", ".join(filter(None, (each.freshness, each.sync)))
        )
        for each in found.blocks
    ]
    return "\n".join(
        [
            flatten_text(f"project: {found.project or 'none'}"),
            flatten_text(f"user: {found.user or 'none'}"),
            f"recall: {found.messages:,} messages of {found.sessions:,} sessions",
            f"archive: {found.passages:,} passages",
            "blocks:",
            *lines,
        ]
    )


def apply(
    desk: ToolContext, edits: list[Edit], reason: object = "", expected: Sequence[int | None] = ()
) -> list[str]:
    """Do edits, all or none; return a line for each block. Raises `RejectedError`.

    `expected` are the versions that the blocks of the edits have to be at, side by side.
    """
    from memfs.ops import edit
    from memfs.ops.edit import Edited, Unchanged

    outcome = edit.run(desk.place(), edits, desk.because(reason), expected)
    match outcome:
        case Edited():
            note = [flatten_text(outcome.note)] if outcome.note else []
            return [*_told(desk, outcome.entries), *note]
        case Unchanged():
            return [flatten_text(f"nothing changed: '{outcome.label}' says that already")]
        case Rejected():
            raise RejectedError(outcome.message, outcome.hint)
        case _:
            assert_never(outcome)


def get_expected(given: Arguments) -> int | None:
    """Return the version that a call wants its block to be at, None for any."""
    found = given.get("expected_version")
    return found if isinstance(found, int) else None


def _editing(
    name: str,
    title: str,
    effect: Effect,
    parameters: tuple[Parameter, ...],
    plan: Callable[[ToolContext, Arguments], list[Edit]],
) -> Tool:
    """Return a tool that makes one edit of one block."""

    def run(desk: ToolContext, given: Arguments) -> str:
        edits = plan(desk, given)
        return "\n".join(apply(desk, edits, given.get("reason"), [get_expected(given)]))

    return Tool(name, title, effect, parameters, run, plan)


def _told(desk: ToolContext, entries: tuple[JournalEntry, ...]) -> list[str]:
    """Say what became of each block: its version, and how full it is now."""
    from memfs.store import blocks

    lines = []
    for entry in entries:
        if entry.after is None:
            lines.append(flatten_text(f"done: '{entry.label}' {_GONE.get(entry.op, _DELETED)}"))
            continue
        block = blocks.make(entry.tier, entry.label, "", entry.after)
        full = f"{block.chars:,}/{block.limit:,} characters"
        nearly = block.limit > 0 and block.chars >= WARN_AT * block.limit
        hint = "; nearly full: consolidate it with memory_rethink" if nearly else ""
        done = f"done: '{entry.label}' is at version {entry.version}, {full}{hint}"
        lines.append(flatten_text(done))
        lines += _spare(desk, block) if nearly else []
    return lines


def _spare(desk: ToolContext, block: Block) -> list[str]:
    """Name what could leave a block that is nearly full: what is worth least just now."""
    from memfs.context import page_candidates

    parts = page_candidates.name_spare_parts(desk.place(), block)
    return [flatten_text(f"could go to the archive first: {'; '.join(parts)}")] if parts else []


def _label(given: Arguments, name: str = "label") -> str:
    return label.normalise(str(given[name]))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


TOOLS = (
    Tool(
        "core_memory_read",
        "Read a memory block",
        "read",
        (
            Parameter("label", "string", "The block to read; without one all are listed."),
            Parameter("version", "integer", "As it was at this version.", least=1),
        ),
        _read,
    ),
    _editing(
        "core_memory_append",
        "Add to a memory block",
        "add",
        (_LABEL, _text("content", "What to add, on a new line at the end."), _REASON, _EXPECTED),
        _append,
    ),
    _editing(
        "core_memory_replace",
        "Replace text in a memory block",
        "change",
        (
            _LABEL,
            _text("old_content", "The text to replace, exactly as it stands there."),
            _text("new_content", "What to put in its place."),
            _EVERY,
            _REASON,
            _EXPECTED,
        ),
        _replace,
    ),
    _editing(
        "core_memory_remove",
        "Remove text from a memory block",
        "change",
        (
            _LABEL,
            _text("content", "The text to remove, exactly as it stands there."),
            _EVERY,
            _REASON,
            _EXPECTED,
        ),
        _remove,
    ),
    _editing(
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
            _text("content", "What to insert."),
            _REASON,
            _EXPECTED,
        ),
        _insert,
    ),
    _editing(
        "memory_rethink",
        "Rewrite a memory block",
        "change",
        (_LABEL, _text("new_value", "The whole new text of the block."), _REASON, _EXPECTED),
        _rethink,
    ),
    _editing(
        "memory_create",
        "Create a memory block",
        "add",
        (
            Parameter(
                "label", "string", "A short name: project_alpha, team, services/api.", required=True
            ),
            _text("description", "What belongs into it, and when to update it."),
            Parameter("initial_value", "string", "Its first text."),
            Parameter("limit", "integer", "The most characters it may hold.", least=1),
            Parameter("pinned", "boolean", "false: listed by name only, read when it is needed."),
            _REASON,
        ),
        _create,
    ),
    _editing(
        "memory_delete", "Delete a memory block", "remove", (_LABEL, _REASON, _EXPECTED), _delete
    ),
    _editing(
        "memory_rename",
        "Rename a memory block",
        "change",
        (_LABEL, _text("new_label", "Its new name, in the same tier."), _REASON, _EXPECTED),
        _rename,
    ),
    Tool("memory_undo", "Undo the last edit of a block", "change", (_LABEL, _REASON), _undo),
    Tool("memory_status", "Show the state of memory", "read", (), _status),
)
