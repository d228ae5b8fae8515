"""`memfs archive`."""

from __future__ import annotations

import click

from memfs.cli import console, options
from memfs.cli.edit_output import format_remainder, text_of
from memfs.ops import archive as op


@click.command("archive")
@click.argument("text")
@click.option("-t", "--tag", multiple=True, help="A tag; may be given several times.")
@options.number_option("-i", "--importance", help="How much it matters.", default=5, most=10)
@click.option("--user", is_flag=True, help="Into your own store, for all projects.")
@options.json_option
def command(text: str, tag: tuple[str, ...], importance: int, user: bool, as_json: bool) -> None:
    """Keep TEXT for the long term: found by `memfs search`, not shown in every brief.

    `-` reads it from stdin. What says the same as an earlier passage is not kept twice.
    """
    stored = op.run(
        options.place(),
        text_of(text),
        importance=importance,
        tags=tag,
        user=user,
        origin=options.get_origin(),
    )
    if as_json:
        console.as_json({"id": stored.id, "path": stored.path, "duplicate": stored.duplicate})
    elif stored.duplicate:
        console.print_done(f"it is in the archive already: {stored.id}")
    else:
        console.print_done(f"archived as {stored.id}")
        format_remainder(stored.note)
