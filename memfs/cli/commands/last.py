"""`memfs last`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import context, screen
from memfs.core.quoting import flatten_text, plain
from memfs.ops import last as op

if TYPE_CHECKING:
    from memfs.ops.last import Last

_PROMPT = 200  # characters of a prompt that are shown


@click.command("last")
@click.argument("number", type=click.IntRange(1), default=1, required=False)
@context.json_option
def command(number: int, as_json: bool) -> None:
    """Show what the assistant was given at the last NUMBER prompts, and why.

    Where it was given nothing, the nearest of past sessions is named, with what it lacked.
    """
    found = op.run(context.place(), number)
    if as_json:
        screen.as_json([asdict(each) for each in found])
        return
    if not found:
        screen.talk("no prompt was answered here yet; see: memfs doctor")
    for each in found:
        _show(each)


def _show(found: Last) -> None:
    head = f"{found.at}  {found.host}  session {found.session}"
    screen.styled(screen.style(flatten_text(head), "cyan"))
    said = flatten_text(found.prompt)[:_PROMPT] or "(its session is not in recall yet)"
    screen.styled(f"prompt: {said}")
    if found.text:
        screen.styled(f"given, {len(found.text):,} characters:")
        screen.styled("\n".join(f"  {line}" for line in plain(found.text).rstrip().split("\n")))
        for reason in found.why:
            screen.styled(f"because of {flatten_text(reason)}")
    else:
        screen.styled("given: nothing")
    if found.nearest:
        measure = f"{found.about:.2f} of {found.floor:.2f} that are needed"
        screen.styled(
            screen.style(f"nearest: {flatten_text(found.nearest)} ({measure})", "bright_black")
        )
