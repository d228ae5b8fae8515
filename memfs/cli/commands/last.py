"""`memfs last`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.cli import console, layout, options
from memfs.cli.pager import paged
from memfs.core.escaping import flatten_text, make_plain
from memfs.core.formats import format_time
from memfs.ops import recent_prompts as op
from memfs.ops.recent_prompts import RecentPrompt

_PROMPT = 200  # characters of a prompt that are shown


@click.command("last")
@click.argument("number", type=click.IntRange(1), default=1, required=False)
@options.json_option
@paged
def command(number: int, as_json: bool) -> None:
    """Show what the assistant was given at the last NUMBER prompts, and why.

    Where it was given nothing, the nearest of past sessions is named, with what it lacked.
    """
    found = op.run(options.place(), number)
    if as_json:
        console.as_json([asdict(each) for each in found])
        return
    if not found:
        console.talk("no prompt was answered here yet; see: memfs doctor")
    for each in found:
        _show(each)


def _show(found: RecentPrompt) -> None:
    head = f"{format_time(found.at)}  {found.host}  session {found.session}"
    console.echo(layout.format_head(head))
    prompt = flatten_text(found.prompt)[:_PROMPT] or "(its session is not in recall yet)"
    console.echo(f"prompt: {prompt}")
    if found.text:
        console.echo(f"given, {len(found.text):,} characters:")
        console.echo("\n".join(f"  {line}" for line in make_plain(found.text).rstrip().split("\n")))
        for reason in found.why:
            console.echo(f"because of {flatten_text(reason)}")
    else:
        console.echo("given: nothing")
    if found.nearest:
        measure = f"{found.about:.2f} of {found.floor:.2f} that are needed"
        console.echo(
            console.style(f"nearest: {flatten_text(found.nearest)} ({measure})", "bright_black")
        )
