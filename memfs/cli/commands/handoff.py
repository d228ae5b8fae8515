"""`memfs handoff`."""

from __future__ import annotations

import click

from memfs.cli import options
from memfs.cli.commands.last import show_last
from memfs.cli.progress import stoppable_stages
from memfs.ops import handoff as op


@click.command("handoff")
@click.option("--drop", is_flag=True, help="Do not tell the next session.")
@options.json_option
def command(drop: bool, as_json: bool) -> None:
    """Have the next session be told where the last one stopped, and print what it is told.

    It is told once, in whatever assistant: what was asked last, how that closed, what is open,
    which files were edited, and the last command if it failed. That happens by itself, for seven
    days where something is open, for one day otherwise. This command reads what is new first,
    and has it told again, however old it is. To turn it off: hooks.handoff in config.yaml.
    """
    place = options.place()
    if drop:
        show_last(op.drop(place), as_json=as_json)
        return
    with stoppable_stages(lambda: "nothing was handed over; run it again", ("reading",)) as stage:
        found = op.hand_over(place, options.home(), stage)
    show_last(found, as_json=as_json)
