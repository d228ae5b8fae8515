"""`memfs review`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from memfs import hosts
from memfs.cli import console, layout, options, progress
from memfs.cli.edit_output import format_entry, format_remainder, report
from memfs.cli.group import CommandGroup
from memfs.cli.layout import print_diff as show
from memfs.core import changes, parts
from memfs.core.errors import MemfsError
from memfs.core.escaping import flatten_text, make_plain
from memfs.core.formats import format_count, format_day, format_time
from memfs.core.records import ACCEPTED, REJECTED
from memfs.ops import standing_rules
from memfs.store import config, proposals
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal
from memfs.store.standing_rules import StandingRule

if TYPE_CHECKING:
    from memfs.ops.facts import FactOffer

_KEYS = {
    "y": "take it",
    "n": "drop it: it is not shown again",
    "e": "edit its text, and take that",
    "s": "leave it for later",
    "q": "leave this and all that follow for later",
    "?": "say what the keys do",
}


@click.group("review", cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def command(called: click.Context) -> None:
    """Decide on proposals for the memory: rules of yours, results of reviews and reflection.

    At a terminal it shows each, and a key accepts, drops, edits or skips it.

    review.mode turns on automatic reviews: off (the default), nudge (the next
    prompt reminds the assistant), inline (the assistant's own model, at the end of a turn) or
    background (the configured model, when a session ends).
    """
    if called.invoked_subcommand:
        return
    if console.can_ask():
        _review(options.place())
    else:
        _list(options.place())


@command.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List your standing rules, edits by reviews, and proposals of reflection."""
    place = options.place()
    if not as_json:
        _list(place)
        return
    found = {
        "reviews": [asdict(each) for each in proposals.list_reviews(place.home)],
        "proposals": [asdict(each) for each in proposals.list_pending(place.home)],
        "standing": [
            {
                "id": rule.id,
                "at": rule.at,
                "host": rule.host,
                "session": rule.session,
                "text": rule.text,
                "label": standing_rules.label(rule),
                "certain": rule.certain,
            }
            for rule in standing_rules.list_pending(place)
        ],
    }
    console.as_json(found)


@command.command("accept")
@click.argument("id")
def accept(id: str) -> None:
    """Put a standing rule, or a proposal of reflection, into its block."""
    place = options.place()
    rule = _find_rule(place, id)
    if rule:
        _accept_rule(place, rule, rule.text)
    else:
        _accept_proposal(place, id)


@command.command("reject")
@click.argument("id")
def reject(id: str) -> None:
    """Drop a standing rule or a proposal: it is not shown again."""
    place = options.place()
    rule = _find_rule(place, id)
    if rule:
        _reject_rule(place, rule)
    else:
        _reject_proposal(place, id)


@command.command("session")
@click.argument("id")
@click.option(
    "--host",
    type=click.Choice(sorted(hosts.READERS)),
    metavar="HOST",
    default="claude",
    show_default=True,
    help="The assistant of that session.",
)
def session(id: str, host: str) -> None:
    """Let the configured model review one session now, and save missing facts."""
    _run_review(options.place(id), host)


@command.command("reflect")
@options.number_option("--sessions", "most", help="Look over so many sessions at most.", default=8)
@click.option("--again", is_flag=True, help="The latest ones, also if they were looked at before.")
@click.option("--apply", "applied", is_flag=True, help="Accept the proposals without asking.")
def reflect(most: int, again: bool, applied: bool) -> None:
    """Let the configured model look over past sessions, and propose changes to the memory.

    It works in a draft of the store (in git, a worktree) and shows the diff. The memory changes
    only with memfs review accept. With --apply, or review.apply in your own configuration, it
    changes at once.
    """
    place = options.place()
    model = parts.load("agent.configured_model").load_model()
    reviewer = parts.load("agent.reviewer")
    try:
        count = len(reviewer.list_sessions(place, most, again=again))
        with progress.show_progress(count, f"asking {flatten_text(model.name)}") as tick:
            found = reviewer.propose_changes(place, model, most, tick, again=again)
    finally:
        model.close()
    console.talk(model.format_spent())
    if found is None:
        console.print_done("the memory is up to date: no proposals")
        return
    show_proposal(found)
    if applied or config.load(place).get("review.apply") is True:
        from memfs.ops import reflect  # with YAML and what edits, which a list needs not

        done = reflect.accept(place, found.id, reviewer.get_origin())
        changed = format_count(len(done.entries), "block")
        console.print_done(f"taken: {changed}, {format_count(done.passages, 'passage')}")
        return
    console.talk(f"memfs review accept {found.id} takes it, reject {found.id} drops it")


def _run_review(place: Place, host: str) -> None:
    model = parts.load("agent.configured_model").load_model()
    try:
        found = parts.load("agent.reviewer").review_session(place, host, model)
    finally:
        model.close()
    proposals.write_review(place.home, found)
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


def _accept_rule(place: Place, rule: StandingRule, text: str) -> None:
    """Append a rule to its block, in the words of its user."""
    from memfs.ops import edit  # with what edits, which a list needs not

    append, reason = standing_rules.make_edit(rule, text)
    report(edit.run(place, [append], options.get_origin(reason)))


def _reject_rule(place: Place, rule: StandingRule) -> None:
    standing_rules.refuse_rule(place, rule)
    console.print_done(f"dismissed: {flatten_text(rule.text)}")


def _accept_proposal(place: Place, ident: str) -> None:
    from memfs.ops import reflect  # likewise

    done = reflect.accept(place, ident, options.get_origin("reflect"))
    for entry in done.entries:
        console.print_done(format_entry(entry))
    if done.passages:
        console.print_done(f"archived {format_count(done.passages, 'passage')}")
    format_remainder(done.note)


def _accept_shown(place: Place, proposal: Proposal, _text: str) -> None:
    _accept_proposal(place, proposal.id)


def _reject_proposal(place: Place, ident: str) -> None:
    from memfs.ops import reflect  # likewise

    dropped = reflect.reject(place, ident)
    console.print_done(f"dropped the proposal {dropped.id}")


def _accept_fact(place: Place, offer: FactOffer, text: str) -> None:
    """Append a fact to the block that it is offered for, and note that it is right."""
    from memfs.core.body_edits import Append  # likewise
    from memfs.ops import edit, facts  # likewise

    report(edit.run(place, [Append(offer.label, text)], options.get_origin("a stated fact")))
    facts.decide(place, offer.fact.id, ACCEPTED)


def _review(place: Place) -> None:
    """Ask about all that is proposed."""
    from memfs.ops import facts  # with the patterns of facts, which a list needs not

    items = [
        ReviewItem(
            f"Take it into {standing_rules.label(rule)}",
            rule.text,
            partial(_show_rule, rule),
            partial(_accept_rule, place, rule),
            partial(_reject_rule, place, rule),
        )
        for rule in standing_rules.list_pending(place)
    ]
    items += [
        ReviewItem(
            f"Take it into {offer.label}",
            offer.fact.statement,
            partial(_show_fact, offer),
            partial(_accept_fact, place, offer),
            partial(facts.decide, place, offer.fact.id, REJECTED),
        )
        for offer in facts.list_offers(place)
    ]
    items += [
        ReviewItem(
            "Take it",
            "",
            partial(show_proposal, proposal),
            partial(_accept_shown, place, proposal),
            partial(_reject_proposal, place, proposal.id),
        )
        for proposal in proposals.list_pending(place.home)
    ]
    _show_reviews(place)
    if not items:
        console.talk("nothing is proposed")
    ask_about(items)


def _list(place: Place) -> None:
    """Print all that is proposed, with the commands that decide on it."""
    rules = standing_rules.list_pending(place)
    for rule in rules:
        _show_rule(rule)
    if rules:
        console.talk("memfs review accept ID writes one into its block, reject ID drops it")
    _show_reviews(place)
    pending = proposals.list_pending(place.home)
    for proposal in pending:
        show_proposal(proposal)
        console.talk(f"memfs review accept {proposal.id} takes it, reject {proposal.id} drops it")
    if not rules and not pending and not proposals.list_reviews(place.home):
        console.talk("no session was reviewed yet, and there are no proposals")


def _show_reviews(place: Place) -> None:
    for each in proposals.list_reviews(place.home):
        console.echo(
            f"{console.style(format_time(each.at), 'bright_black')} {flatten_text(each.render())}"
        )


def _show_rule(rule: StandingRule) -> None:
    label = standing_rules.label(rule)
    what = "your rule" if rule.certain else "perhaps a rule"
    head = f"{rule.id}  {format_day(rule.at)}  {what}, not in a block yet (for {label}):"
    console.echo(layout.format_head(head))
    console.echo(layout.wrap(rule.text, 4))


def _show_fact(offer: FactOffer) -> None:
    fact = offer.fact
    head = f"{fact.id[:8]}  {format_day(fact.at)}  {fact.category}, not in a block yet:"
    console.echo(layout.format_head(head))
    console.echo(layout.wrap(fact.statement, 4))


def show_proposal(found: Proposal) -> None:
    """Print a proposal: its diffs, new passages, and the model's note."""
    sessions = format_count(len(found.sessions), "session")
    console.talk(f"proposed by {found.model} of {sessions}, {format_time(found.at)} ({found.id})")
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


@dataclass(frozen=True)
class ReviewItem:
    """A proposal to decide on. `accept` takes its text, which `e` changes; "": there is no `e`."""

    question: str
    text: str
    show: Callable[[], object]
    accept: Callable[[str], object]
    reject: Callable[[], object]


def ask_about(items: Sequence[ReviewItem]) -> None:
    """Show each item and do what the user answers; stop at `q`."""
    for number, item in enumerate(items, 1):
        item.show()
        key = _ask(f"({number}/{len(items)}) {item.question}", editable=bool(item.text))
        if key == "q":
            return
        try:
            _decide(item, key)
        except MemfsError as error:  # the others can be decided on all the same
            console.error(error.message, error.hint)


def _decide(item: ReviewItem, key: str) -> None:
    if key == "y":
        item.accept(item.text)
    elif key == "n":
        item.reject()
    elif key == "e":
        from memfs.cli.edit_input import open_editor  # with what edits, which a list needs not

        with open_editor(f"{item.text}\n", "proposal") as text:
            if text.strip():
                item.accept(text.strip())
            else:
                console.talk("left for later: the text was empty")


def _ask(question: str, *, editable: bool) -> str:
    """Return the key that was pressed, once it is one of ours."""
    keys = [key for key in _KEYS if editable or key != "e"]
    while True:
        console.ask(f"{question} [{','.join(keys)}]? ")
        key = click.getchar().lower()[:1]  # what was typed ahead is not for this question
        console.talk(key if key.isprintable() else "")
        if key in keys and key != "?":
            return key
        if key in ("\x03", "\x04"):  # Ctrl-C and Ctrl-D, where the terminal hands them over
            return "q"
        for each in keys:
            console.talk(f"  {each}  {_KEYS[each]}")
