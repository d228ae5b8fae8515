"""The first page: what is remembered, what is new, and what needs attention with its actions."""

from __future__ import annotations

from starlette.responses import Response

from memfs.core import changes
from memfs.core import label as labels
from memfs.core.errors import MemfsError
from memfs.core.formats import format_count, format_day
from memfs.ops import recent_prompts, review, show, timeline
from memfs.ops.review import ReviewItem
from memfs.store import clock
from memfs.store.proposals import Proposal
from memfs.web import news
from memfs.web.rendering import Visit, get, make_origin, post

_SHOWN = 5  # things of a kind on the first page
_LISTED = 50  # of a kind among what needs attention
_PROMPTS = 3  # the last ones there
_AT_ONCE = (review.RULE, review.FACT)  # kinds that are accepted together


def show_home(visit: Visit) -> Response:
    """Show what is remembered, what is new since the last visit, and what waits."""
    place = visit.place
    blocks = [each for each in show.show_all(place) if each.block.tier != labels.SESSION]
    write = place.home.trusted and not visit.site.access.read_only
    since = news.note_visit(place, write=write)
    found = news.run(place, since, visit.project.sessions)
    today = format_day(clock.seconds())
    costs = timeline.measure_day_costs(place)
    return visit.render(
        "home.html",
        "home",
        visit.project.name,
        blocks=[each for each in blocks if each.block.value.strip()],
        empty=[each for each in blocks if not each.block.value.strip()],
        news=found,
        most=_SHOWN,
        items=visit.project.list_items(),
        nouns=review.NOUNS,
        diffs=list_diffs,
        prompts=recent_prompts.run(place, _PROMPTS),
        costs=[(("today" if each.day == today else each.day), each) for each in costs[:-3:-1]],
    )


def show_attention(visit: Visit) -> Response:
    """Show all that needs attention, by kind, each with its actions."""
    groups: dict[str, list[ReviewItem]] = {}
    for item in visit.project.list_items(anew=True):
        groups.setdefault(item.kind, []).append(item)
    shown = [
        (
            format_count(len(items), review.NOUNS[kind]),
            items[:_LISTED],
            kind in _AT_ONCE and len(items) > 1,
            len(items) - _LISTED,
        )
        for kind, items in groups.items()
    ]
    return visit.render(
        "attention.html",
        "attention",
        "Needs attention",
        groups=shown,
        nouns=review.NOUNS,
        diffs=list_diffs,
    )


def list_diffs(item: ReviewItem) -> list[tuple[str, str]]:
    """Return (label, diff) of each block that a proposal changes."""
    if not isinstance(item.source, Proposal):
        return []
    return [
        (
            labels.qualify(each.tier, each.label),
            changes.of_blocks(each.before, each.after, "now", "then"),
        )
        for each in item.source.changes
    ]


def decide_items(visit: Visit) -> Response:
    """Accept or dismiss the items that the form names."""
    place, form = visit.place, visit.form
    known = {item.id: item for item in review.list_items(place)}
    for ident in form.get("ids", "").split():
        item = known.get(ident)
        if item is None:
            visit.say(
                "this does not wait any more: it was decided, or is not so any more", "refused"
            )
            continue
        try:
            visit.say(_decide(visit, item, accept=form.get("to") == "accept"))
        except MemfsError as error:
            visit.say(f"{error.message} ({error.hint})" if error.hint else error.message, "refused")
    return visit.redirect("attention" if form.get("back") == "attention" else "home")


def _decide(visit: Visit, item: ReviewItem, *, accept: bool) -> str:
    """Accept or dismiss an item; return what was done."""
    if not accept:
        review.dismiss(visit.place, item)
        return f"dismissed: {item.what}"
    done = review.accept(visit.place, item, make_origin())
    visit.say(done.note, "refused")
    named = {f"{entry.label}, version {entry.version}" for entry in done.entries}
    return f"accepted: {item.what}" + (f" ({'; '.join(sorted(named))})" if named else "")


ROUTES = [
    get("/home", show_home),
    get("/attention", show_attention),
    post("/attention", decide_items),
]
