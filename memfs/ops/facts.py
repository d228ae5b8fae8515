"""Facts: extract them from recall, list them, and decide on them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import files, hosts
from memfs.core import settings
from memfs.core.errors import UNREADABLE, NotFoundError, UsageError
from memfs.core.records import STATUSES, SUPERSEDED, Fact, Message
from memfs.files import atomic
from memfs.knowledge.facts import fact_store, prose
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.knowledge.kinds import registry
from memfs.knowledge.kinds.facts import Facts
from memfs.store import archive, blocks, config, lock, recall
from memfs.store import facts as stored
from memfs.store.blocks import Place
from memfs.store.file_cache import FileCache

if TYPE_CHECKING:
    from memfs.recall.index_sources import Stage

_STATE = "facts.json"  # in the local folder: how far each recall file was read

# The block to offer a fact of each category for; none is written without consent.
_BLOCKS = {
    "identity": "human",
    "preference": "human",
    "environment": "human",
    "rule": "system_rules",
    "decision": "system_rules",
    "correction": "system_rules",
}
DEPTH = 3  # relations that a walk follows by default
_SURE = 0.85  # lowest confidence of a fact to offer
_DAY = re.compile(r"\d{4}(-\d\d(-\d\d(T[\d:.]*Z?)?)?)?")  # an ISO 8601 time, or its beginning


@dataclass(frozen=True)
class FactOffer:
    """A fact, and the label of the block to offer it for."""

    fact: Fact
    label: str


@dataclass(frozen=True)
class SourcedFact:
    """A fact with the message that it is from, "" if recall no longer has it.

    `later` is the fact that superseded it, `earlier` are those that it superseded.
    """

    fact: Fact
    source: str
    later: Fact | None
    earlier: tuple[Fact, ...]


@dataclass(frozen=True)
class Extracted:
    """The result of an extraction: how many messages it read, the new facts, and warnings."""

    messages: int
    facts: tuple[Fact, ...]
    problems: tuple[str, ...] = ()


def extract(
    place: Place,
    stage: Stage = lambda *_: lambda _: None,
    find: Callable[[Sequence[Message], Callable[[int], object]], list[Fact]] | None = None,
) -> Extracted:
    """Ingest pending transcripts, then extract and store the facts of new messages in recall.

    `find` extracts facts from messages, and calls its second argument with the number of those
    done; the default goes by rules. `stage` is called with what is done and how much there is, and
    returns the callback for progress. Threshold, categories, deduplication and capacity are those
    of the configured kind. Raises `UsageError` if its configuration is invalid.
    """
    from memfs.ingest import transcripts  # with what indexes, which a list needs not

    find = find or prose.extract_facts
    kind, problems = registry.load_kind(place, "facts")
    if not isinstance(kind, Facts):
        raise UsageError(
            "facts are not available: another package has replaced the built-in facts",
            "see which package: memfs doctor",
        )
    transcripts.drain(place.home, transcripts.Tally())
    path = f"{place.home.local}/{_STATE}"
    try:
        found = json.loads(files.read(path) or "{}")
        seen = {str(name): int(size) for name, size in found.items()}
    except UNREADABLE:
        seen = {}
    messages: list[Message] = []
    now: dict[str, int] = {}
    logs = recall.sources(place.home)
    tick = stage("reading", len(logs))
    for log in logs:
        name = os.path.relpath(log, place.home.local).replace(os.sep, "/")
        size = files.get_size(log)
        start = seen.get(name, 0)
        if size != start:
            messages.extend(recall.messages(log, start if start < size else 0))
        now[name] = size
        tick(1)
    added = kind.add(find(messages, stage("looking", len(messages))))
    atomic.write(path, json.dumps(now), private=True, durable=False)
    return Extracted(len(messages), tuple(added), tuple(problems))


def select_facts(
    place: Place,
    pattern: str = "",
    *,
    entities: Sequence[str] = (),
    categories: Sequence[str] = (),
    since: str = "",
    until: str = "",
    confidence: float = 0.0,
    statuses: Sequence[str] = (),
    related: str = "",
    depth: int = DEPTH,
    cache: FileCache[dict[str, Fact]] | None = None,
) -> list[Fact]:
    """Return the facts that match all conditions, those that hold unless `statuses` are given.

    `pattern` is a regular expression. `related` is a name: only facts whose relations lead on from
    it, over at most `depth` of them, the nearest first. Raises `UsageError` for a malformed
    condition.
    """
    for name, given, allowed in (
        ("categories", categories, CATEGORIES),
        ("statuses", statuses, STATUSES),
        ("entities", entities, None),
    ):
        if isinstance(given, str):
            raise UsageError(
                f"{name} is {given!r}, expected a list of strings", f"write [{given!r}]"
            )
        for each in given:
            if allowed and each not in allowed:
                raise UsageError(f"{name} has {each!r}, expected one of {', '.join(allowed)}")
    for text in (since, until):
        if text and not _DAY.fullmatch(text):
            raise UsageError(f"{text!r} is not a date", "write 2026-05-03, or 2026-05 for a month")
    if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise UsageError(f"the confidence is {confidence!r}, expected 0 to 1")
    facts = fact_store.list_facts(place, cache)
    if related:
        facts = fact_store.walk_relations(facts, related, depth)
    return fact_store.select_facts(
        facts,
        entities=entities,
        pattern=pattern,
        since=since,
        until=until,
        confidence=confidence,
        categories=categories,
        statuses=statuses,
    )


def explain_facts(place: Place, facts: Sequence[Fact], every: Sequence[Fact]) -> list[SourcedFact]:
    """Return facts with their sources, and with those of `every` that go before and after them.

    Each session is read once.
    """
    by_id = {fact.id: fact for fact in every}
    earlier: dict[str, list[Fact]] = {}
    for fact in every:
        if fact.status == SUPERSEDED:
            earlier.setdefault(fact.by, []).append(fact)
    said = _read_sources(place, facts)
    return [
        SourcedFact(
            fact,
            said.get((fact.host, fact.session, fact.message), ""),
            by_id.get(fact.by) if fact.status == SUPERSEDED else None,
            tuple(earlier.get(fact.id, ())),
        )
        for fact in facts
    ]


def extract_by_model(place: Place) -> bool:
    """Return whether the user has a model extract facts (`extraction_model: configured`)."""
    configured = config.load(place)
    kinds = configured.get("memory_blocks")
    return any(
        isinstance(each, dict)
        and settings.get_type(each) == "facts"
        and isinstance(each.get("config"), dict)
        and configured.asks_for_facts(each["config"].get("extraction_model"))
        for each in (kinds.values() if isinstance(kinds, dict) else ())
    )


def list_offers(place: Place, every: Sequence[Fact] | None = None) -> list[FactOffer]:
    """Return the confident facts that no block has yet, each with the block to offer it for.

    Of facts that contradict each other, only the latest is offered. `every` are all facts, where
    they are known.
    """
    block_text = " ".join(archive.merge_passages(block.value) for block in blocks.load(place))
    sure = [
        fact
        for fact in (fact_store.list_facts(place) if every is None else every)
        if fact.holds and fact.confidence >= _SURE and fact.category in _BLOCKS
    ]
    return [
        FactOffer(fact, _BLOCKS[fact.category])
        for fact in fact_store.drop_contradicted(sure)
        if archive.merge_passages(fact.statement) not in block_text
    ]


def decide(place: Place, ident: str, status: str) -> Fact:
    """Accept or reject a fact, by its id or a prefix of it. Raises `NotFoundError`."""
    found = fact_store.decide_fact(place, ident, status) if ident else None
    if found is None:
        raise NotFoundError(
            f"the id '{ident}' matches no fact, or several facts", "list the full ids: memfs facts"
        )
    return found


def forget(place: Place, idents: Collection[str]) -> int:
    """Remove facts with all their revisions, by their whole ids; return how many there were.

    A message that is read again may state one again: a rejected one does not come back.
    """
    with lock.hold_locks(place.stores(), lock.KINDS):
        return sum(
            stored.remove_facts(store, lambda fact: fact.id in idents) for store in place.stores()
        )


def source(place: Place, fact: Fact) -> str:
    """Return the message that a fact was extracted from, "" if recall no longer has it."""
    return next(iter(_read_sources(place, [fact]).values()), "")


def _read_sources(place: Place, facts: Sequence[Fact]) -> dict[tuple[str, str, str], str]:
    """Return the messages that facts are from, those that recall has, by host, session and id."""
    wanted: dict[tuple[str, str], set[str]] = {}
    for fact in facts:
        if fact.host in (*hosts.READERS, *hosts.COLLECTIONS):
            wanted.setdefault((fact.host, fact.session), set()).add(fact.message)
    paths = {key: recall.get_path(place.home, *key) for key in wanted}
    return {
        (*key, message.id): message.text
        for key, path in paths.items()
        if files.is_file(path)
        for message in recall.find_messages(path, wanted[key])
    }
