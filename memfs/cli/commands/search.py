"""`memfs search`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.cli.interruption import stoppable_stages
from memfs.core.escaping import flatten_text
from memfs.core.records import Hit
from memfs.ops import search as op
from memfs.recall.index_session import IndexSession
from memfs.search.engine import Filter, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.core.records import SessionHit

_STOPPED = "what was indexed is kept; run the search again to continue"


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--in",
    "places",
    multiple=True,
    type=click.Choice(sorted(op.KINDS)),
    help="Only in recall (past sessions), the archive, and so on.",
)
@click.option(
    "--role",
    multiple=True,
    type=click.Choice(["user", "assistant", "tool"]),
    help="Only what the user, the assistant or a tool said.",
)
@click.option("--session", multiple=True, metavar="ID", help="Only what was said in a session.")
@click.option("--host", multiple=True, metavar="NAME", help="Only what an assistant recorded.")
@click.option("-t", "--tag", multiple=True, help="Only what has every one of these tags.")
@click.option("--since", metavar="DATE", help="2026-05-03, yesterday, 7d: from that day on.")
@click.option("--until", metavar="DATE", help="Up to the end of that day.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "text", "semantic"]),
    help="By words and meaning (hybrid, the default), or by one of them.",
)
@options.number_option("-n", "--limit", help="Hits on a page.", default=5, most=100)
@click.option("-p", "--page", type=click.IntRange(1), default=1, help="Which page of hits.")
@click.option(
    "--sessions",
    "whole",
    is_flag=True,
    help="The sessions that say most about it, with their best turns.",
)
@click.option(
    "--nearest", is_flag=True, help="Show the nearest also where nothing is clearly relevant."
)
@click.option("--full", is_flag=True, help="Show whole texts.")
@options.json_option
def command(
    query: tuple[str, ...],
    places: tuple[str, ...],
    role: tuple[str, ...],
    session: tuple[str, ...],
    host: tuple[str, ...],
    tag: tuple[str, ...],
    since: str | None,
    until: str | None,
    mode: Mode | None,
    limit: int,
    page: int,
    whole: bool,
    nearest: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Search what was said in past sessions, the archive, blocks, facts and static entries."""
    only = Filter(
        kinds=tuple(op.KINDS[name] for name in places),
        roles=role,
        hosts=host,
        sessions=session,
        tags=tag,
        since=op.parse_day(since, end=False) if since else None,
        until=op.parse_day(until, end=True) if until else None,
    )
    text, search = " ".join(query), op.search_sessions if whole else op.run
    with stoppable_stages(lambda: _STOPPED) as stage:
        index = IndexSession(options.place(), stage)
        shown = search(index, text, mode=mode, only=only, limit=limit, page=page)
    found: Sequence[Hit | SessionHit] = shown.hits
    total, sure, name = shown.total, shown.sure, "session" if whole else "hit"
    if index.note:
        console.talk(f"! {index.note}")
    first = (page - 1) * limit + 1
    last = first + len(found) - 1
    if as_json:
        every = [asdict(each) for each in found]
        console.as_json({"total": total, "first": first, "sure": sure, f"{name}s": every})
    elif not found and total:
        pages = -(-total // limit)
        console.talk(f"there is no page {page}: {console.format_count(total, name)} on {pages}")
    elif not found:
        console.talk("nothing was found")
    elif not sure and not nearest:
        console.talk(
            f"nothing is clearly relevant; --nearest shows the {console.format_count(total, name)}"
        )
    else:
        for number, each in enumerate(found, first):
            _show(number, each, full=full)
        more = f"; more with --page {page + 1}" if last < total else ""
        if sys.stdout.isatty():
            console.talk(f"showing {first}-{last} of the {total} best{more}")


def _show_session(number: int, found: SessionHit, *, full: bool) -> None:
    parts = (found.host, console.day(found.at), f"session {found.session}", _format_turns(found))
    head = flatten_text("  ".join(part for part in parts if part))
    console.echo(f"{number:>3}  {console.style(head, 'cyan')}")
    for hit in found.hits:
        console.echo(console.wrap(f"{hit.role}: {hit.text if full else hit.snippet}", 5))
    why = flatten_text("; ".join(found.hits[0].why))
    console.echo("     " + console.style(why, "bright_black"))


def _format_turns(found: SessionHit) -> str:
    return f"{console.format_count(found.turns, 'turn')} about it"


def _show(number: int, found: Hit | SessionHit, *, full: bool) -> None:
    if isinstance(found, Hit):
        _show_hit(number, found, full=full)
    else:
        _show_session(number, found, full=full)


def _show_hit(number: int, hit: Hit, *, full: bool) -> None:
    who = {"message": f"{hit.host} {hit.role}", "passage": "archive"}.get(hit.kind, hit.kind)
    where = f"session {hit.session}" if hit.kind == "message" else hit.label or hit.id
    parts = [who, console.day(hit.at), where, " ".join(f"#{tag}" for tag in hit.tags)]
    head = flatten_text("  ".join(part for part in parts if part))
    console.echo(f"{number:>3}  {console.style(head, 'cyan')}")
    if hit.before:
        console.echo("     " + console.style(flatten_text(f"… {hit.before}"), "bright_black"))
    text = hit.text if full else hit.snippet
    console.echo(console.wrap(text, 5))
    if hit.after:
        console.echo("     " + console.style(flatten_text(f"… {hit.after}"), "bright_black"))
    says = "says" if hit.alike == 1 else "say"
    alike = (
        f" (and {console.format_count(hit.alike, 'hit')} that {says} the same)" if hit.alike else ""
    )
    console.echo("     " + console.style(flatten_text("; ".join(hit.why) + alike), "bright_black"))
