"""`memfs review`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs import hosts
from memfs.agent import configured_model
from memfs.agent import review as agent
from memfs.cli import console, options
from memfs.cli.diff import show
from memfs.cli.edit_output import format_entry, format_remainder, report
from memfs.core import changes
from memfs.core.body_edits import Append
from memfs.core.errors import UsageError
from memfs.core.escaping import flatten_text, make_plain
from memfs.ops import edit, standing_rules
from memfs.ops import reflect as op
from memfs.store import reviews

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.store.blocks import Place
    from memfs.store.proposals import Proposal
    from memfs.store.standing_rules import StandingRule


@click.command("review")
@click.option(
    "--accept",
    metavar="ID",
    default=None,
    help="Take a standing rule, or a proposal of memfs reflect, into its block.",
)
@click.option("--reject", metavar="ID", default=None, help="Drop it: a rule is not shown again.")
@click.option("--session", default="", metavar="ID", help="Have the model review this session now.")
@click.option(
    "--host",
    type=click.Choice(list(hosts.READERS)),
    default="claude",
    show_default=True,
    help="The assistant whose session that is.",
)
@options.json_option
def command(accept: str | None, reject: str | None, session: str, host: str, as_json: bool) -> None:
    """Show what you stated to hold, what reviews saved, what reflection proposes; decide on it.

    At a terminal one key takes a rule that you stated in a past session into a block, or drops it.

    review.mode says whether sessions are reviewed by themselves: nudge, inline (the assistant's own
    model, at the end of a turn) or background (the configured model, when a session ends).
    """
    if sum(map(bool, (accept is not None, reject is not None, session))) > 1:
        raise UsageError("one of --accept, --reject and --session")
    place = options.place(session)
    if session:
        _run_review(place, host)
    elif accept is not None and (rule := _find_rule(place, accept)):
        _accept_rule(place, rule)
    elif reject is not None and (rule := _find_rule(place, reject)):
        standing_rules.refuse_rule(place, rule)
        console.print_done(f"not shown any more: {flatten_text(rule.text)}")
    elif accept is not None:
        done = op.accept(place, accept, options.get_origin("reflect"))
        for entry in done.entries:
            console.print_done(format_entry(entry))
        if done.passages:
            console.print_done(f"archived {console.format_count(done.passages, 'passage')}")
        format_remainder(done.note)
    elif reject is not None:
        dropped = op.reject(place, reject)
        console.print_done(f"dropped the proposal {dropped.id}")
    elif as_json:
        found = {
            "reviews": [asdict(each) for each in reviews.list_reviews(place.home)],
            "proposals": [asdict(each) for each in op.list_pending(place)],
            "standing": [
                {
                    "id": rule.id,
                    "at": rule.at,
                    "host": rule.host,
                    "session": rule.session,
                    "text": rule.text,
                    "label": standing_rules.label(rule),
                }
                for rule in standing_rules.list_pending(place)
            ],
        }
        console.as_json(found)
    else:
        _show(place)


def _run_review(place: Place, host: str) -> None:
    model = configured_model.load_model()
    try:
        found = agent.run(place, host, model)
    finally:
        model.close()
    reviews.write_review(place.home, found)
    if found.text:
        console.data(found.text)
    console.talk(model.format_spent())
    if found.problem:
        console.error(found.problem)
        console.refuse()
        return
    console.print_done(found.render())


def _find_rule(place: Place, ident: str) -> StandingRule | None:
    """Return the only standing rule whose id begins with `ident`, else None."""
    found = [
        rule for rule in standing_rules.list_pending(place) if ident and rule.id.startswith(ident)
    ]
    return found[0] if len(found) == 1 else None


def _accept_rule(place: Place, rule: StandingRule) -> None:
    """Append a rule to its block, in the words of its user."""
    day = f"stated on {rule.at[:10]}" if rule.at else "stated in a past session"
    append = Append(standing_rules.label(rule), f"- {rule.text}")
    report(edit.run(place, [append], options.get_origin(day)))


def _offer(place: Place, rules: Sequence[StandingRule]) -> None:
    """Show the rules that are in no block; at a terminal one key decides on each."""
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    for rule in rules:
        label = standing_rules.label(rule)
        head = f"{rule.id}  {console.day(rule.at)}  you stated, in no block yet (for {label}):"
        console.echo(console.style(flatten_text(head), "cyan"))
        console.echo(console.wrap(rule.text, 4))
        if asks:
            console.talk(f"y: take it into {label}   n: drop it   any other key: later   q: stop")
            key = click.getchar().lower()
            if key == "y":
                _accept_rule(place, rule)
            elif key == "n":
                standing_rules.refuse_rule(place, rule)
                console.print_done("not shown any more")
            elif key == "q":
                return
    if rules and not asks:
        console.talk("memfs review --accept ID takes one into its block, --reject ID drops it")


def _show(place: Place) -> None:
    rules = standing_rules.list_pending(place)
    _offer(place, rules)
    for each in reviews.list_reviews(place.home):
        console.echo(f"{console.style(each.at, 'bright_black')} {flatten_text(each.render())}")
    pending = op.list_pending(place)
    for proposal in pending:
        show_proposal(proposal)
        console.talk(
            f"memfs review --accept {proposal.id} takes it, --reject {proposal.id} drops it"
        )
    if not rules and not pending and not reviews.list_reviews(place.home):
        console.talk("no session was reviewed yet, and nothing is proposed")


def show_proposal(found: Proposal) -> None:
    """Print a proposal: its diffs, new passages, and the model's note."""
    sessions = console.format_count(len(found.sessions), "session")
    console.talk(f"proposed by {found.model} of {sessions}, {found.at} ({found.id})")
    if found.branch:
        console.talk(f"in git, it is the branch {found.branch}")
    for each in found.changes:
        name = f"{each.tier}:{each.label}"
        show(changes.format_diff(each.before or "", each.after or "", f"a/{name}", f"b/{name}"))
    for passage in found.passages:
        console.echo(f"{console.style('+ archive:', 'green')} {make_plain(passage.text)}")
    if found.said:
        console.talk(found.said)
    if found.problem:
        console.error(found.problem)
