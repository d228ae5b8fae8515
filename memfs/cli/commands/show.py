"""`memfs show`."""

import sys

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.options import LABEL, split_version
from memfs.core.brief_layout import units
from memfs.core.escaping import flatten_text
from memfs.ops import show as op
from memfs.store import review_dates
from memfs.store.blocks import Place


@click.command("show")
@click.argument("label", required=False, default="", type=LABEL)
@click.option("--raw", is_flag=True, help="Print the whole file, including its front matter.")
@click.option("-l", "--list", "listed", is_flag=True, help="List all blocks, with their sizes.")
@options.session_option
@options.json_option
@paged
def command(label: str, raw: bool, listed: bool, session: str, as_json: bool) -> None:
    """Show a block: LABEL, TIER:LABEL, LABEL@VERSION or LABEL@COMMIT.

    LABEL@-1 is the version before the current one, LABEL@-2 the one before that.

    Without LABEL, print the brief: the text that an assistant gets when a session starts.
    """
    place = options.place(session)
    options.tell_untrusted(place)
    if listed:
        _list_blocks(place, as_json=as_json)
        return
    name, number = split_version(label)
    if not label:
        text = op.brief(place)
        if as_json:
            console.as_json({"brief": text, "units": units(text)})
        else:
            console.data(text.rstrip("\n"))
        return
    shown = op.run(place, name, number)
    block = shown.block
    if as_json:
        console.as_json(op.record(place, shown))
    elif raw:
        console.print_text(block.raw)
    else:
        if sys.stdout.isatty():
            share = block.chars / block.limit
            name = flatten_text(f"{block.tier}:{block.label}")
            head = f"{name}  version {shown.version}  {layout.bar(share)}"
            console.echo(f"{head}  {block.chars:,} of {block.limit:,} characters", err=True)
            if block.description:
                about = console.style(flatten_text(block.description), "bright_black", err=True)
                console.echo(about, err=True)
            if scope := flatten_text(block.scope.describe()):
                console.echo(console.style(scope, "bright_black", err=True), err=True)
        if block.problem:
            console.talk(f"! {block.path}: {block.problem}")
        if dates := review_dates.describe_dates(block.meta):
            console.talk(f"! {dates}")
        console.print_text(
            block.body if block.body.endswith("\n") or not block.body else block.body + "\n"
        )


def _list_blocks(place: Place, *, as_json: bool) -> None:
    listed = op.show_all(place)
    if as_json:
        console.as_json([op.record(place, shown) for shown in listed])
        return
    rows = [("TIER", "LABEL", "USED", "", "CHARS", "VERSION", "")]
    for shown in listed:
        block = shown.block
        share = block.chars / block.limit
        marks = (
            "read-only" if block.read_only else "",
            block.scope.describe(),
            "" if block.pinned or block.scope.paths else "unpinned",
            "broken: run memfs doctor" if block.problem else "",
        )
        used = (layout.bar(share), f"{share:.0%}", f"{block.chars:,} / {block.limit:,}")
        noted = ", ".join(filter(None, marks))
        rows.append((block.tier, block.label, *used, str(shown.version), noted))
    if len(rows) == 1:
        console.talk("no blocks yet; to create one, run memfs create LABEL")
    else:
        console.echo(layout.table(rows, right=(3, 4, 5)))
