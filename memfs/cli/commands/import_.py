"""`memfs import`."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import click

from memfs.cli import context, screen
from memfs.cli.edits import note
from memfs.ops import import_ as op

if TYPE_CHECKING:
    from memfs.memory.foreign import Item

_SHOWN = 100  # cells of a passage
_NOUNS = {
    "block": "block", "passage": "passage", "facts": "file of facts", "static": "static text",
    "session": "session",
}  # fmt: skip


@click.command("import")
@click.argument("file", type=click.Path())
@click.option("--user", is_flag=True, help="Into your own store, instead of the project's.")
@click.option("--anyway", is_flag=True, help="Also if FILE is the export of the other store.")
@click.option("--dry-run", is_flag=True, help="Show what would be added, and write nothing.")
@context.json_option
def command(file: str, user: bool, anyway: bool, dry_run: bool, as_json: bool) -> None:
    """Take the memory in FILE into the project's: an export, or a zip or tar of an .agent-memory.

    Blocks that are here too are merged: nothing either side wrote is missing, and memfs undo takes
    each back. Passages and sessions are added. Settings and history are never taken over. What
    holds a secret, is over its limit or read-only here is left and named: exit code 1.

    It is somebody's text, and an assistant will read it: what was added is shown; look at it.
    """
    place = context.place()
    origin = context.origin(f"from {os.path.basename(file)}")
    done = op.run(place, file, origin, user=user, anyway=anyway, dry_run=dry_run)
    if as_json:
        screen.as_json(_record(done))
    else:
        _told(done, dry_run=dry_run)
    if any(item.outcome == "refused" for item in done.items):
        screen.refuse()


def _record(done: op.Imported) -> dict[str, object]:
    items = [
        {"kind": item.kind, "name": item.name, "outcome": item.outcome, "detail": item.detail,
         "signs": [sign._asdict() for sign in item.signs]}
        for item in done.items
    ]  # fmt: skip
    return {"items": items, "config": done.config, "edits": done.edits, "left_out": done.left_out,
            "unpinned": done.unpinned}  # fmt: skip


def _told(done: op.Imported, *, dry_run: bool) -> None:
    for item in done.items:
        _shown(item)
    for item in done.items:
        if item.outcome == "refused":
            screen.talk(f"! {item.detail}")
    for item in done.items:
        for sign in item.signs:
            quoted = f": {screen.shorten(sign.text, 60)}" if sign.text else ""
            screen.talk(f"! {item.name}:{sign.line} {sign.what}{quoted}")
    for label in done.unpinned:
        screen.talk(f"! {label} is not pinned here: enough blocks are (max_blocks)")
    if done.config:
        screen.talk("  its config.yaml is not taken over; settings are yours")
    if done.edits:
        screen.talk(f"  its history ({screen.count(done.edits, 'edit')}) is not taken over")
    if done.left_out:
        screen.talk(f"  {screen.count(done.left_out, 'file')} in it are no memory")
    added = [item for item in done.items if item.outcome in ("new", "merged")]
    same = sum(item.outcome == "same" for item in done.items)
    counts = [
        screen.count(number, _NOUNS[kind])
        for kind, number in Counter(item.kind for item in added).items()
    ]
    what = f"{', '.join(counts) or 'nothing'} added"
    screen.done(f"{'would be: ' if dry_run else ''}{what}, {same:,} here already")
    note(done.note)
    if added and not dry_run:
        screen.talk("  look at it: memfs show, memfs log; memfs undo LABEL takes a block back")


def _shown(item: Item) -> None:
    """Show what an item adds."""
    if item.outcome not in ("new", "merged"):
        return
    if item.kind == "block":
        screen.data(item.detail.rstrip("\n"))
    elif item.kind == "facts":
        screen.data(f"+ {item.name}\n{item.detail.rstrip()}")
    else:
        screen.data(f"+ {item.kind} {item.name}: {screen.shorten(item.detail, _SHOWN)}")
