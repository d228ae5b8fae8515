"""`memfs session`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import pairwise, takewhile

import click

from memfs.cli import console, layout, options
from memfs.cli.completion import CompletedType
from memfs.cli.group import CommandGroup
from memfs.cli.layout import format_age, format_size, print_messages
from memfs.cli.pager import paged
from memfs.core.errors import UsageError
from memfs.core.formats import format_count, format_day
from memfs.ops import sessions as op

_SESSION = CompletedType("id", lambda place, _: [each.id for each in op.list_sessions(place)])
_ID = 8  # characters of an id that are shown


@click.group("session", cls=CommandGroup)
def command() -> None:
    """List, show, rate and forget recorded sessions."""


@command.command("list")
@options.count_option(20, "Sessions shown at most; 0: all.", least=0)
@options.host_option(multiple=False)
@options.json_option
@paged
def list_(count: int, host: str | None, as_json: bool) -> None:
    """List the sessions in recall, the latest first, each with its first prompt."""
    found = op.list_sessions(options.place(), host=host or "")
    shown = found[: count or None]
    if as_json:
        console.as_json([asdict(each) for each in shown])
        return
    if not found:
        console.talk("no sessions; memfs ingest reads what assistants recorded")
        return
    sizes = _measure_ids(each.id for each in found)
    rows = [("ID", "ENDED", "HOST", "SIZE", "OUTCOME", "FIRST PROMPT")]
    for each in shown:
        size = format_size(each.bytes)
        prompt = " ".join(each.prompt.split()) or "-"
        age = format_age(each.ended)
        rows.append(
            (each.id[: sizes.get(each.id, _ID)], age, each.host, size, each.outcome or "-", prompt)
        )
    console.echo(layout.table(rows, right=(3,), cut=5))
    if len(shown) < len(found):
        console.talk(f"{len(shown)} of {len(found):,}; -n 0 shows all")


def _measure_ids(idents: Iterable[str]) -> dict[str, int]:
    """Return how much of each id tells it from all others, `_ID` characters at least."""
    sizes: dict[str, int] = {}
    for one, other in pairwise(sorted(set(idents))):
        common = (
            sum(
                1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
            )
            + 1
        )
        sizes[one] = max(_ID, common, sizes.get(one, 0))
        sizes[other] = max(_ID, common)
    return sizes


@command.command("show")
@click.argument("id", type=_SESSION)
@options.number_option("--turn", help="Begin at this turn.")
@click.option("--full", is_flag=True, help="Show whole texts, those of tools too.")
@options.json_option
@paged
def show(id: str, turn: int | None, full: bool, as_json: bool) -> None:
    """Show the session with an id that begins with ID, turn by turn."""
    place = options.place()
    found, _ = op.find_session(place, id)
    messages = op.number_turns(op.read_session(place, found.id))
    said = [each for each in messages if each.turn >= (turn or 0)]
    if turn and not said:
        raise UsageError(f"the session has no turn {turn}", f"memfs session show {id}")
    if as_json:
        texts = [{"turn": each.turn, **each.message._asdict()} for each in said]
        console.as_json({**asdict(found), "messages": texts})
        return
    head = f"session {found.id}  {found.host}  {format_day(found.started)}  {found.outcome}"
    console.echo(layout.format_head(head.rstrip()))
    print_messages(said, full=full)


@command.command("forget")
@click.argument("id", type=_SESSION)
@options.yes_option("Do not ask.")
def forget(id: str, yes: bool) -> None:
    """Remove a session from recall, search, the graph and the facts; it is not read again.

    Accepted facts, blocks and the archive stay. The assistant's own transcript stays, too. Only
    people may do this.
    """
    place = options.place()
    found, _ = op.find_session(place, id)
    if not yes:
        if not console.can_ask():
            raise UsageError(
                "forgetting needs your confirmation", f"memfs session forget {id} --yes"
            )
        console.talk(f"{found.host} session {found.id}, {format_day(found.started)}:")
        console.talk(f"  {layout.shorten(found.prompt, console.columns() - 2)}")
        click.confirm("Forget it?", abort=True, err=True)
    done = op.forget_session(place, found.id, options.get_origin())
    facts = f", {format_count(done.facts, 'fact')}" if done.facts else ""
    console.print_done(f"forgot {format_count(done.messages, 'message')}{facts}")
    console.talk("  the next search makes the index anew, without it")


@command.command("outcome")
@click.argument("id", type=_SESSION)
@click.argument("how", type=click.Choice(["worked", "failed"]))
@click.option("--why", default="", metavar="TEXT", help="The reason for your rating.")
@options.number_option("--turn", help="Rate only this turn.")
def outcome(id: str, how: str, why: str, turn: int | None) -> None:
    """Rate a past session (the beginning of its ID is enough).

    memfs also notices passed tests, commits and thanks, but your rating counts more. `memfs graph`
    shows it, and prompts about the same problem bring the solution.
    """
    from memfs.ops import graph  # with numpy, which a list needs not

    graph.set_outcome(options.place(), id, worked=how == "worked", why=why, turn=turn or 0)
    console.print_done(f"{how}: session {id}" + (f", turn {turn}" if turn else ""))
