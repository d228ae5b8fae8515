"""`memfs context`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.core.errors import UsageError
from memfs.ops import context as op
from memfs.recall.index_session import IndexSession

if TYPE_CHECKING:
    from memfs.context.assemble import Compression
    from memfs.knowledge.orchestrator import Context
    from memfs.store.blocks import Place


@click.command("context")
@click.option(
    "--task",
    default="",
    metavar="TEXT",
    help="Compose what memory holds for this task, to put before a model.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=None,
    metavar="N",
    help="Tokens: of the window, or with --task of what is composed.",
)
@click.option(
    "--compression",
    type=click.Choice(["smart", "aggressive"]),
    default=None,
    help="How what does not fit is shortened: by its sentences, or cut off.",
)
@click.option(
    "--nearest",
    is_flag=True,
    help="With --task: show the nearest where nothing is clearly relevant.",
)
@options.session_option
@options.json_option
def command(
    task: str,
    budget: int | None,
    compression: Compression | None,
    nearest: bool,
    session: str,
    as_json: bool,
) -> None:
    """Show what the memory here takes of a context window, or compose a context for a task.

    Part of the window (context.max_tokens) is kept free for the answer and for tool calls; blocks
    have a third of the rest at most. What is left is for messages, their summary, and what is
    found.

    With --task, passages, past messages and blocks that are not pinned are searched, and the best
    are put together in at most N tokens (orchestrator.context_limit), nothing twice.
    """
    place = options.place(session)
    if task:
        found = op.for_task(IndexSession(place), task, budget or 0, compression)
        if as_json:
            console.as_json(asdict(found))
        else:
            _show(found, nearest=nearest)
        return
    if compression:
        raise UsageError("--compression is for what is composed", "add --task TEXT")
    _show_usage(place, budget or 0, as_json=as_json)


def _show(found: Context, *, nearest: bool) -> None:
    for problem in found.problems:
        console.talk(f"! {problem}")
    if not found.pieces:
        console.talk("memory holds nothing about that")
        return
    if not found.sure and not nearest:
        pieces = console.format_count(len(found.pieces), "piece")
        console.talk(f"nothing is clearly relevant; --nearest shows the {pieces}")
        return
    console.print_text(found.text)
    shortened = f", {found.compressed} of them shortened" if found.compressed else ""
    if found.steps:
        console.talk(f"what usually came next: {', '.join(found.steps)}")
    console.talk(
        f"{found.tokens:,} tokens: {console.format_count(len(found.pieces), 'piece')}{shortened}; "
        f"{found.left_out:,} left out"
    )


def _show_usage(place: Place, budget: int, *, as_json: bool) -> None:
    found = op.run(place, budget)
    if as_json:
        console.as_json({**asdict(found), "used": found.used, "left": found.left})
        return
    room = found.budget.room
    rows = [("SECTION", "TOKENS", "", "OF THE ROOM", "CUT")]
    rows += [
        (
            section.name,
            f"{section.shown:,}",
            console.bar(section.shown / room),
            f"{section.shown / room:.0%}",
            f"{section.cut:,}" if section.cut > 0 else "-",
        )
        for section in found.sections
    ]
    rows.append(
        (
            "left for the conversation",
            f"{found.left:,}",
            console.bar(max(0, found.left) / room),
            f"{found.left / room:.0%}",
            "-",
        )
    )
    console.echo(console.table(rows, right=(1, 3, 4)))
    window = found.budget
    console.talk(
        f"{window.window:,} tokens, {window.response:,} of them kept free for the answer, "
        f"{window.tools:,} for tool calls; counted by {found.counter}"
    )
    for name in found.host:
        console.talk(f"! an assistant's hooks take less than this: '{name}' is cut there")
