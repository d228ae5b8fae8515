"""The parts of a block that could be paged out, scored with data from the store."""

from __future__ import annotations

from datetime import datetime

from memfs.context import page_scores
from memfs.context.page_scores import PageCandidate
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.privacy import excerpt
from memfs.store import clock, config, journal_query, recall
from memfs.store.blocks import Place

_RECENT = 50  # messages that may refer to a part
_TASK = 5  # messages of the user that stand for the task, if none is given
_LONGEST = 2000  # characters of a message that are looked at
_FREED = 0.2  # of a block's limit: freed by the parts named for a nearly full block
_MOST, _SHOWN = 3, 80  # parts that are named, and characters of each


def name_spare_parts(place: Place, block: Block) -> list[str]:
    """Return excerpts of the least valuable parts of a block that is nearly full."""
    found = select_parts(place, block, "", _FREED)
    if len(found) == len(page_scores.split_parts(block.body)):  # naming all parts is no help
        return []
    return [excerpt(" ".join(each.part.text.split()), _SHOWN) for each in found[:_MOST]]


def select_parts(place: Place, block: Block, task: str, free: float) -> list[PageCandidate]:
    """Return the parts of a block to page out for a task, or to free a share of its limit.

    Without a task the session's last prompts stand for it.
    """
    settings = config.load(place)
    recent = _load_prompts(place)
    important = settings.number("archival.auto_archive_importance")
    found = page_scores.candidates(
        block.body,
        task or "\n".join(recent[-_TASK:]),
        recent,
        _compute_ages(place, block),
        scratch=block.tier == labels.SESSION,
        important=important,
        lengthy=settings.number("paging.summarize_threshold"),
    )
    least = settings.get_share("paging.min_relevance_to_keep")
    freed = max(1, int(free * block.limit)) if free else 0
    return page_scores.choose_parts(found, least, freed, important)


def _load_prompts(place: Place) -> list[str]:
    """Return the last prompts of the user in this session."""
    if not place.session:
        return []
    found: list[str] = []
    for path in recall.sources(place.home):
        if place.session in path.replace("\\", "/").rpartition("/")[2]:
            prompts = [m.text[:_LONGEST] for m in recall.messages(path) if m.role == "user"]
            found += prompts[-_RECENT:]
    return found[-_RECENT:]


def _compute_ages(place: Place, block: Block) -> list[float]:
    """Return the age of each part in days, by the journal; 0 if it is unknown."""
    now = datetime.fromisoformat(clock.now())
    entries = journal_query.list_block_entries(place, block.tier, block.label)
    ages = []
    for part in page_scores.split_parts(block.body):
        text = part.text.strip()
        since = next((e.at for e in entries if e.after is not None and text in e.after), "")
        try:
            age = (now - datetime.fromisoformat(since)).total_seconds() / 86400
        except (ValueError, TypeError):
            age = 0.0
        ages.append(max(0.0, age))
    return ages
