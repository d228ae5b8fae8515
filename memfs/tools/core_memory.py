"""Tool calls on core memory: the blocks."""

import json
from collections.abc import Sequence
from typing import assert_never

from memfs.context import page_scores
from memfs.core import label
from memfs.core.block import WARN_AT, Block
from memfs.core.block_states import ContradictedLine
from memfs.core.body_edits import Edit, Rejected
from memfs.core.errors import RejectedError
from memfs.core.escaping import flatten_text
from memfs.core.records import JournalEntry
from memfs.ops import edit, show, status
from memfs.ops.edit import Edited, Unchanged
from memfs.ops.undo import undo_edit
from memfs.store import blocks
from memfs.tools.definition import Arguments
from memfs.tools.tool_context import ToolContext

_DELETED = "was deleted; the user can restore the block with memfs undo {}"
_GONE = {"rename": "was renamed", "undo": "no longer exists"}


def read_block(context: ToolContext, arguments: Arguments) -> str:
    """Return one block with its version and size, or the list of all."""
    label = arguments.get("label", "")
    if not label:
        return _list_blocks(context)
    shown = show.run(context.place(), label, str(arguments.get("version") or ""))
    block = shown.block
    size = f"{block.chars:,}/{block.limit:,} characters{block.size_in_tokens}"
    facts = [f"version {shown.version}", size]
    if block.read_only:
        facts.append("read-only")
    if block.problem:
        facts.append(block.problem)
    head = flatten_text(f"[{_qualify(block)}] {', '.join(facts)}")
    return f"{head}\n{flatten_text(block.description)}\n\n{block.value}"


def _list_blocks(context: ToolContext) -> str:
    lines = []
    for shown in show.show_all(context.place()):
        block = shown.block
        facts = f"{block.chars:,}/{block.limit:,} characters"
        pinned = "" if block.pinned else ", not in your context"
        lines.append(flatten_text(f"[{_qualify(block)}] {facts}{pinned}: {block.description}"))
    return "\n".join(lines) or "there are no blocks yet; create a block with memory_create"


def _qualify(block: Block) -> str:
    return label.qualify(block.tier, block.label)


def undo(context: ToolContext, arguments: Arguments) -> str:
    """Undo the last edit of a block; return the version undone, and a line on the block."""
    name, origin = label.normalise(arguments["label"]), context.with_reason(arguments.get("reason"))
    done = undo_edit(context.place(), name, origin)
    return "\n".join([f"undone: version {done.undone.version}", *_describe(context, done.entries)])


def format_status(context: ToolContext, arguments: Arguments) -> str:  # noqa: ARG001 - every tool is called alike
    """Return the state of memory: its stores, their sizes, and a line for each block."""
    found = status.run(context.place(), "")
    lines = [
        flatten_text(
            f"- {each.block.label} ({each.block.tier}): version {each.version}, "
            f"{each.block.chars:,}/{each.block.limit:,} characters, {each.content}, "
            f"{each.freshness}, {each.sync}"
        )
        for each in found.blocks
    ]
    return "\n".join(
        [
            flatten_text(f"project: {found.project or 'none'}"),
            flatten_text(f"user: {found.user or 'none'}"),
            f"recall: {found.messages:,} messages from {found.sessions:,} sessions",
            f"archive: {found.passages:,} passages",
            "blocks:",
            *lines,
        ]
    )


def apply(
    context: ToolContext,
    edits: list[Edit],
    reason: object = "",
    expected: Sequence[int | None] = (),
) -> list[str]:
    """Make edits, all or none; return a line for each block. Raises `RejectedError`.

    `expected` are the versions that the blocks have to be at, one for each edit.
    """
    outcome = edit.run(context.place(), edits, context.with_reason(reason), expected)
    match outcome:
        case Edited():
            note = [flatten_text(outcome.note)] if outcome.note else []
            mends = [flatten_text(_word_mend(each)) for each in outcome.contradicted]
            return [*_describe(context, outcome.entries), *note, *mends]
        case Unchanged():
            return [flatten_text(f"nothing changed: '{outcome.label}' already has this text")]
        case Rejected():
            raise RejectedError(outcome.message, outcome.hint)
        case _:
            assert_never(outcome)


def _word_mend(line: ContradictedLine) -> str:
    """Return what a model is told of a line that what it added contradicts."""
    given = {"label": line.label, "old_content": line.old, "new_content": line.new}
    return (
        f"line {line.number} contradicts the new text: {line.text!r}. If line {line.number} is "
        f"outdated, call core_memory_replace with {json.dumps(given, ensure_ascii=False)}"
    )


def run_edits(context: ToolContext, arguments: Arguments, edits: list[Edit]) -> str:
    """Make the edits of a call; return a line for each block. Raises `RejectedError`."""
    expected = [arguments.get("expected_version")]
    return "\n".join(apply(context, edits, arguments.get("reason"), expected))


def _describe(context: ToolContext, entries: tuple[JournalEntry, ...]) -> list[str]:
    """Return lines for journal entries: the block's new version and size, or that it is gone."""
    lines = []
    for entry in entries:
        if entry.after is None:
            deleted = _DELETED.format(entry.label)
            lines.append(flatten_text(f"done: '{entry.label}' {_GONE.get(entry.op, deleted)}"))
            continue
        block = blocks.make(entry.tier, entry.label, "", entry.after)
        full = f"{block.chars:,}/{block.limit:,} characters{block.size_in_tokens}"
        nearly = block.fill >= WARN_AT
        hint = "; nearly full: consolidate it with memory_rethink" if nearly else ""
        done = f"done: '{entry.label}' is at version {entry.version}, {full}{hint}"
        lines.append(flatten_text(done))
        parts = page_scores.name_spare_parts(context.place(), block) if nearly else []
        if parts:
            lines.append(flatten_text(f"memory_page_out can archive: {'; '.join(parts)}"))
    return lines
