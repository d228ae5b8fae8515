"""Request the review of a session after enough prompts: by a notice, a turn, or at its end."""

from memfs import files
from memfs.context import page_scores, person_notices
from memfs.core import label as labels
from memfs.core.block import WARN_AT
from memfs.core.escaping import flatten_text
from memfs.core.events import REVIEW, Event, Reply
from memfs.files import atomic
from memfs.store import blocks, clock, config, journal_query, recall, resources, sessions
from memfs.store.blocks import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.core.block import Block
    from memfs.core.settings import Settings

NUDGE, INLINE, BACKGROUND = "nudge", "inline", "background"
_MARK = "reviewed"  # file in the folder of a session: the number of prompts at its last review
_SINCE = "reviewed-since"  # likewise: when an inline review began
_PRESSED = "pressed"  # likewise: the notice of nearly full blocks was queued


def is_wanted(place: Place) -> bool:
    """Return whether the end of a turn may request a review or warn of full blocks."""
    review = config.load(place).get("review.mode") in (NUDGE, INLINE)
    if review or sessions.is_marked(place.home, place.session, _SINCE):
        return True
    return not sessions.is_marked(place.home, place.session, _PRESSED) and bool(_list_full(place))


def finish_turn(event: Event, *, at_end: bool = False) -> Reply:
    """Reply to the end of a turn; an `inline` review makes the host go on.

    `at_end`: it is the session's last one.
    """
    place = blocks.find_answering(event)
    if place is None or not place.session:
        return Reply()
    edits, more = person_notices.take_edits(place), ""
    notice = _record_result(place, event.host) or edits
    settings = config.load(place)
    mode = settings.get("review.mode")
    asks = mode == INLINE if at_end else mode in (NUDGE, INLINE)
    if asks and not event.again and is_due(place, event.host, settings, at_end=at_end):
        text = resources.read_text("templates", "prompts", f"{mode}.md").strip()
        if mode == INLINE:
            since = f"{place.home.session(place.session)}/{_SINCE}"
            atomic.write(since, clock.now(), private=True, durable=False)
            more = f"{REVIEW} {text}"
        else:
            sessions.queue_notice(place.home, place.session, text)
    _queue_pressure_notice(place)
    return Reply(notice=notice, more=more)


def finish_session(event: Event) -> str:
    """Return the folder of an ended session that may be due for a background review, else ""."""
    place = blocks.find_answering(event)
    if place is None or not place.session:
        return ""
    return place.home.top if config.load(place).get("review.mode") == BACKGROUND else ""


def is_due(place: Place, host: str, settings: "Settings", *, at_end: bool = False) -> bool:
    """Return whether a session is due for a review, and then mark it as reviewed.

    After the first one as many prompts have to come as there were, or any at its end.
    """
    least = max(1, settings.number("review.min_messages"))
    count = prompts(place, host)
    text = files.read(f"{place.home.session(place.session)}/{_MARK}")
    reviewed = 0 if text is None else int(text) if text.isdigit() else least
    if count < least or count <= reviewed or (count < 2 * reviewed and not at_end):
        return False
    first = sessions.mark_once(place.home, place.session, _MARK)
    mark_reviewed(place, host)
    return first or reviewed > 0


def mark_reviewed(place: Place, host: str) -> None:
    """Note that a session is reviewed as far as it is in recall."""
    sessions.mark_once(place.home, place.session, _MARK)  # makes its folder
    path = f"{place.home.session(place.session)}/{_MARK}"
    atomic.write(path, f"{prompts(place, host)}", private=True, durable=False)


def prompts(place: Place, host: str) -> int:
    """Count the messages of the user in a session, as far as they are in recall."""
    path = recall.get_path(place.home, host, place.session)
    if not files.is_file(path):
        return 0
    return sum(message.role == "user" and not message.side for message in recall.messages(path))


def _record_result(place: Place, host: str) -> str:
    """Put an inline review that ran on file; return the message of what it saved, "" for none."""
    path = f"{place.home.session(place.session)}/{_SINCE}"
    since = files.read(path)
    if since is None:
        return ""
    files.remove(path)
    entries = [
        e for e in journal_query.list_entries(place) if e.session == place.session and e.at >= since
    ]
    from memfs.store.proposals import SessionReview, write_review  # only where a review ran

    saved = tuple((entry.label, entry.op, entry.version) for entry in entries)
    count = prompts(place, host)
    found = SessionReview(place.session, host, since, host, count, saved, told=True)
    write_review(place.home, found)
    what = found.render().partition(" saved ")[2]
    return flatten_text(f"memfs: the review of this session saved {what}")


def _list_full(place: Place) -> "list[Block]":
    full = (each for each in blocks.load(place) if each.pinned and each.fill >= WARN_AT)
    return [each for each in full if not each.read_only and not labels.problem(each.label)]


def _queue_pressure_notice(place: Place) -> None:
    """Queue a notice of nearly full blocks and their spare parts, once in a session."""
    full = _list_full(place)
    if not full or not sessions.mark_once(place.home, place.session, _PRESSED):
        return
    lines = []
    for block in full:
        parts = page_scores.name_spare_parts(place, block)
        more = f"; could go first: {'; '.join(parts)}" if parts else ""
        size = f"{block.chars:,} of {block.limit:,} characters{block.size_in_tokens}"
        lines.append(flatten_text(f"- {block.label} holds {size}{more}"))
    text = "\n".join(["# Memory pressure: consolidate these blocks, or archive details", *lines])
    sessions.queue_notice(place.home, place.session, text)
