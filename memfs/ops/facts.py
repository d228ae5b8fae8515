"""Facts: extract them from recall, list them, and decide on them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import files, hosts
from memfs.core.errors import UNREADABLE, NotFoundError
from memfs.files import atomic
from memfs.ingest import transcripts
from memfs.knowledge.facts import fact_store
from memfs.knowledge.facts.extraction import extractor
from memfs.store import archive, blocks, config, recall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memfs.core.facts import Fact
    from memfs.core.records import Message
    from memfs.store.blocks import Place

_STATE = "facts.json"  # in the local folder: how far each recall file was looked through


# Which block would have what; nothing is written into one unasked.
_BLOCKS = {
    "identity": "human",
    "preference": "human",
    "environment": "human",
    "rule": "system_rules",
    "decision": "system_rules",
    "correction": "system_rules",
}
_SURE = 0.85  # confidence from which on a fact is offered


@dataclass(frozen=True)
class FactOffer:
    """A fact, and the label of the block it could stand in."""

    fact: Fact
    label: str


@dataclass(frozen=True)
class Extracted:
    """What an extraction found: facts that are new, of so many messages."""

    messages: int
    facts: tuple[Fact, ...]


def extract(
    place: Place,
    tick: Callable[[int], object] = lambda _: None,
    find: Callable[[Sequence[Message]], list[Fact]] = extractor.extract_facts,
) -> Extracted:
    """Extract the facts of what is new in recall, after what is waiting was read into it.

    `find` finds them in messages: by rules, if nobody says otherwise.
    """
    transcripts.drain(place.home, transcripts.Tally())
    path = f"{place.home.local}/{_STATE}"
    seen = _state(path)
    messages: list[Message] = []
    now: dict[str, int] = {}
    for log in recall.sources(place.home):
        name = os.path.relpath(log, place.home.local).replace(os.sep, "/")
        size = files.get_size(log)
        start = seen.get(name, 0)
        if size != start:
            messages.extend(recall.messages(log, start if start < size else 0))
        now[name] = size
        tick(1)
    added = fact_store.store_facts(place, find(messages))
    atomic.write(path, json.dumps(now), private=True, durable=False)
    return Extracted(len(messages), tuple(added))


def extract_by_model(place: Place) -> bool:
    """Tell whether a model is to find them: `extraction_model: configured`, by its user alone."""
    kinds = config.load(place).get("memory_blocks")
    return any(
        isinstance(each, dict)
        and each.get("type") == "facts"
        and isinstance(each.get("config"), dict)
        and each["config"].get("extraction_model") == "configured"
        for each in (kinds.values() if isinstance(kinds, dict) else ())
    )


def list_offers(place: Place) -> list[FactOffer]:
    """Return the facts that could stand in a block, each with which one: sure, and in none yet."""
    there = " ".join(archive.merge_passages(block.value) for block in blocks.load(place))
    return [
        FactOffer(fact, _BLOCKS[fact.category])
        for fact in fact_store.list_facts(place)
        if fact.holds
        and fact.confidence >= _SURE
        and fact.category in _BLOCKS
        and archive.merge_passages(fact.statement) not in there
    ]


def count(place: Place) -> int:
    """Return how many recall files an extraction looks at."""
    return len(recall.sources(place.home))


def decide(place: Place, ident: str, status: str) -> Fact:
    """Accept or reject a fact, named by its id or the beginning of it. Raises `NotFoundError`."""
    found = fact_store.decide_fact(place, ident, status) if ident else None
    if found is None:
        raise NotFoundError(
            f"there is no fact {ident}, or several begin so", "memfs facts lists them, with ids"
        )
    return found


def source(place: Place, fact: Fact) -> str:
    """Return the message that a fact is from, "" if it is not in recall any more."""
    if fact.host not in (*hosts.READERS, *hosts.COLLECTIONS):
        return ""
    path = recall.get_path(place.home, fact.host, fact.session)
    if not files.is_file(path):
        return ""
    return next((m.text for m in recall.messages(path) if m.id == fact.message), "")


def _state(path: str) -> dict[str, int]:
    try:
        found = json.loads(files.read(path) or "{}")
        return {str(name): int(size) for name, size in found.items()}
    except UNREADABLE:
        return {}
