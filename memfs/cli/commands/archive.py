"""`memfs archive`."""

from dataclasses import asdict
from functools import partial

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.edit_input import open_editor, text_of
from memfs.cli.edit_output import format_remainder
from memfs.cli.group import CommandGroup
from memfs.cli.options import CompletedType
from memfs.core.formats import format_day
from memfs.ops import archive as op
from memfs.ops.archive import StoredPassage
from memfs.store import review_dates

_PASSAGE = CompletedType(
    "id", lambda place, _: [each.passage.id for each in op.list_passages(place)]
)
_ID = 8  # characters of an id that are shown: its last ones, which are random


@click.group("archive", cls=CommandGroup)
def command() -> None:
    """Store passages, which `memfs search` finds and the brief does not show."""


@command.command("add")
@click.argument("text")
@options.tag_option
@options.number_option(
    "-i", "--importance", help="Importance, from 1 (trivial) to 10 (vital).", default=5, most=10
)
@click.option("--user", is_flag=True, help="Store TEXT in your own store, for all projects.")
@options.json_option
def add(text: str, tag: tuple[str, ...], importance: int, user: bool, as_json: bool) -> None:
    """Store TEXT (`-` reads it from stdin). A text that already exists is not stored twice."""
    place, origin = options.find_target(user=user), options.get_origin()
    stored = op.run(place, text_of(text), importance=importance, tags=tag, user=user, origin=origin)
    if as_json:
        console.as_json({"id": stored.id, "path": stored.path, "duplicate": stored.duplicate})
    elif stored.duplicate:
        console.print_done(f"this text is already in the archive: {stored.id}")
    else:
        console.print_done(f"archived as {stored.id}")
        format_remainder(stored.note)


@command.command("list")
@options.tag_option
@options.count_option(20, "Maximum number of passages to show; 0 shows all.", least=0)
@options.json_option
@paged
def list_(tag: tuple[str, ...], count: int, as_json: bool) -> None:
    """List passages, newest first. With --tag, only those with all tags."""
    found = op.list_passages(options.place(), tag)
    shown = found[: count or None]
    if as_json:
        console.as_json([_build_record(each) for each in shown])
        return
    if not found:
        console.talk("no passages; to store one, run memfs archive add TEXT")
        return
    rows = [("ID", "DAY", "TIER", "WEIGHT", "TEXT")]
    for each in shown:
        passage = each.passage
        tags = "".join(f" #{tag}" for tag in passage.tags)
        text = " ".join(passage.text.split()) + tags
        day, weight = format_day(passage.created_at), str(passage.importance)
        rows.append((passage.id[-_ID:], day, each.tier, weight, text))
    console.echo(layout.table(rows, right=(3,), cut=4))
    if len(shown) < len(found):
        console.talk(f"{len(shown)} of {len(found):,} passages; -n 0 shows all")


@command.command("show")
@click.argument("id", type=_PASSAGE)
@options.json_option
@paged
def show(id: str, as_json: bool) -> None:
    """Print the passage whose id begins or ends with ID."""
    found = op.find_passage(options.place(), id)
    if as_json:
        console.as_json(_build_record(found))
        return
    passage = found.passage
    tags = " ".join(f"#{tag}" for tag in passage.tags)
    head = [passage.id, format_day(passage.created_at), f"importance {passage.importance}", tags]
    head.append(passage.source and f"from {passage.source}")
    head.append(review_dates.describe_dates(vars(passage)))
    console.talk("  ".join(part for part in head if part))
    console.data(passage.text)


@command.command("edit")
@click.argument("id", type=_PASSAGE)
@click.option("--set", "text", metavar="TEXT", help="Replace the whole text (- reads stdin).")
@click.option(
    "-t", "--tag", multiple=True, metavar="TAG", help="Replace the tags; may be repeated."
)
@options.number_option(
    "-i", "--importance", help="Importance, from 1 (trivial) to 10 (vital).", most=10
)
def edit(id: str, text: str | None, tag: tuple[str, ...], importance: int | None) -> None:
    """Change a passage. Without options, edit its text in your editor. The id stays the same."""
    place = options.place()
    change = partial(op.edit, place, id, options.get_origin(), importance=importance)
    if text is None and not tag and importance is None:
        with open_editor(f"{op.find_passage(place, id).passage.text}\n", "passage") as written:
            done = change(text=written)
    else:
        done = change(text=None if text is None else text_of(text), tags=tag or None)
    console.print_done(f"{done.id} is unchanged" if done.duplicate else f"changed {done.id}")
    format_remainder(done.note)


@command.command("rm")
@click.argument("id", type=_PASSAGE)
@options.yes_option("Do not ask for confirmation.")
def rm(id: str, yes: bool) -> None:
    """Remove a passage (only a person can). Git's history keeps the text."""
    place = options.place()
    found = op.find_passage(place, id)
    if not yes:
        if console.can_ask():
            console.data(found.passage.text)
        refusal, hint = "removing a passage needs your confirmation", "add --yes to confirm"
        options.confirm("Remove this passage?", refusal, hint)
    done = op.remove_passage(place, found.passage.id, options.get_origin())
    console.print_done(f"removed {done.id}")
    format_remainder(done.note)


def _build_record(found: StoredPassage) -> dict[str, object]:
    return {"tier": found.tier, "path": found.path, **asdict(found.passage)}
