"""`memfs recall`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.cli.progress import stoppable_stages
from memfs.context.pieces import Compression, Context
from memfs.core.formats import format_count
from memfs.ops import context as op

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore


@click.command("recall")
@click.argument("task", nargs=-1, required=True)
@options.number_option("--budget", help="Tokens at most; orchestrator.context_limit if not given.")
@click.option(
    "--compression",
    type=click.Choice(["smart", "aggressive"]),
    default=None,
    help="How to shorten texts that do not fit: by sentences, or cut off.",
)
@click.option(
    "--nearest", is_flag=True, help="Show the nearest pieces even if none is clearly relevant."
)
@options.session_option
@options.json_option
def command(
    task: tuple[str, ...],
    budget: int | None,
    compression: Compression | None,
    nearest: bool,
    session: str,
    as_json: bool,
) -> None:
    """Print a context for a model that works on TASK.

    It searches passages, past messages, facts and unpinned blocks, and joins the best, without
    duplicates.
    """
    stopped = "the index so far is saved; run it again to continue"
    with stoppable_stages(lambda: stopped, reads=True) as stage:
        place = options.place(session)

        def open_store() -> OpenStore:
            from memfs.recall.open_store import OpenStore  # where no service answers

            return OpenStore(place, stage)

        found = op.find_context(place, " ".join(task), budget or 0, compression, open_store)
    if as_json:
        console.as_json(asdict(found))
    else:
        _show(found, nearest=nearest)


def _show(found: Context, *, nearest: bool) -> None:
    for problem in found.problems:
        console.talk(f"! {problem}")
    if not found.pieces:
        console.talk("the memory has nothing about that")
        return
    if not found.sure and not nearest:
        pieces = format_count(len(found.pieces), "piece")
        console.talk(f"no hit is clearly relevant; --nearest shows the {pieces}")
        return
    console.print_text(found.text)
    shortened = f", {found.compressed} of them shortened" if found.compressed else ""
    if found.steps:
        console.talk(f"usual next steps: {', '.join(found.steps)}")
    console.talk(
        f"{found.tokens:,} tokens: {format_count(len(found.pieces), 'piece')}{shortened}; "
        f"{found.left_out:,} left out"
    )
