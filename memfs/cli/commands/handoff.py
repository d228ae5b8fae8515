"""`memfs handoff`."""

from __future__ import annotations

import click

from memfs.cli import options
from memfs.cli.commands.last import show_last
from memfs.cli.progress import stoppable_stages
from memfs.ops import handoff as op


@click.command("handoff")
@click.option("--drop", is_flag=True, help="Drop the note.")
@options.json_option
def command(drop: bool, as_json: bool) -> None:
    """Give a note about the end of the last session to the next one, and print it.

    The note comes once, in any assistant: the last request, the closing message, open items,
    edited files, and the last command if it failed. memfs gives it by itself, for seven days if an
    item is open, otherwise for one day. This command first reads new sessions, and gives the note
    again, however old it is. To turn it off: hooks.handoff in config.yaml.
    """
    place = options.place()
    if drop:
        show_last(op.drop(place), as_json=as_json)
        return
    with stoppable_stages(lambda: "no note was handed over; run it again", ("reading",)) as stage:
        found = op.hand_over(place, options.home(), stage)
    show_last(found, as_json=as_json)
