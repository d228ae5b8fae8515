"""`memfs session`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise, takewhile
from typing import Any

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.group import CommandGroup
from memfs.cli.layout import format_age, print_messages
from memfs.cli.options import CompletedType
from memfs.core.errors import UsageError
from memfs.core.formats import format_count, format_day
from memfs.ops import sessions as op
from memfs.ops.sessions import RecordedSession, SessionFilter
from memfs.store.blocks import Place

_SESSION = CompletedType("id", lambda place, _: [each.id for each in op.list_sessions(place)])
_ID = 8  # characters of an id that are shown
_NAMED = 30  # sessions that are listed before they are forgotten


@click.group("session", cls=CommandGroup)
def command() -> None:
    """List, show, star, rename, rate and forget recorded sessions."""


_filter_options = options.add_options(
    click.option(
        "--text",
        default="",
        metavar="TEXT",
        help="Only sessions with TEXT in the title or a message.",
    ),
    click.option(
        "--since",
        metavar="DATE",
        help="Only sessions that ended on or after this day, such as 2026-05-03 or 7d.",
    ),
    click.option("--until", metavar="DATE", help="Only sessions that ended on or before this day."),
    options.host_option(),
    click.option(
        "--project",
        default="",
        metavar="TEXT",
        help="Only sessions with TEXT in the project's path.",
    ),
    click.option(
        "--outcome",
        type=click.Choice(["worked", "failed"]),
        help="Only sessions with this outcome.",
    ),
)


def _make_filter(**given: Any) -> SessionFilter:
    for name in ("since", "until"):
        if given[name]:
            from memfs.ops import search  # with the service's client

            given[name] = search.parse_day(given[name], end=name == "until")
    return SessionFilter(**{name: value for name, value in given.items() if value})


@command.command("list")
@options.count_option(20, "Maximum number of sessions to show; 0 shows all.", least=0)
@_filter_options
@click.option("--starred", is_flag=True, help="Only starred sessions.")
@options.json_option
@paged
def list_(count: int, as_json: bool, **conditions: Any) -> None:
    """List recorded sessions that meet all conditions, the latest first."""
    place, only = options.place(), _make_filter(**conditions)
    found = op.list_sessions(place, only=only)
    shown = found[: count or None]
    if as_json:
        messages = [op.count_messages(place, each) for each in shown]
        rows = zip(shown, messages, strict=True)
        console.as_json([{**asdict(each), "messages": number} for each, number in rows])
        return
    if not found:
        why = "no sessions yet; to read the transcripts of assistants, run memfs ingest"
        console.talk(why if only == op.ALL else "no session meets these conditions")
        return
    console.echo(_format_table(place, shown, _measure_ids(each.id for each in found)))
    if len(shown) < len(found):
        console.talk(f"{len(shown)} of {len(found):,} sessions; to show all, add -n 0")


def _format_table(place: Place, shown: Sequence[RecordedSession], sizes: Mapping[str, int]) -> str:
    rows = [("ID", "ENDED", "HOST", "MESSAGES", "OUTCOME", "TITLE")]
    for each in shown:
        ident, age = each.id[: sizes.get(each.id, _ID)], format_age(each.ended)
        title = ("★ " if each.starred else "") + (each.title or "-")
        messages = f"{op.count_messages(place, each):,}"
        rows.append((ident, age, each.host, messages, each.outcome or "-", title))
    return layout.table(rows, right=(3,), cut=5)


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
@click.option("--full", is_flag=True, help="Show messages in full, including tool output.")
@options.json_option
@paged
def show(id: str, turn: int | None, full: bool, as_json: bool) -> None:
    """Show the session with an id that begins with ID, turn by turn."""
    place = options.place()
    found, _ = op.find_session(place, id)
    messages = op.number_turns(op.read_session(place, found.id))
    said = [each for each in messages if each.turn >= (turn or 0)]
    if turn and not said:
        raise UsageError(
            f"the session has no turn {turn}", f"list the turns: memfs session show {id}"
        )
    if as_json:
        texts = [{"turn": each.turn, **each.message._asdict()} for each in said]
        console.as_json({**asdict(found), "messages": texts})
        return
    head = f"session {found.id}  {found.host}  {format_day(found.started)}  {found.outcome}"
    console.echo(layout.format_head(head.rstrip()))
    print_messages(said, full=full)


@command.command("star")
@click.argument("ids", nargs=-1, required=True, type=_SESSION, metavar="ID...")
def star(ids: tuple[str, ...]) -> None:
    """Star sessions: memfs session forget skips them, unless you give their ids."""
    _star(ids, starred=True)


@command.command("unstar")
@click.argument("ids", nargs=-1, required=True, type=_SESSION, metavar="ID...")
def unstar(ids: tuple[str, ...]) -> None:
    """Remove the stars from sessions."""
    _star(ids, starred=False)


def _star(ids: Iterable[str], *, starred: bool) -> None:
    place = options.place()
    found = [op.find_session(place, each)[0] for each in ids]
    op.star_sessions(place, found, starred=starred)
    for each in found:
        console.print_done(f"{'starred' if starred else 'star removed'}: {each.title}")


@command.command("rename")
@click.argument("id", type=_SESSION)
@click.argument("title")
def rename(id: str, title: str) -> None:
    """Give a session a TITLE; "" restores the title from its first prompt."""
    place = options.place()
    found, _ = op.find_session(place, id)
    console.print_done(f"renamed session {found.id}: {op.rename_session(place, found, title)}")


@command.command("forget")
@click.argument("ids", nargs=-1, type=_SESSION, metavar="[ID]...")
@_filter_options
@options.yes_option("Do not ask for confirmation.")
def forget(ids: tuple[str, ...], yes: bool, **conditions: Any) -> None:
    """Remove sessions from recall, search, the graph and the facts; they are not read again.

    Give their ids, or conditions. The command lists the sessions that meet all conditions, and
    asks. Without a terminal it removes nothing unless you add --yes. Starred sessions are removed
    only if you give their ids.

    Forgetting cannot be undone. Accepted facts, blocks, the archive and the assistants' own
    transcripts stay. Only a person can forget sessions.
    """
    place, only = options.place(), _make_filter(**conditions)
    if bool(ids) == (only != op.ALL):
        raise UsageError(
            "give either session ids or conditions",
            "for example, run memfs session forget --until 90d",
        )
    if ids:
        found, starred = [op.find_session(place, each)[0] for each in ids], 0
    else:
        every = op.list_sessions(place, only=only)
        found = [each for each in every if not each.starred]
        starred = len(every) - len(found)
    if starred:
        console.talk(
            f"left out {format_count(starred, 'starred session')}; "
            "to forget starred sessions, give their ids"
        )
    if not found:
        console.talk("no session meets these conditions")
        return
    if not yes:
        _confirm_forgetting(found)
    done = op.forget_sessions(place, found, options.get_origin())
    facts = f", {format_count(done.facts, 'fact')}" if done.facts else ""
    what = f"{format_count(done.sessions, 'session')}: {format_count(done.messages, 'message')}"
    console.print_done(f"forgot {what}{facts}")
    console.talk("  the next search rebuilds the index without these sessions")


def _confirm_forgetting(found: Sequence[RecordedSession]) -> None:
    """List the sessions that would go, and ask. Raises `UsageError` where there is no terminal."""
    console.talk(f"{format_count(len(found), 'session')} would be forgotten:")
    sizes = _measure_ids(each.id for each in found)
    for each in found[:_NAMED]:
        head = f"  {each.id[: sizes.get(each.id, _ID)]}  {format_day(each.ended)}  {each.host}  "
        room = max(20, console.columns() - len(head))
        console.talk(head + layout.shorten(each.title or "-", room))
    if len(found) > _NAMED:
        console.talk(
            f"  and {len(found) - _NAMED:,} more; to list them, run memfs session list with the "
            "same options"
        )
    console.talk("Forgetting cannot be undone. The assistants' own transcripts stay.")
    question = "Forget them?" if len(found) > 1 else "Forget it?"
    options.confirm(question, "forgetting sessions needs your confirmation", "add --yes to confirm")


@command.command("outcome")
@click.argument("id", type=_SESSION)
@click.argument("how", type=click.Choice(["worked", "failed"]))
@click.option("--why", default="", metavar="TEXT", help="The reason for your rating.")
@options.number_option("--turn", help="Rate only this turn.")
def outcome(id: str, how: str, why: str, turn: int | None) -> None:
    """Rate a past session (the beginning of its ID is enough).

    memfs also notices passed tests, commits and thanks, but your rating counts more. `memfs graph`
    shows the rating, and prompts about the same problem recall the solution.
    """
    from memfs.ops import graph  # with numpy, which a list needs not

    graph.set_outcome(options.place(), id, worked=how == "worked", why=why, turn=turn or 0)
    console.print_done(f"rated session {id}{f', turn {turn}' if turn else ''}: {how}")
