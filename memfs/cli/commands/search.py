"""`memfs search` and `memfs recall`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.layout import print_messages
from memfs.cli.progress import stoppable_stages
from memfs.core import parts
from memfs.core.errors import UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_day
from memfs.core.hits import Hit, SessionHit
from memfs.core.records import KINDS
from memfs.store import config, data_sources
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.context.pieces import Compression, Context
    from memfs.recall.index_sources import Stage
    from memfs.recall.open_store import OpenStore
    from memfs.search.request import Mode

_MOST = 100  # hits on a page
_BEFORE, _AFTER = 3, 20  # messages that --open shows around a hit
_AROUND = 8  # lines of a file that it shows before and after one

_STOPPED = "the index built so far is saved; run the search again to continue"


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--in",
    "places",
    multiple=True,
    type=click.Choice(sorted(KINDS)),
    help="Search only in this place ('recall': past sessions).",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(["user", "assistant", "tool"]),
    help="Only texts by the user, the assistant or a tool.",
)
@click.option(
    "--speaker", "speakers", multiple=True, metavar="NAME",
    help="Only texts by this agent or person.",
)  # fmt: skip
@click.option(
    "--session", "sessions", multiple=True, metavar="ID", help="Only texts from this session."
)
@options.host_option("hosts", multiple=True)
@click.option("-t", "--tag", "tags", multiple=True, help="Only texts with all of these tags.")
@click.option(
    "--since",
    metavar="DATE",
    help="Only texts from this day on, such as 2026-05-03, yesterday or 7d.",
)
@click.option("--until", metavar="DATE", help="Only texts up to the end of this day.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "text", "semantic"]),
    help="Search by words and meaning (hybrid, the default), words (text) or meaning (semantic).",
)
@options.number_option(
    "-n", "count", help="Number of hits on a page (default: archival.search_top_k).", most=_MOST
)
@click.option("-p", "--page", type=click.IntRange(1), default=1, help="The page of hits to show.")
@click.option(
    "--sessions", "whole", is_flag=True, help="List the best sessions, each with its best turns."
)
@click.option(
    "--nearest", is_flag=True, help="Show the nearest hits even if none is clearly relevant."
)
@click.option(
    "--team", is_flag=True, help="Also search sessions that others shared in this project."
)
@click.option("--full", is_flag=True, help="Show full texts.")
@click.option(
    "--open",
    "opened",
    type=click.IntRange(1),
    default=None,
    metavar="N",
    help="Show hit N in its session, or with the lines around it in its file.",
)
@options.json_option
@paged
def search_command(
    query: tuple[str, ...],
    places: tuple[str, ...],
    since: str | None,
    until: str | None,
    mode: Mode | None,
    count: int | None,
    page: int,
    whole: bool,
    nearest: bool,
    team: bool,
    full: bool,
    opened: int | None,
    as_json: bool,
    **only: tuple[str, ...],
) -> None:
    """Search past sessions, the archive, blocks, facts, static entries, sources and commits."""
    from memfs.ops import search as op  # which --help needs not
    from memfs.search.request import Filter  # likewise

    wanted = Filter(
        kinds=tuple(KINDS[name] for name in places),
        since=op.parse_day(since, end=False) if since else None,
        until=op.parse_day(until, end=True) if until else None,
        **only,  # type: ignore[arg-type]  # by the names of its fields
    )
    if team and whole:
        raise UsageError("--team finds hits, not whole sessions", "leave out --sessions")
    text, name = " ".join(query), "session" if whole else "hit"
    place = options.place()
    count = count or config.load(place).get_page_size(_MOST)
    page = -(-opened // count) if opened else page
    request = op.build_request(text, mode, wanted, count, page)
    with stoppable_stages(lambda: _STOPPED, reads=True) as stage:
        open_store = partial(_open_store, place, stage)
        if team:
            store = open_store()
            search = partial(parts.load("team.seam").search, store, text, nearest=nearest)
            shown = search(mode=mode, only=wanted, limit=count, page=page)
            note = store.note
        else:
            answer = op.find(place, "sessions" if whole else "hits", request, open_store)
            shown, note = answer.page, answer.note
    found: Sequence[Hit | SessionHit] = shown.hits
    if note:
        console.talk(f"! {note}")
    first = (page - 1) * count + 1
    if opened and opened < first + len(found):
        _open(place, found[opened - first], full=full, as_json=as_json)
    elif opened:
        raise UsageError(
            f"there is no {name} {opened}: the search found {format_count(shown.total, name)}",
            "run the search without --open to see the numbered hits",
        )
    elif as_json:
        head = {"total": shown.total, "first": first, "sure": shown.sure}
        console.as_json({**head, f"{name}s": [asdict(each) for each in found]})
    elif not found:
        pages = (
            f"{format_count(shown.total, name)} on {format_count(-(-shown.total // count), 'page')}"
        )
        _report_nothing(place, places, page, pages if shown.total else "")
    elif not shown.sure and not nearest:
        console.talk(
            f"no hit is clearly relevant; to show the {format_count(shown.total, name)}, add "
            "--nearest"
        )
    else:
        _print_page(found, text, first, shown.total, page, full=full)


def _open_store(place: Place, stage: Stage) -> OpenStore:
    from memfs.recall.open_store import OpenStore  # where no service answers

    return OpenStore(place, stage)


def _report_nothing(place: Place, places: tuple[str, ...], page: int, pages: str) -> None:
    """Say why there is nothing on a page; `pages` tells how many there are, "" for none."""
    unread = data_sources.explain_no_history(place) if set(places) == {"commits"} else ""
    if pages:
        console.talk(f"there is no page {page}: the search found {pages}")
    elif unread:
        console.talk(f"commits are not searched: {unread}")
    elif places == ("sources",) and not data_sources.list_sources(place):
        console.talk("there are no sources here; to add one, run memfs source add NAME PATH")
    elif place.project is None:
        console.talk(
            "no hits in your own store; to create a store for this project, run memfs init"
        )
    else:
        console.talk("no hits")


def _print_page(
    found: Sequence[Hit | SessionHit], query: str, first: int, total: int, page: int, *, full: bool
) -> None:
    for number, each in enumerate(found, first):
        if isinstance(each, Hit):
            _show_hit(number, each, query, full=full)
        else:
            _show_session(number, each, query, full=full)
    last = first + len(found) - 1
    more = f"; --page {page + 1} shows more" if last < total else ""
    if sys.stdout.isatty():
        console.talk(f"{first}-{last} of the {total} best{more}; --open N shows hit N")


def _open(place: Place, found: Hit | SessionHit, *, full: bool, as_json: bool) -> None:
    """Show the session of a hit from a few messages before it on; of another hit its whole text."""
    hit = found if isinstance(found, Hit) else found.hits[0]
    if hit.location and not as_json:
        _open_file(place, hit)
        return
    if hit.kind != "message" or hit.sharer:
        if as_json:
            console.as_json(asdict(hit))
        else:
            console.data(hit.text)
        return
    from memfs.ops import sessions  # with what forgets them

    said = sessions.number_turns(sessions.read_session(place, hit.session))
    ident = hit.id.removeprefix(f"{hit.host}/{hit.session}/")
    at = next((place for place, each in enumerate(said) if each.message.id == ident), 0)
    said = said[max(0, at - _BEFORE) : at + _AFTER]
    if as_json:
        console.as_json([{"turn": each.turn, **each.message._asdict()} for each in said])
        return
    print_messages(said, full=full, marked=ident)
    console.talk(f"to see the whole session: memfs session show {hit.session}")


def _open_file(place: Place, hit: Hit) -> None:
    from memfs.ops import source  # with all that reads files

    lines = source.read_lines(place, hit, _AROUND)
    if not lines:  # no text by lines, such as a PDF
        console.data(hit.text)
        return
    size = len(str(lines[-1].number))
    for each in lines:
        mark = ">" if each.found else " "
        console.echo(layout.wrap(f"{mark} {each.number:>{size}}  {each.text}", 0))


def _show_session(number: int, found: SessionHit, query: str, *, full: bool) -> None:
    turns = format_count(found.turns, "matching turn")
    parts = (found.host, format_day(found.at), f"session {found.session}", turns)
    head = flatten_text("  ".join(part for part in parts if part))
    _print_head(number, head)
    for hit in found.hits:
        said = layout.wrap(f"{hit.who}: {hit.text if full else hit.snippet}", 5)
        console.echo(layout.highlight(said, query))
    _print_aside("; ".join(found.hits[0].why))


def _show_hit(number: int, hit: Hit, query: str, *, full: bool) -> None:
    _print_head(number, flatten_text("  ".join(filter(None, _list_head(hit)))))
    if hit.before:
        _print_aside(f"… {hit.before}")
    text = layout.wrap(hit.text if full else hit.snippet, 5)
    console.echo(layout.highlight(text, query))
    if hit.after:
        _print_aside(f"… {hit.after}")
    says = "says" if hit.alike == 1 else "say"
    alike = f" (and {format_count(hit.alike, 'hit')} that {says} the same)" if hit.alike else ""
    _print_aside("; ".join(hit.why) + alike)


def _list_head(hit: Hit) -> list[str]:
    if hit.location:
        return [hit.location, f"source {hit.label}", str(hit.metadata.get("heading") or "")]
    if hit.kind == "commit":
        return [f"commit {hit.label}", format_day(hit.at), str(hit.metadata.get("author") or "")]
    who = {"message": f"{hit.host} {hit.who}", "passage": "archive"}.get(hit.kind, hit.kind)
    where = f"session {hit.session}" if hit.kind == "message" else hit.label or hit.id
    where = hit.sharer or where
    source = str(hit.metadata.get("source") or "") if hit.kind == "passage" else ""
    where = f"from {source}" if source else where
    day = format_day(hit.at) or ("date unknown" if hit.kind == "passage" else "")
    return [who, day, where, " ".join(f"#{tag}" for tag in hit.tags)]


def _print_head(number: int, head: str) -> None:
    console.echo(f"{number:>3}  {layout.format_head(head, 5)}")


def _print_aside(text: str) -> None:
    console.echo(console.style(layout.wrap(flatten_text(text), 5), "bright_black"))


@click.command("recall")
@click.argument("task", nargs=-1, required=True)
@options.number_option(
    "--budget", help="Maximum number of tokens (default: orchestrator.context_limit)."
)
@click.option(
    "--compression",
    type=click.Choice(["smart", "aggressive"]),
    default=None,
    help="How to shorten texts that do not fit: keep the best sentences of each text (smart), or "
    "only its beginning (aggressive).",
)
@click.option(
    "--nearest", is_flag=True, help="Show the nearest pieces even if none is clearly relevant."
)
@options.session_option
@options.json_option
def recall_command(
    task: tuple[str, ...],
    budget: int | None,
    compression: Compression | None,
    nearest: bool,
    session: str,
    as_json: bool,
) -> None:
    """Print a context for a model that works on TASK.

    memfs searches passages, past messages, facts and unpinned blocks, and joins the best pieces
    without duplicates.
    """
    from memfs.ops import context as op  # which a search needs not

    stopped = "the index built so far is saved; run the command again to continue"
    with stoppable_stages(lambda: stopped, reads=True) as stage:
        place = options.place(session)
        found = op.find_context(
            place, " ".join(task), budget or 0, compression, partial(_open_store, place, stage)
        )
    if as_json:
        console.as_json(asdict(found))
    else:
        _show_context(found, nearest=nearest)


def _show_context(found: Context, *, nearest: bool) -> None:
    for problem in found.problems:
        console.talk(f"! {problem}")
    if not found.pieces:
        console.talk("the memory contains nothing about this task")
        return
    if not found.sure and not nearest:
        pieces = format_count(len(found.pieces), "piece")
        console.talk(f"no hit is clearly relevant; to show the {pieces}, add --nearest")
        return
    console.print_text(found.text)
    shortened = f", {found.compressed} of them shortened" if found.compressed else ""
    if found.steps:
        console.talk(f"usual next steps: {', '.join(found.steps)}")
    console.talk(
        f"{found.tokens:,} tokens: {format_count(len(found.pieces), 'piece')}{shortened}; "
        f"{found.left_out:,} left out"
    )
