"""`memfs show`."""

from __future__ import annotations

import sys

import click

from memfs.cli import console, options
from memfs.cli.block_version import split_version
from memfs.core.brief_layout import units
from memfs.core.escaping import flatten_text
from memfs.ops import show as op


@click.command("show")
@click.argument("label", required=False, default="", type=options.LabelType())
@click.option("--raw", is_flag=True, help="The whole file, with its front matter.")
@options.session_option
@options.json_option
def command(label: str, raw: bool, session: str, as_json: bool) -> None:
    """Show a block: LABEL, TIER:LABEL or LABEL@VERSION (or @ the id of a commit).

    LABEL@-1 is the version before the current one, LABEL@-2 the one before that.

    Without LABEL, the brief: what an assistant is given when a session starts.
    """
    place = options.place(session)
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
        console.as_json(op.record(shown))
    elif raw:
        console.print_text(block.raw)
    else:
        if sys.stdout.isatty():
            share = block.chars / block.limit
            name = flatten_text(f"{block.tier}:{block.label}")
            head = f"{name}  version {shown.version}  {console.bar(share)}"
            console.echo(f"{head}  {block.chars:,} of {block.limit:,} characters", err=True)
            if block.description:
                about = console.style(flatten_text(block.description), "bright_black", err=True)
                console.echo(about, err=True)
        if block.problem:
            console.talk(f"! {block.path}: {block.problem}")
        console.print_text(
            block.body if block.body.endswith("\n") or not block.body else block.body + "\n"
        )
