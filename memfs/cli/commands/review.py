"""`memfs review`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields

import click

from memfs import hosts
from memfs.cli import console, layout, options, progress
from memfs.cli.edit_output import format_entry, format_remainder
from memfs.cli.group import CommandGroup
from memfs.cli.layout import print_diff as show
from memfs.cli.options import CompletedType
from memfs.core import changes, parts
from memfs.core.errors import MemfsError
from memfs.core.escaping import flatten_text, make_plain
from memfs.core.formats import format_count, format_day, format_time
from memfs.ops import review
from memfs.ops.review import ReviewItem
from memfs.store import config, proposals
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal

_ITEM = CompletedType("id", lambda place, _: [item.id for item in review.list_items(place)])
_KEYS = {
    "y": "accept it",
    "n": "dismiss it, and never show it again",
    "e": "edit its text, then accept it",
    "s": "leave it for later",
    "q": "quit, and leave this item and the rest for later",
    "?": "explain the keys",
}
_ID = 8  # characters of an id that are shown


@click.group("review", cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def command(called: click.Context) -> None:
    """Decide on waiting items: rules and facts from sessions, contradictions, others' changes.

    The list also has proposals by a model, names that are out of date (see memfs check), dates in
    the past, and blocks that are nearly full. At a terminal, you accept, dismiss, edit or skip
    each item with a key.

    The setting review.mode controls automatic reviews: off (the default), nudge (the next prompt
    reminds the assistant), inline (the assistant's own model, at the end of a turn) or background
    (the configured model, when a session ends).
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
    """List the waiting items, and the edits made by session reviews."""
    place = options.place()
    if not as_json:
        _list(place)
        return
    reviews = [asdict(each) for each in proposals.list_reviews(place.home)]
    items = [_build_record(item) for item in review.list_items(place)]
    console.as_json({"items": items, "reviews": reviews})


@command.command("show")
@click.argument("id", type=_ITEM)
@options.json_option
def show_(id: str, as_json: bool) -> None:
    """Show one item; for a proposal, the full diff."""
    (item,) = review.find_items(options.place(), [id])
    if as_json:
        console.as_json(_build_record(item))
    else:
        _show(item)


@command.command("accept")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=_ITEM)
def accept(ids: tuple[str, ...]) -> None:
    """Accept items: write rules, facts and proposals to blocks, and update outdated names."""
    place = options.place()
    for item in review.find_items(place, ids):
        with _going_on():
            _accept(place, item)


@command.command("dismiss")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", type=_ITEM)
def dismiss(ids: tuple[str, ...]) -> None:
    """Dismiss items, so that they are not listed again. A dismissed fact is rejected."""
    place = options.place()
    for item in review.find_items(place, ids):
        with _going_on():
            _dismiss(place, item)


@command.command("session")
@click.argument("id")
@click.option(
    "--host",
    type=click.Choice(sorted(hosts.READERS)),
    metavar="HOST",
    default="claude",
    show_default=True,
    help="The assistant that recorded the session.",
)
def session(id: str, host: str) -> None:
    """Let the configured model review one session now, and save missing facts."""
    _run_review(options.place(id), host)


