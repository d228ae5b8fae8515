"""`memfs static`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.cli.edit_output import text_of
from memfs.core.errors import RejectedError, UsageError
from memfs.knowledge.kinds import static as op

if TYPE_CHECKING:
    from memfs.knowledge.kinds.static import StoredEntry


@click.command("static")
@click.argument("key", required=False, default="")
@click.argument("text", required=False, default="")
@click.option("--category", default="", help="What it is filed under: style, contacts, limits.")
@click.option("-t", "--tag", multiple=True, help="A tag; may be given several times.")
@click.option("--find", "query", default="", metavar="TEXT", help="List those with these words.")
@click.option("--user", is_flag=True, help="Store it in your own store, not the project's.")
@click.option("--remove", is_flag=True, help="Remove it. That is for people.")
@options.json_option
def command(
    key: str,
    text: str,
    category: str,
    tag: tuple[str, ...],
    query: str,
    user: bool,
    remove: bool,
    as_json: bool,
) -> None:
    """Keep reference texts that do not change: a style guide, limits, contacts.

    With KEY and TEXT (- reads it from stdin) an entry is stored, once: a key that is taken is
    refused. With KEY alone it is shown, without one entries are listed.
    """
    place = options.place()
    if remove:
        if not key or text:
            raise UsageError("remove which entry?", "memfs static KEY --remove")
        if options.get_origin().actor == "agent":
            raise RejectedError("an entry is removed by a person", "ask the user to do it")
        console.print_done(f"removed '{op.remove(place, key).entry.key}'")
        return
    if key and text:
        made = op.put(place, key, text_of(text), category=category, tags=tag, user=user)
        console.print_done(f"stored '{made.entry.key}' in the {made.tier}'s store")
        return
    if key:
        found = op.get(place, key)
        if as_json:
            console.as_json(_build_record(found))
            return
        console.data(found.entry.text)
        if found.entry.changed:
            console.talk("! this text was changed by hand since it was stored")
        return
    listed = op.find(place, category=category, tags=tag, text=query)
    if as_json:
        console.as_json([_build_record(each) for each in listed])
        return
    if not listed:
        console.talk("no entries; memfs static KEY TEXT stores one")
        return
    rows = [("KEY", "TIER", "CATEGORY", "TAGS", "SIZE")]
    rows += [
        (
            each.entry.key,
            each.tier,
            each.entry.category or "-",
            " ".join(each.entry.tags) or "-",
            f"{len(each.entry.text):,}",
        )
        for each in listed
    ]
    console.echo(console.table(rows, right=(4,)))


def _build_record(found: StoredEntry) -> dict[str, object]:
    return {"tier": found.tier, **asdict(found.entry)}
