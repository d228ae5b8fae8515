"""The kind of facts: statements with confidence, entities and source, extracted and superseded."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from memfs.core import body_edits
from memfs.core.errors import NotFoundError, RejectedError, UsageError
from memfs.core.records import ACTIVE, ARCHIVED, REJECTED, Fact, Message, Passage, make_id
from memfs.files import signatures
from memfs.knowledge.facts import fact_store, selection
from memfs.knowledge.facts.extraction import prose
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds import scoring
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity, Content, Found, Metrics, Query, Relevant, State
from memfs.recall.index_session import IndexSession
from memfs.search.doc_json import epoch
from memfs.search.engine import Engine, Filter
from memfs.store import chunk_log, clock, lock, store_paths
from memfs.store import facts as stored
from memfs.store.blocks import Place

Extract: TypeAlias = Callable[[Sequence[Message]], list[Fact]]

_SURE = 0.7  # least confidence of relevant facts by default
_ABOUT = 0.6  # least relevance of a fact to a task
_SHORTEST = 3  # letters of an entity that is searched in a text
_WORD = re.compile(r"[\w+#]+")
_LATEST = 5000  # facts in a summary


class Facts:
    """Facts of at least `confidence`, of some categories (() for all).

    `extract` finds them in messages, by rules as the default. `problems` names the categories that
    do not exist.
    """

    def __init__(
        self,
        place: Place,
        id: str = "facts",
        capacity: Capacity | None = None,
        *,
        confidence: float = 0.0,
        categories: Sequence[str] = (),
        deduplication: bool = True,
        extract: Extract = prose.extract_facts,
        index: IndexSession | None = None,
    ) -> None:
        self.id, self.type, self.capacity = id, "facts", capacity or Capacity()
        self.place, self._index = place, index or IndexSession(place)
        self._confidence, self._categories = confidence, selection.expand_categories(categories)
        self.problems = selection.describe_unknown(id, categories)
        self._unlike, self._extract = deduplication, extract
        self._signatures: object = None
        self._all: dict[str, Fact] = {}
        self._by_entity: dict[str, list[str]] = {}

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Extract facts from messages, and store the new ones; return their ids."""
        session = str(metadata.get("session") or self.place.session)
        found = self._extract(contents.messages(content, session))
        return [fact.id for fact in self.add(found)]

    def add(self, found: Sequence[Fact]) -> list[Fact]:
        """Store facts of enough confidence and the right category; return the new ones."""
        wanted = [
            fact
            for fact in found
            if fact.confidence >= self._confidence
            and (not self._categories or fact.category in self._categories)
        ]
        added = fact_store.store_facts(self.place, wanted, unlike=self._unlike)
        self._enforce_capacity()
        return added

    def retrieve(self, query: Query) -> list[Found]:
        """Return the facts that match all conditions, those nearest to the text first."""
        facts = self._load_facts()
        if query.id:
            fact = facts.get(query.id)
            return [_make_found(fact, 1.0)] if fact else []
        matches = self._select_by_entity(query.entities) if query.entities else [*facts.values()]
        if query.path:
            matches = selection.walk_relations(matches, query.path, query.depth or 1)
        try:
            matches = selection.select_facts(
                matches,
                pattern=query.pattern,
                since=query.since,
                until=query.until,
                confidence=query.confidence,
                categories=query.categories,
            )
        except re.error as error:
            raise UsageError(f"{query.pattern!r} is no regular expression: {error}") from error
        if not query.texts:
            matches.sort(key=lambda fact: (fact.confidence, fact.at), reverse=True)
            found = [_make_found(fact, fact.confidence) for fact in matches]
        else:
            found = self._rank_by_text(query, {fact.id: fact for fact in matches})
        if query.prefer_recent:
            found.sort(key=lambda each: each.at, reverse=True)
        return found[: query.limit]

    def update(self, ident: str, content: Content) -> None:
        """Correct a fact: another statement supersedes it. Raises `NotFoundError`."""
        fact = self._load_facts().get(ident)
        text = "\n".join(m.text for m in contents.messages(content, "")).strip()
        if fact is None or not text:
            raise NotFoundError(f"there is no fact {ident}, or no text", "memfs facts lists them")
        odd = body_edits.check_secret("keep", "a fact", text)
        if odd:
            raise RejectedError(odd.message, odd.hint)
        new = replace(
            fact,
            id=make_id(fact.id, text),
            statement=text,
            at=clock.now(),
            revision=0,
            status=ACTIVE,
            extractor="",
        )
        fact_store.replace_fact(self.place, ident, new)

    def delete(self, ident: str) -> None:
        """Reject a fact: it is not stored again. Raises `NotFoundError`."""
        if fact_store.decide_fact(self.place, ident, REJECTED) is None:
            raise NotFoundError(f"there is no fact {ident}", "memfs facts lists them")

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return the facts about the entities and the texts of a state, with a summary of them."""
        condition = replace(query, confidence=query.confidence or _SURE)
        found: dict[str, Found] = {}
        entities = (*state.entities, *self._find_entities(state.task))
        for entity in dict.fromkeys(entities):
            for each in self.retrieve(replace(condition, entities=(entity,), text="")):
                found[each.id] = each
        texts = (state.task, *(message.text for message in state.recent[-2:]), *query.texts)
        near = replace(condition, text=texts, threshold=query.threshold or _ABOUT)
        for each in self.retrieve(near) if near.texts else ():
            found.setdefault(each.id, each)
        best = sorted(found.values(), key=lambda each: -each.relevance)[: query.limit]
        facts = self._load_facts()
        relevant = [facts[each.id] for each in best if each.id in facts]
        sure = sum(fact.confidence for fact in relevant) / len(relevant) if relevant else 0.0
        return Relevant(tuple(best), selection.format_summary(relevant), round(sure, 4))

    def summarize(self) -> str:
        """Return the active facts, by category."""
        return selection.format_summary(list(self._load_facts().values())[-_LATEST:])

    def compress(self) -> int:
        """Rewrite each file with the last revision of each fact; return the lines saved."""
        saved = 0
        for store in self.place.stores():
            with lock.hold_lock(store, name=stored.LOCK):
                own = store_paths.without_quarantine(store)
                saved += sum(stored.compact_file(path) for path in stored.sources(own))
        return saved

    def archive(self, older_than: str) -> int:
        """Archive the facts from before a time; return their number."""
        before = contents.format_time(older_than)
        return self._evict(lambda facts: [fact for fact in facts if fact.at < before])

    def metrics(self) -> Metrics:
        """Return the number, the size and the time range of the active facts."""
        facts = [fact for fact in self._load_facts().values() if fact.holds]
        times = sorted(fact.at for fact in facts if fact.at) or [""]
        return Metrics(len(facts), _size(facts), times[0], times[-1])

    def _rank_by_text(self, query: Query, facts: dict[str, Fact]) -> list[Found]:
        if not facts:
            return []
        return self._index.ask("hybrid", lambda engine: _rank_by_text(engine, query, facts))

    def _load_facts(self) -> dict[str, Fact]:
        """Return the facts of all tiers by id. Reads the files again if one changed."""
        paths = [path for store in self.place.stores() for path in stored.sources(store)]
        signed = [(path, signatures.sign_file(path)) for path in paths]
        if signed != self._signatures:
            self._all = {fact.id: fact for fact in fact_store.list_facts(self.place)}
            index: dict[str, list[str]] = defaultdict(list)
            for fact in self._all.values():
                for entity in fact.entities:
                    index[entity.casefold()].append(fact.id)
            self._by_entity, self._signatures = dict(index), signed
        return self._all

    def _find_entities(self, text: str) -> list[str]:
        """Return the known entities that occur in a text as whole words."""
        if not text.strip():
            return []
        self._load_facts()
        folded = f" {' '.join(_WORD.findall(text.casefold()))} "
        return [
            entity
            for entity in self._by_entity
            if len(entity) >= _SHORTEST and f" {' '.join(_WORD.findall(entity))} " in folded
        ]

    def _select_by_entity(self, entities: Sequence[str]) -> list[Fact]:
        """Return the facts whose entities contain one of some names."""
        facts = self._load_facts()
        wanted = [entity.casefold() for entity in entities]
        idents = {
            ident
            for entity, some in self._by_entity.items()
            if any(word in entity for word in wanted)
            for ident in some
        }
        return [fact for ident, fact in facts.items() if ident in idents]

    def _enforce_capacity(self) -> None:
        """Archive the oldest facts that are over the capacity."""
        if self.capacity.bounded:
            self._evict(self._select_excess)

    def _select_excess(self, facts: Sequence[Fact]) -> Sequence[Fact]:
        """Return the oldest facts that are over the capacity."""
        sizes = [(_size([fact]), float(epoch(fact.at) or 0)) for fact in facts]
        return facts[: self.capacity.excess(sizes, len(facts), _size(facts), clock.seconds())]

    def _evict(self, choose: Callable[[Sequence[Fact]], Sequence[Fact]]) -> int:
        """Archive the chosen facts of this place's own store, then mark them; return their number.

        A kill between the two loses nothing. A project's configuration does not apply to the facts
        in the user's store.
        """
        store = self.place.home
        with lock.hold_lock(store, name=stored.LOCK):
            facts = [fact for fact in stored.load_facts(store).values() if fact.holds]
            chosen = choose(sorted(facts, key=lambda fact: fact.at))
            if chosen:
                log = chunk_log.ChunkLog(store, self.id)
                with log.writing():
                    log.add([_passage(fact) for fact in chosen], [{"fact": f.id} for f in chosen])
                stored.write_facts(store, [fact.revise(ARCHIVED) for fact in chosen])
        return len(chosen)


def from_config(
    index: IndexSession, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Facts:
    """Make the kind from its configuration. Raises `UsageError`."""
    with Options(id, options) as given:
        given.read_choice(
            "extraction_model", "none", "configured"
        )  # only `memfs facts extract` uses it
        return Facts(
            index.place,
            id,
            capacity,
            index=index,
            confidence=given.read_share("confidence_threshold", 0.0),
            categories=given.read_words("categories"),
            deduplication=given.read_flag("deduplication", default=True),
        )


def _make_found(fact: Fact, relevance: float) -> Found:
    metadata = {
        "confidence": fact.confidence,
        "category": fact.category,
        "entities": fact.entities,
        "relations": fact.relations,
        "status": fact.status,
        "session": fact.session,
        "host": fact.host,
        "message": fact.message,
        "extractor": fact.extractor,
    }
    return Found(
        fact.id,
        "fact",
        fact.statement,
        relevance,
        fact.at,
        "",
        "facts",
        "facts from past sessions",
        metadata,
    )


def _passage(fact: Fact) -> Passage:
    source = f"fact {fact.id}, session {fact.session}" if fact.session else f"fact {fact.id}"
    return Passage("", fact.statement, fact.at or clock.now(), 5, ("fact", fact.category), source)


def _size(facts: Sequence[Fact]) -> int:
    return sum(len(fact.statement.encode("utf-8", "replace")) for fact in facts)


def _rank_by_text(engine: Engine, query: Query, facts: dict[str, Fact]) -> list[Found]:
    by_words = engine.vectors is None
    only = Filter(kinds=("fact",))
    near: dict[str, float] = {}
    for text in query.texts:
        page = engine.search(text, mode=scoring.mode(engine), only=only, limit=3 * query.limit)
        for hit in page.hits:
            if hit.id in facts:
                near[hit.id] = max(hit.score, near.get(hit.id, 0.0))
    best = sorted(near, key=lambda ident: -near[ident])
    statements = [facts[ident].statement for ident in best]
    scores = scoring.relevances(query.texts, statements, words=by_words)
    return [
        _make_found(facts[ident], score)
        for ident, score in zip(best, scores, strict=True)
        if score >= query.threshold
    ]
