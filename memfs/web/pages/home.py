"""The first page: what is remembered, what is new, and what needs attention with its actions."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.responses import Response

from memfs import files
from memfs.core import changes
from memfs.core import label as labels
from memfs.core.errors import MemfsError
from memfs.core.formats import format_count, format_day
from memfs.core.records import JournalEntry
from memfs.files import atomic
from memfs.ops import recent_prompts, review, sessions, show, timeline
from memfs.ops.review import ReviewItem
from memfs.ops.sessions import RecordedSession, SessionCache
from memfs.store import clock, journal, journal_query, local_folder
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal
from memfs.web.rendering import Visit, explain, get, make_origin, post

_SHOWN = 5  # things of a kind on the first page
_LISTED = 50  # of a kind among what needs attention
_PROMPTS = 3  # the last ones there
_FILE = "visited"  # in the local folder: when the visit before began to be the last, and this one
_VISIT = 1800  # seconds without a look after which a visit has ended
_FIRST = 7 * 86400  # seconds that are new at the first visit
_MOST = 50  # sessions that are looked at
_DONE = {"accept": "accepted", "dismiss": "dismissed"}


def _show_home(visit: Visit) -> Response:
    place = visit.place
    blocks = [each for each in show.show_all(place) if each.block.tier != labels.SESSION]
    write = place.home.trusted and not visit.site.access.read_only
    since = note_visit(place, write=write)
    found = load_news(place, since, visit.project.sessions)
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


def _show_attention(visit: Visit) -> Response:
    groups: dict[str, list[ReviewItem]] = {}
    for item in visit.project.list_items(anew=True):
        groups.setdefault(item.kind, []).append(item)
    return visit.render(
        "attention.html",
        "attention",
        "Needs attention",
        groups=[
            (kind, format_count(len(items), review.NOUNS[kind]), items)
            for kind, items in groups.items()
        ],
        total=sum(map(len, groups.values())),
        listed=_LISTED,
        selected=visit.query.get("selected", ""),
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


def _decide_items(visit: Visit) -> Response:
    what, _, one = visit.form.get("one", "").partition(" ")
    what = what or visit.form.get("to", "")
    picked = [one] if one else visit.list_picked()
    if not picked or what not in _DONE:
        visit.say("nothing is selected", "refused")
    known = {item.id: item for item in review.list_items(visit.place)} if picked else {}
    done: list[ReviewItem] = []
    for ident in picked if what in _DONE else ():
        if ident not in known:
            visit.say("this item is already decided, or no longer applies", "refused")
            continue
        try:
            named = _decide(visit, known[ident], accept=what == "accept")
        except MemfsError as error:
            visit.say(explain(error), "refused")
            continue
        done.append(known[ident])
        visit.say(f"{_DONE[what]}: {known[ident].what}{named}" if one else "")
    kinds = Counter(review.NOUNS[item.kind] for item in done)
    counts = ", ".join(format_count(count, noun) for noun, count in kinds.items())
    visit.say(f"{_DONE[what]}: {counts}" if done and not one else "")
    return visit.redirect("attention" if visit.form.get("back") == "attention" else "home")


def _decide(visit: Visit, item: ReviewItem, *, accept: bool) -> str:
    """Accept or dismiss an item; return which versions of blocks that made, to be said."""
    if not accept:
        review.dismiss(visit.place, item)
        return ""
    done = review.accept(visit.place, item, make_origin())
    visit.say(done.note, "refused")
    named = {f"{entry.label}, version {entry.version}" for entry in done.entries}
    return f" ({'; '.join(sorted(named))})" if named else ""


@dataclass(frozen=True)
class EditedBlock:
    """An edit of a block; `undoable`: it is the last one of its block, and no undo."""

    entry: JournalEntry
    undoable: bool


@dataclass(frozen=True)
class News:
    """What is new since `since` (UTC, ISO 8601), the newest first.

    `edits` are those by assistants, `last` is the last edit of any block by anyone.
    """

    since: str
    sessions: tuple[RecordedSession, ...]
    edits: tuple[EditedBlock, ...]
    last: EditedBlock | None


def load_news(place: Place, since: str, cache: SessionCache) -> News:
    """Return what is new since a time. Raises `MemfsError`."""
    recorded = sessions.list_sessions(place, _MOST, cache=cache)
    entries = [
        entry
        for entry in journal_query.list_entries(place)
        if entry.tier != labels.SESSION and entry.op != journal.ADOPT
    ]
    entries.sort(key=lambda entry: (entry.at, entry.id))
    latest = {entry.key: entry.id for entry in entries}
    edits = [
        EditedBlock(entry, latest[entry.key] == entry.id and entry.op != journal_query.UNDO)
        for entry in reversed(entries)
    ]
    return News(
        since,
        tuple(each for each in recorded if each.ended > since),
        tuple(each for each in edits if each.entry.actor == "agent" and each.entry.at > since),
        edits[0] if edits else None,
    )


def note_visit(place: Place, *, write: bool = True) -> str:
    """Note that a person looks now; return when they looked last, before this visit."""
    path, now = f"{place.home.local}/{_FILE}", int(clock.seconds())
    parts = (files.read(path) or "").split()
    before, seen = map(int, parts) if len(parts) == 2 and all(map(str.isdecimal, parts)) else (0, 0)
    if now - seen > _VISIT:
        before = seen
    if write:
        local_folder.make(place.home)
        atomic.write(path, f"{before} {now}\n", private=True, durable=False)
    since = before or now - _FIRST
    return datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


ROUTES = [
    get("/home", _show_home),
    get("/attention", _show_attention),
    post("/attention", _decide_items),
]
