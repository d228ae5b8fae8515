"""What could leave a block just now: its parts, scored with what the store knows of them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memfs.context import paging
from memfs.core import label as labels
from memfs.core.privacy import excerpt
from memfs.store import clock, config, recall
from memfs.store import journal_query as versions

if TYPE_CHECKING:
    from memfs.context.paging import PageCandidate
    from memfs.core.block import Block
    from memfs.store.blocks import Place

_RECENT = 50  # messages that may have come back to something
_TASK = 5  # of the user's that say what the task is, where nobody does
_LONGEST = 2000  # characters of a message that are looked at
_FREED = 0.2  # of a block's limit, by what is named where it is nearly full
_MOST, _SHOWN = 3, 80  # parts that are named, and characters of each


def name_spare_parts(place: Place, block: Block) -> list[str]:
    """Name the parts that are worth least in a block that is nearly full."""
    found = select_parts(place, block, "", _FREED)
    if len(found) == len(paging.parts(block.body)):  # all of it is no choice
        return []
    return [excerpt(" ".join(each.part.text.split()), _SHOWN) for each in found[:_MOST]]


def select_parts(place: Place, block: Block, task: str, free: float) -> list[PageCandidate]:
    """Return the parts of a block that leave for a task, or for a share of its limit.

    Without a task it is what the session's last prompts say.
    """
    settings = config.load(place)
    recent = _recent(place)
    important = settings.number("archival.auto_archive_importance")
    found = paging.candidates(
        block.body,
        task or "\n".join(recent[-_TASK:]),
        recent,
        _ages(place, block),
        scratch=block.tier == labels.SESSION,
        important=important,
        lengthy=settings.number("paging.summarize_threshold"),
    )
    least = settings.get_share("paging.min_relevance_to_keep")
    wanted = max(1, int(free * block.limit)) if free else 0
    return paging.choose_parts(found, least, wanted, important)


def _recent(place: Place) -> list[str]:
    """Return what the user said last in this session."""
    if not place.session:
        return []
    found: list[str] = []
    for path in recall.sources(place.home):
        if place.session in path.replace("\\", "/").rpartition("/")[2]:
            said = [m.text[:_LONGEST] for m in recall.messages(path) if m.role == "user"]
            found += said[-_RECENT:]
    return found[-_RECENT:]


def _ages(place: Place, block: Block) -> list[float]:
    """Return how many days ago each part came into the block, as far as the journal knows."""
    now = datetime.fromisoformat(clock.now())
    entries = versions.entries(place, block.tier, block.label)
    ages = []
    for part in paging.parts(block.body):
        text = part.text.strip()
        since = next((e.at for e in entries if e.after is not None and text in e.after), "")
        try:
            age = (now - datetime.fromisoformat(since)).total_seconds() / 86400
        except (ValueError, TypeError):
            age = 0.0
        ages.append(max(0.0, age))
    return ages
