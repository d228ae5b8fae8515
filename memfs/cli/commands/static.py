"""`memfs static`."""

from dataclasses import asdict

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.edit_input import text_of
from memfs.cli.group import CommandGroup
from memfs.cli.options import CompletedType
from memfs.core.errors import RejectedError
from memfs.knowledge.kinds import static as op
from memfs.knowledge.kinds.static import StoredEntry

_KEY = CompletedType("key", lambda place, _: [each.entry.key for each in op.find(place)])


@click.group("static", cls=CommandGroup)
def command() -> None:
    """Store reference texts that do not change: a style guide, limits, contacts."""


@command.command("add")
@click.argument("key")
@click.argument("text")
@click.option(
    "--category", default="", help="The category of the entry, such as style, contacts or limits."
)
@options.tag_option
@click.option("--user", is_flag=True, help="Store it in your own store, not the project's.")
def add(key: str, text: str, category: str, tag: tuple[str, ...], user: bool) -> None:
    """Store TEXT (`-` reads it from stdin) under a new KEY."""
    place = options.find_target(user=user)
    made = op.put(place, key, text_of(text), category=category, tags=tag, user=user)
    console.print_done(f"stored '{made.entry.key}' in the {made.tier}'s store")


@command.command("list")
@click.option("--category", default="", help="Only entries in this category.")
@options.tag_option
@click.option("--find", "query", default="", metavar="TEXT", help="Only entries with these words.")
@options.json_option
@paged
def list_(category: str, tag: tuple[str, ...], query: str, as_json: bool) -> None:
    """List the entries."""
    listed = op.find(options.place(), category=category, tags=tag, text=query)
    if as_json:
        console.as_json([_build_record(each) for each in listed])
        return
    if not listed:
        console.talk("no static entries; to add one, run memfs static add KEY TEXT")
        return
    rows = [("KEY", "TIER", "CATEGORY", "TAGS", "SIZE")]
    for each in listed:
        entry = each.entry
        category, tags = entry.category or "-", " ".join(entry.tags) or "-"
        rows.append((entry.key, each.tier, category, tags, f"{len(entry.text):,}"))
    console.echo(layout.table(rows, right=(4,)))


@command.command("show")
@click.argument("key", type=_KEY)
@options.json_option
@paged
def show(key: str, as_json: bool) -> None:
    """Print an entry."""
    found = op.get(options.place(), key)
    if as_json:
        console.as_json(_build_record(found))
        return
    console.data(found.entry.text)
    if found.entry.changed:
        console.talk("! this text has been changed by hand since it was stored")


@command.command("rm")
@click.argument("key", type=_KEY)
def rm(key: str) -> None:
    """Remove an entry. Only a person can remove entries."""
    if name := options.get_origin().host:
        raise RejectedError(
            f"only a person can remove a static entry, but this is a shell of {name}",
            f"run memfs static rm {key} in your own terminal",
        )
    console.print_done(f"removed '{op.remove(options.place(), key).entry.key}'")


def _build_record(found: StoredEntry) -> dict[str, object]:
    return {"tier": found.tier, **asdict(found.entry)}
