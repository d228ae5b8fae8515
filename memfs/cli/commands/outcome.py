"""`memfs outcome`."""

from __future__ import annotations

import click

from memfs.cli import console, options
from memfs.ops import graph as op


@click.command("outcome")
@click.argument("session")
@click.argument("how", type=click.Choice(["worked", "failed"]))
@click.option("--why", default="", metavar="TEXT", help="What told you.")
@options.number_option("--turn", help="Of this turn alone.")
def command(session: str, how: str, why: str, turn: int | None) -> None:
    """Say how a past SESSION came out (the beginning of its id will do).

    memfs sees that tests passed, a commit was made, or you said thanks; what you say here counts
    more. `memfs graph` shows it, and prompts about the same thing are told what worked.
    """
    op.set_outcome(options.place(), session, worked=how == "worked", why=why, turn=turn or 0)
    console.print_done(f"{how}: session {session}" + (f", turn {turn}" if turn else ""))