@command.command("reflect")
@options.number_option(
    "--sessions", "most", help="Maximum number of sessions to review.", default=8
)
@click.option(
    "--again", is_flag=True, help="Review the latest sessions, even if they were reviewed before."
)
@click.option("--apply", "applied", is_flag=True, help="Accept the proposals without asking.")
def reflect(most: int, again: bool, applied: bool) -> None:
    """Let the configured model review past sessions, and propose changes to the memory.

    The model works in a draft of the store (in git, a worktree), and the command shows the diff.
    The memory changes only when you run memfs review accept, or at once with --apply or
    review.apply in your own configuration.
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
        console.print_done(f"accepted: {changed}, {format_count(done.passages, 'passage')}")
        return
    console.talk(f"to decide: memfs review accept {found.id}, or memfs review dismiss {found.id}")


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


@contextmanager
def _going_on() -> Iterator[None]:
    """Print an error and go on: the others can be decided on all the same."""
    try:
        yield
    except MemfsError as error:
        console.error(error.message, error.hint)
        console.refuse()


def _accept(place: Place, item: ReviewItem, text: str = "") -> None:
    done = review.accept(place, item, options.get_origin(), text)
    for entry in done.entries:
        console.print_done(format_entry(entry))
    if done.passages:
        console.print_done(f"archived {format_count(done.passages, 'passage')}")
    if not done.entries and not done.passages:
        console.print_done(f"accepted: {flatten_text(item.what)}")
    format_remainder(done.note)


def _dismiss(place: Place, item: ReviewItem) -> None:
    review.dismiss(place, item)
    console.print_done(f"dismissed: {flatten_text(item.what)}")


def _build_record(item: ReviewItem) -> dict[str, object]:
    return {key.name: getattr(item, key.name) for key in fields(item) if key.name != "source"}


def _review(place: Place) -> None:
    items = review.list_items(place)
    _show_reviews(place)
    if not items:
        console.talk("nothing to decide")
    for number, item in enumerate(items, 1):
        _show(item)
        question = item.accept.capitalize() or "Your choice"
        key = _ask(f"({number}/{len(items)}) {question}", item)
        if key == "q":
            return
        with _going_on():
            _decide(place, item, key)


def _list(place: Place) -> None:
    items = review.list_items(place)
    for item in items:
        _show(item, whole=False)
    if items:
        console.talk("to decide: memfs review accept ID..., dismiss ID..., or show ID")
    else:
        console.talk("nothing to decide")
    _show_reviews(place)


def _show_reviews(place: Place) -> None:
    for each in proposals.list_reviews(place.home):
        console.echo(
            f"{console.style(format_time(each.at), 'bright_black')} {flatten_text(each.render())}"
        )


def _show(item: ReviewItem, *, whole: bool = True) -> None:
    """Print an item; `whole`: of a proposal all that it changes."""
    day = f"{format_day(item.at)}  " if item.at else ""
    why = f"{item.why} (for {item.label})" if item.kind in (review.RULE, review.FACT) else item.why
    ident = item.id if item.kind == review.PROPOSAL else item.id[:_ID]
    console.echo(layout.format_head(f"{ident}  {day}{item.kind}: {flatten_text(why)}"))
    if whole and isinstance(item.source, Proposal):
        show_proposal(item.source)
        return
    named = f"{item.label}: " if item.label and item.what != item.label else ""
    named = "" if item.kind in (review.RULE, review.FACT) else named
    console.echo(layout.wrap(f"{named}{item.what}", 4))
    if item.hint and not item.accept:
        console.echo(console.style(layout.wrap(item.hint, 4), "bright_black"))


def show_proposal(found: Proposal) -> None:
    """Print a proposal: its diffs, new passages, and the model's note."""
    sessions = format_count(len(found.sessions), "session")
    console.talk(f"proposed by {found.model} from {sessions}, {format_time(found.at)} ({found.id})")
    if found.branch:
        console.talk(f"the draft is on the git branch {found.branch}")
    for each in found.changes:
        name = f"{each.tier}:{each.label}"
        show(changes.format_diff(each.before or "", each.after or "", f"a/{name}", f"b/{name}"))
    for passage in found.passages:
        console.echo(f"{console.style('+ archive:', 'green')} {make_plain(passage.text)}")
    if found.said:
        console.talk(found.said)
    if found.problem:
        console.error(found.problem)


def _decide(place: Place, item: ReviewItem, key: str) -> None:
    if key == "y":
        _accept(place, item)
    elif key == "n":
        _dismiss(place, item)
    elif key == "e":
        from memfs.cli.edit_input import open_editor  # with what edits, which a list needs not

        with open_editor(f"{item.what}\n", "proposal") as text:
            if text.strip():
                _accept(place, item, text.strip())
            else:
                console.talk("left for later, because the text was empty")


def _ask(question: str, item: ReviewItem) -> str:
    """Return the key that was pressed, once it is one that the item has."""
    keys = [key for key in _KEYS if key != "e" or item.kind in (review.RULE, review.FACT)]
    keys = keys if item.accept else [key for key in keys if key != "y"]
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
