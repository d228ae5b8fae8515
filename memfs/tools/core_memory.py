"""The tools for blocks: what is always in context."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from memfs.core.errors import RejectedError
from memfs.core.quoting import flatten_text
from memfs.tools.definition import Arguments, Effect, Parameter, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memfs.core.block import Block
    from memfs.core.edits import Edit
    from memfs.core.records import Entry
    from memfs.tools.desk import Desk

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


def _read(desk: Desk, given: Arguments) -> str:
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


def _listed(desk: Desk) -> str:
    from memfs.ops import show

    lines = []
    for shown in show.every(desk.place()):
        block = shown.block
        facts = f"{block.chars:,}/{block.limit:,} characters"
        pinned = "" if block.pinned else ", not shown unless it is read"
        lines.append(flatten_text(f"[{_named(block)}] {facts}{pinned}: {block.description}"))
    return "\n".join(lines) or "there are no blocks yet; memory_create makes one"


def _named(block: Block) -> str:
    from memfs.core import label

    return label.qualified(block.tier, block.label)


def _append(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Append

    return [Append(_label(given), str(given["content"]))]


def _replace(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Replace

    old, new = str(given["old_content"]), str(given["new_content"])
    return [Replace(_label(given), old, new, bool(given.get("all")))]


def _remove(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Remove

    return [Remove(_label(given), str(given["content"]), bool(given.get("all")))]


def _insert(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Insert

    return [Insert(_label(given), _number(given["line"]), str(given["content"]))]


def _rethink(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Rethink

    return [Rethink(_label(given), str(given["new_value"]))]


def _create(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Create

    return [Create(
        _label(given), str(given["description"]), str(given.get("initial_value") or ""),
        _number(given.get("limit") or 0), bool(given.get("pinned", True)),
    )]  # fmt: skip


def _delete(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Delete

    return [Delete(_label(given))]


def _rename(_: Desk, given: Arguments) -> list[Edit]:
    from memfs.core.edits import Rename

    return [Rename(_label(given), _label(given, "new_label"))]


def _undo(desk: Desk, given: Arguments) -> str:
    from memfs.ops import history

    done = history.undo(desk.place(), _label(given), desk.because(given.get("reason")))
    return "\n".join([f"undone: version {done.undone.version}", *_told(desk, done.entries)])


def _status(desk: Desk, given: Arguments) -> str:  # noqa: ARG001 - every tool is called alike
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
    return "\n".join([
        flatten_text(f"project: {found.project or 'none'}"),
        flatten_text(f"user: {found.user or 'none'}"),
        f"recall: {found.messages:,} messages of {found.sessions:,} sessions",
        f"archive: {found.passages:,} passages", "blocks:", *lines,
    ])  # fmt: skip


def apply(
    desk: Desk, edits: list[Edit], reason: object = "", expected: Sequence[int | None] = ()
) -> list[str]:
    """Do edits, all or none; return a line for each block. Raises `RejectedError`.

    `expected` are the versions that the blocks of the edits have to be at, side by side.
    """
    from memfs.core.edits import Rejected
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


def expected(given: Arguments) -> int | None:
    """Return the version that a call wants its block to be at, None for any."""
    found = given.get("expected_version")
    return found if isinstance(found, int) else None


def _editing(
    name: str, title: str, effect: Effect, parameters: tuple[Parameter, ...],
    plan: Callable[[Desk, Arguments], list[Edit]],
) -> Tool:  # fmt: skip
    """Return a tool that makes one edit of one block."""

    def run(desk: Desk, given: Arguments) -> str:
        edits = plan(desk, given)
        return "\n".join(apply(desk, edits, given.get("reason"), [expected(given)]))

    return Tool(name, title, effect, parameters, run, plan)


def _told(desk: Desk, entries: tuple[Entry, ...]) -> list[str]:
    """Say what became of each block: its version, and how full it is now."""
    from memfs.core.block import WARN_AT
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


def _spare(desk: Desk, block: Block) -> list[str]:
    """Name what could leave a block that is nearly full: what is worth least just now."""
    from memfs.context import relief

    parts = relief.spare(desk.place(), block)
    return [flatten_text(f"could go to the archive first: {'; '.join(parts)}")] if parts else []


def _label(given: Arguments, name: str = "label") -> str:
    from memfs.core import label

    return label.normalise(str(given[name]))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


TOOLS = (
    Tool("core_memory_read", "Read a memory block", "read", (
        Parameter("label", "string", "The block to read; without one all are listed."),
        Parameter("version", "integer", "As it was at this version.", least=1),
    ), _read),
    _editing("core_memory_append", "Add to a memory block", "add", (
        _LABEL, _text("content", "What to add, on a new line at the end."), _REASON, _EXPECTED,
    ), _append),
    _editing("core_memory_replace", "Replace text in a memory block", "change", (
        _LABEL, _text("old_content", "The text to replace, exactly as it stands there."),
        _text("new_content", "What to put in its place."), _EVERY, _REASON, _EXPECTED,
    ), _replace),
    _editing("core_memory_remove", "Remove text from a memory block", "change", (
        _LABEL, _text("content", "The text to remove, exactly as it stands there."),
        _EVERY, _REASON, _EXPECTED,
    ), _remove),
    _editing("memory_insert", "Insert lines into a memory block", "add", (
        _LABEL, Parameter("line", "integer", "After which line: 0 before the first, -1 at the end.",
                          required=True, least=-1),
        _text("content", "What to insert."), _REASON, _EXPECTED,
    ), _insert),
    _editing("memory_rethink", "Rewrite a memory block", "change", (
        _LABEL, _text("new_value", "The whole new text of the block."), _REASON, _EXPECTED,
    ), _rethink),
    _editing("memory_create", "Create a memory block", "add", (
        Parameter("label", "string", "A short name: project_alpha, team, services/api.",
                  required=True),
        _text("description", "What belongs into it, and when to update it."),
        Parameter("initial_value", "string", "Its first text."),
        Parameter("limit", "integer", "The most characters it may hold.", least=1),
        Parameter("pinned", "boolean", "false: listed by name only, read when it is needed."),
        _REASON,
    ), _create),
    _editing("memory_delete", "Delete a memory block", "remove", (
        _LABEL, _REASON, _EXPECTED,
    ), _delete),
    _editing("memory_rename", "Rename a memory block", "change", (
        _LABEL, _text("new_label", "Its new name, in the same tier."), _REASON, _EXPECTED,
    ), _rename),
    Tool("memory_undo", "Undo the last edit of a block", "change", (_LABEL, _REASON), _undo),
    Tool("memory_status", "Show the state of memory", "read", (), _status),
)  # fmt: skip
