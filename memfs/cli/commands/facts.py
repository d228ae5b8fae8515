"""`memfs facts`."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.agent import configured_model, extract
from memfs.cli import console, options
from memfs.cli.interruption import stoppable_stages
from memfs.core.errors import UsageError
from memfs.core.escaping import flatten_text
from memfs.core.facts import ACCEPTED, REJECTED, STATUSES
from memfs.knowledge.facts import fact_store, selection
from memfs.knowledge.facts.extraction.candidate import CATEGORIES
from memfs.ops import facts as op

if TYPE_CHECKING:
    from memfs.core.facts import Fact
    from memfs.store.blocks import Place

_SHOWN = 300  # characters of a source
_ID = 8  # characters of an id that are shown


@click.command("facts")
@click.argument("pattern", required=False, default="")
@click.option("--extract", "update", is_flag=True, help="First look through what is new in recall.")
@click.option(
    "--model/--no-model",
    "by_model",
    default=None,
    help="Ask the configured model, or never (see extraction_model).",
)
@click.option("--entity", multiple=True, metavar="NAME", help="With this name; may be repeated.")
@click.option("--category", multiple=True, type=click.Choice(CATEGORIES), help="Of this category.")
@click.option("--since", default="", metavar="DATE", help="Said on or after: 2026-05-03, 2026-05.")
@click.option("--until", default="", metavar="DATE", help="Said on or before.")
@click.option(
    "--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="At least so sure."
)
@click.option(
    "--status",
    multiple=True,
    type=click.Choice(STATUSES),
    help="Also what does not count any more.",
)
@click.option("--sources", is_flag=True, help="Show what each fact was taken from.")
@click.option("--summary", is_flag=True, help="The facts that count, by category.")
@click.option(
    "--offer", is_flag=True, help="Those that could stand in a block, with the commands for it."
)
@click.option("--accept", metavar="ID", default="", help="Say that a fact is right.")
@click.option(
    "--reject", metavar="ID", default="", help="Say that it is wrong: it does not come back."
)
@options.json_option
def command(
    pattern: str,
    update: bool,
    by_model: bool | None,
    entity: tuple[str, ...],
    category: tuple[str, ...],
    since: str,
    until: str,
    min_confidence: float,
    status: tuple[str, ...],
    sources: bool,
    summary: bool,
    offer: bool,
    accept: str,
    reject: str,
    as_json: bool,
) -> None:
    """List what past sessions stated: preferences, decisions, causes, commands, where things are.

    Facts are found by rules, without a model, in what you and assistants said. PATTERN is a regular
    expression over them. A later fact that contradicts an earlier one supersedes it.
    """
    place = options.place()
    if accept or reject:
        _decide(place, accept, reject)
        return
    if update:
        _extract(place, by_model)
    if offer:
        _offer(place, as_json=as_json)
        return
    try:
        found = selection.select_facts(
            fact_store.list_facts(place),
            entities=entity,
            pattern=pattern,
            since=since,
            until=until,
            confidence=min_confidence,
            categories=category,
            statuses=status,
        )
    except re.error as error:
        raise UsageError(f"{pattern!r} is no regular expression: {error}") from error
    if as_json and summary:
        grouped = selection.group_by_category(found)
        console.as_json({name: [asdict(fact) for fact in some] for name, some in grouped.items()})
    elif as_json:
        console.as_json([asdict(fact) for fact in found])
    elif summary:
        console.data(selection.format_summary(found))
    else:
        _show(place, found, sources=sources)


def _offer(place: Place, *, as_json: bool) -> None:
    found = op.list_offers(place)
    if as_json:
        console.as_json([asdict(each) for each in found])
        return
    for each in found:
        console.data(shlex.join(["memfs", "edit", each.label, "--append", each.fact.statement]))
    if not found:
        console.talk("no fact that is sure enough is missing from the blocks")


def _extract(place: Place, by_model: bool | None) -> None:
    with stoppable_stages(lambda: "no fact was written; run it again") as stage:
        if by_model or (by_model is None and op.extract_by_model(place)):
            model = configured_model.load_model()
            try:
                done, note = extract.extract(place, model, stage)
            finally:
                model.close()
        else:
            done, note = op.extract(place, stage), ""
    if note:
        console.talk(f"! by rules alone where the model could not be asked: {note}")
    console.print_done(
        f"{console.format_count(len(done.facts), 'new fact')} in "
        f"{console.format_count(done.messages, 'message')}"
    )
    if done.facts and op.list_offers(place):
        console.talk("some could stand in a block, if you want: memfs facts --offer")


def _decide(place: Place, accept: str, reject: str) -> None:
    if accept and reject:
        raise UsageError("either --accept or --reject")
    fact = op.decide(place, accept or reject, ACCEPTED if accept else REJECTED)
    console.print_done(f"{fact.status}: {fact.statement}")


def _show(place: Place, found: list[Fact], *, sources: bool) -> None:
    if not found:
        console.talk("no facts; memfs facts --extract looks through recall")
        return
    for fact in found:
        marks = "" if fact.status == "active" else f" {fact.status}"
        by = f" by {fact.by[:_ID]}" if fact.by else ""
        head = f"{fact.id[:_ID]}  {console.day(fact.at):<10}  {fact.category} {fact.confidence:.2f}"
        head += f"{marks}{by}"
        console.echo(console.style(flatten_text(head), "cyan"))
        console.echo(console.wrap(fact.statement, 4))
        if sources:
            text = " ".join(op.source(place, fact).split())[:_SHOWN]
            where = f"{fact.host} {fact.session}" + (
                f": {text}" if text else ", not in recall any more"
            )
            console.echo(console.style(console.wrap(where, 4), "bright_black"))
