"""Review a session: whether it is due for one, and how it is asked for.

Once in a session, after enough prompts: as a word at the next prompt (`nudge`), by one more turn of
the host's own model (`inline`), or by the configured model when the session ends (`background`, see
`agent.review`). Stop hooks ask whether they have to wait for it: see `wanted`.
"""

from memfs import files
from memfs.context import page_candidates
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
MARK = "reviewed"  # of a session, in its folder
_SINCE = "reviewed-since"  # likewise: when a turn was asked to go on for it
_PRESSED = "pressed"  # likewise: it was told that blocks are nearly full


def is_wanted(place: Place) -> bool:
    """Tell whether the end of a turn of this session may ask for something."""
    mode = config.load(place).get("review.mode")
    review = mode in (NUDGE, INLINE) and not sessions.is_marked(place.home, place.session, MARK)
    if review or sessions.is_marked(place.home, place.session, _SINCE):
        return True
    return not sessions.is_marked(place.home, place.session, _PRESSED) and bool(_pressed(place))


def finish_turn(event: Event) -> Reply:
    """Return what a host is told at the end of a turn: that it goes on with a review, for one."""
    place = blocks.find_answering(event)
    if place is None or not place.session:
        return Reply()
    notice, more = _saved(place), ""
    settings = config.load(place)
    mode = settings.get("review.mode")
    if mode in (NUDGE, INLINE) and not event.again and is_due(place, event.host, settings):
        text = resources.read_text("templates", "prompts", f"{mode}.md").strip()
        if mode == INLINE:
            since = f"{place.home.session(place.session)}/{_SINCE}"
            atomic.write(since, clock.now(), private=True, durable=False)
            more = f"{REVIEW} {text}"
        else:
            sessions.queue_notice(place.home, place.session, text)
    _press(place)
    return Reply(notice=notice, more=more)


def finish_session(event: Event) -> str:
    """Return the folder of a session that ended, if it may be due for a review by the model."""
    place = blocks.find_answering(event)
    if place is None or not place.session:
        return ""
    wanted = config.load(place).get("review.mode") == BACKGROUND
    return (
        place.home.top if wanted and not sessions.is_marked(place.home, place.session, MARK) else ""
    )


def is_due(place: Place, host: str, settings: "Settings") -> bool:
    """Tell whether a session is due for its one review, and count it as reviewed from now on."""
    if sessions.is_marked(place.home, place.session, MARK):
        return False
    if prompts(place, host) < max(1, settings.number("review.min_messages")):
        return False
    return sessions.mark_once(place.home, place.session, MARK)


def prompts(place: Place, host: str) -> int:
    """Count what a person said in a session, as far as it is in recall."""
    path = recall.get_path(place.home, host, place.session)
    if not files.is_file(path):
        return 0
    return sum(message.role == "user" and not message.side for message in recall.messages(path))


def _saved(place: Place) -> str:
    """Tell the person what a review saved, once it is over."""
    path = f"{place.home.session(place.session)}/{_SINCE}"
    since = files.read(path)
    if since is None:
        return ""
    files.remove(path)
    made = [
        e for e in journal_query.list_entries(place) if e.session == place.session and e.at >= since
    ]
    told = [f"{entry.label} ({entry.op}, version {entry.version})" for entry in made]
    return flatten_text(f"memfs: the review of this session saved {', '.join(told) or 'nothing'}")


def _pressed(place: Place) -> "list[Block]":
    """List the blocks that are nearly full; what has no label cannot be edited under one."""
    return [
        block
        for block in blocks.load(place)
        if block.pinned
        and not block.read_only
        and block.chars >= WARN_AT * block.limit
        and not labels.problem(block.label)
    ]


def _press(place: Place) -> None:
    """Leave word of blocks that are nearly full, with what could go first; once in a session."""
    full = _pressed(place)
    if not full or not sessions.mark_once(place.home, place.session, _PRESSED):
        return
    lines = []
    for block in full:
        parts = page_candidates.name_spare_parts(place, block)
        more = f"; could go first: {'; '.join(parts)}" if parts else ""
        size = f"{block.chars:,} of {block.limit:,} characters"
        lines.append(flatten_text(f"- {block.label} holds {size}{more}"))
    text = "\n".join(["# Memory pressure: consolidate these blocks, or archive details", *lines])
    sessions.queue_notice(place.home, place.session, text)
