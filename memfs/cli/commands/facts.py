"""`memfs facts`."""

from dataclasses import asdict
from typing import Any

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.group import CommandGroup
from memfs.cli.options import CompletedType
from memfs.cli.progress import stoppable_stages
from memfs.core import parts
from memfs.core.formats import format_count, format_day
from memfs.core.records import ACCEPTED, REJECTED, STATUSES, Fact
from memfs.knowledge.facts import fact_store
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.ops import facts as op
from memfs.store import review_dates
from memfs.store.blocks import Place

_FACT = CompletedType("id", lambda place, _: [fact.id for fact in op.select_facts(place)])
_SHOWN = 300  # characters of a source
_NEW = 10  # facts that are shown of those just found
_ID = 8  # characters of an id that are shown


@click.group("facts", cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def command(called: click.Context) -> None:
    """See facts from past sessions: preferences, decisions, causes, and where things are.

    Rules find facts in what you and the assistants wrote, without a model. A later fact supersedes
    an earlier one that it contradicts. Without a command, facts are listed.
    """
    if not called.invoked_subcommand:
        called.invoke(list_)


@command.command("list")
@click.argument("pattern", required=False, default="")
@click.option(
    "--entity",
    "entities",
    multiple=True,
    metavar="NAME",
    help="Only facts that mention this name; may be repeated.",
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=click.Choice(CATEGORIES),
    metavar="NAME",
    help="Only facts in this category: decision, rule, preference, …",
)
@click.option(
    "--since", default="", metavar="DATE", help="Only facts since this day (2026-05-03, 2026-05)."
)
@click.option("--until", default="", metavar="DATE", help="Only facts up to this day.")
@click.option(
    "--min-confidence", "confidence", type=click.FloatRange(0, 1), default=0.0,
    help="Only facts with at least this confidence.",
)  # fmt: skip
@click.option(
    "--status", "statuses", multiple=True, type=click.Choice(STATUSES),
    help="Only facts with this status.",
)  # fmt: skip
@click.option(
    "--sources",
    is_flag=True,
    help="Show which rule or model found each fact, and in which message.",
)
@click.option(
    "--related",
    default="",
    metavar="NAME",
    help="Only facts about names related to NAME, nearest first.",
)
@options.number_option(
    "--depth",
    help="With --related: how many relations to follow from NAME.",
    default=op.DEPTH,
    most=100,
)
@click.option("--summary", is_flag=True, help="Show the current facts by category.")
@options.json_option
@paged
def list_(pattern: str, sources: bool, summary: bool, as_json: bool, **conditions: Any) -> None:
    """List facts, newest last. PATTERN is a regular expression that facts must match."""
    place = options.place()
    found = op.select_facts(place, pattern, **conditions)
    if as_json and summary:
        grouped = fact_store.group_by_category(found)
        console.as_json({name: [asdict(fact) for fact in some] for name, some in grouped.items()})
    elif as_json:
        console.as_json([asdict(fact) for fact in found])
    elif summary and found:
        console.data(fact_store.format_summary(found))
    else:
        _show(place, found, sources=sources)


@command.command("extract")
@click.option(
    "--model/--no-model",
    "by_model",
    default=None,
    help="Find facts by the configured model, too, or only by rules (setting: extraction_model).",
)
def extract_command(by_model: bool | None) -> None:
    """Find facts in new sessions."""
    place = options.place()
    with stoppable_stages(lambda: "no fact was saved; run the command again") as stage:
        agent = (parts.load if by_model else parts.find)("agent.extract")
        if agent:
            done, note = agent.extract_as_configured(place, stage, by_model=by_model)
        else:
            done, note = op.extract(place, stage), ""
    for problem in done.problems:
        console.talk(f"! {problem}")
    if note:
        console.talk(f"! some facts were found only by rules, without the model: {note}")
    console.print_done(
        f"{format_count(len(done.facts), 'new fact')} in {format_count(done.messages, 'message')}"
    )
    if done.facts:
        _show(place, list(done.facts[:_NEW]), sources=False)
    if len(done.facts) > _NEW:
        console.talk(f"{len(done.facts) - _NEW:,} more; to list all, run memfs facts")
    if done.facts and op.list_offers(place):
        console.talk("to put facts into a block, run: memfs review")


@command.command("accept")
@click.argument("id", type=_FACT)
def accept(id: str) -> None:
    """Accept the fact whose id begins with ID."""
    _decide(id, ACCEPTED)


@command.command("reject")
@click.argument("id", type=_FACT)
def reject(id: str) -> None:
    """Reject a wrong fact, so that it is not extracted again."""
    _decide(id, REJECTED)


def _decide(ident: str, status: str) -> None:
    fact = op.decide(options.place(), ident, status)
    console.print_done(f"{fact.status}: {fact.statement}")


def _show(place: Place, found: list[Fact], *, sources: bool) -> None:
    if not found:
        console.talk("no facts found; to find facts in new sessions, run memfs facts extract")
        return
    for fact in found:
        marks = "" if fact.status == "active" else f" {fact.status}"
        by = f" by {fact.by[:_ID]}" if fact.by else ""
        head = f"{fact.id[:_ID]}  {format_day(fact.at):<10}  {fact.category} {fact.confidence:.2f}"
        dates = review_dates.describe_dates(vars(fact))
        head += f"{marks}{by}" + (f"  {dates}" if dates else "")
        console.echo(layout.format_head(head))
        console.echo(layout.wrap(fact.statement, 4))
        if sources:
            text = " ".join(op.source(place, fact).split())[:_SHOWN]
            where = f"{fact.host} {fact.session}" + (
                f": {text}" if text else ": the message is no longer in recall"
            )
            if fact.extractor:
                where = f"found by {fact.extractor}; {where}"
            console.echo(console.style(layout.wrap(where, 4), "bright_black"))
