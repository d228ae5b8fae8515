"""The kind of facts: statements with confidence, entities and source, extracted and superseded."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from memfs.core import edits
from memfs.core.errors import NotFoundError, RejectedError, UsageError
from memfs.core.facts import ACTIVE, ARCHIVED, REJECTED, Fact, make_id
from memfs.core.records import Message, Passage
from memfs.files import signatures
from memfs.knowledge.facts import fact_store, selection
from memfs.knowledge.facts.extraction import extractor
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds import hits, scoring
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity, Found, Metrics, Query, Relevant, State
from memfs.recall.index_session import IndexSession
from memfs.search.engine import Filter
from memfs.search.message_documents import epoch
from memfs.store import chunk_log, clock, lock, store_paths
from memfs.store import facts as stored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memfs.knowledge.kinds.protocol import Content
    from memfs.search.engine import Engine
    from memfs.store.blocks import Place

Extract: TypeAlias = Callable[[Sequence[Message]], list[Fact]]

_SURE = 0.7  # confidence of what is relevant, where nobody says more
_ABOUT = 0.6  # relevance from which on a fact has to do with a task
_SHORTEST = 3  # letters of an entity that is looked for in a text
_WORD = re.compile(r"[\w+#]+")
_LATEST = 5000  # that are summed up


class Facts:
    """Facts of `confidence` and more, of some categories (() for all).

    `extract` finds them in messages: by rules, where nothing else is given.
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
        extract: Extract = extractor.extract_facts,
        kept: IndexSession | None = None,
    ) -> None:
        self.id, self.type, self.capacity = id, "facts", capacity or Capacity()
        self.place, self._kept = place, kept or IndexSession(place)
        self._confidence, self._categories = confidence, tuple(categories)
        self._unlike, self._extract = deduplication, extract
        self._looks: object = None
        self._all: dict[str, Fact] = {}
        self._by_entity: dict[str, list[str]] = {}

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Extract facts from messages and keep those that are new; return their ids."""
        session = str(metadata.get("session") or self.place.session)
        found = self._extract(contents.messages(content, session))
        return [fact.id for fact in self.add(found)]

    def add(self, found: Sequence[Fact]) -> list[Fact]:
        """Keep facts, those that are sure enough; return what is new."""
        wanted = [
            fact
            for fact in found
            if fact.confidence >= self._confidence
            and (not self._categories or fact.category in self._categories)
        ]
        added = fact_store.store_facts(self.place, wanted, unlike=self._unlike)
        self._bound()
        return added

    def retrieve(self, query: Query) -> list[Found]:
        """Return the facts that have all that is asked, those nearest to the text first."""
        facts = self._known()
        if query.id:
            fact = facts.get(query.id)
            return [_found(fact, 1.0)] if fact else []
        some = self._named(query.entities) if query.entities else list(facts.values())
        try:
            some = selection.select_facts(
                some,
                pattern=query.pattern,
                since=query.since,
                until=query.until,
                confidence=query.confidence,
                categories=query.categories,
            )
        except re.error as error:
            raise UsageError(f"{query.pattern!r} is no regular expression: {error}") from error
        if not query.texts:
            some.sort(key=lambda fact: (fact.confidence, fact.at), reverse=True)
            found = [_found(fact, fact.confidence) for fact in some]
        else:
            found = self._near(query, {fact.id: fact for fact in some})
        if query.prefer_recent:
            found.sort(key=lambda each: each.at, reverse=True)
        return found[: query.limit]

    def update(self, ident: str, content: Content) -> None:
        """Correct a fact: another statement supersedes it. Raises `NotFoundError`."""
        fact = self._known().get(ident)
        text = "\n".join(m.text for m in contents.messages(content, "")).strip()
        if fact is None or not text:
            raise NotFoundError(f"there is no fact {ident}, or no text", "memfs facts lists them")
        odd = edits.check_secret("keep", "a fact", text)
        if odd:
            raise RejectedError(odd.message, odd.hint)
        new = replace(
            fact,
            id=make_id(fact.id, text),
            statement=text,
            at=clock.now(),
            revision=0,
            status=ACTIVE,
        )
        fact_store.replace_fact(self.place, ident, new)

    def delete(self, ident: str) -> None:
        """Reject a fact: it does not come back. Raises `NotFoundError`."""
        if fact_store.decide_fact(self.place, ident, REJECTED) is None:
            raise NotFoundError(f"there is no fact {ident}", "memfs facts lists them")

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return the facts a state is about, with a summary of them."""
        asked = replace(query, confidence=query.confidence or _SURE)
        found: dict[str, Found] = {}
        entities = (*state.entities, *self._mentioned(state.task))
        for entity in dict.fromkeys(entities):
            for each in self.retrieve(replace(asked, entities=(entity,), text="")):
                found[each.id] = each
        texts = (state.task, *(message.text for message in state.recent[-2:]), *query.texts)
        near = replace(asked, text=texts, threshold=query.threshold or _ABOUT)
        for each in self.retrieve(near) if near.texts else ():
            found.setdefault(each.id, each)
        best = sorted(found.values(), key=lambda each: -each.relevance)[: query.limit]
        facts = self._known()
        some = [facts[each.id] for each in best if each.id in facts]
        sure = sum(fact.confidence for fact in some) / len(some) if some else 0.0
        return Relevant(tuple(best), selection.format_summary(some), round(sure, 4))

    def summarize(self) -> str:
        """Return the facts that count, by category."""
        return selection.format_summary(list(self._known().values())[-_LATEST:])

    def compress(self) -> int:
        """Write each file anew, with the last revision of each fact; return the lines saved."""
        saved = 0
        for store in self.place.stores():
            with lock.hold_lock(store, name=stored.LOCK):
                own = store_paths.without_quarantine(store)
                saved += sum(stored.compact_file(path) for path in stored.sources(own))
        return saved

    def archive(self, older_than: str) -> int:
        """Let facts from before a time leave."""
        before = contents.format_time(older_than)
        return self._leave(lambda some: [fact for fact in some if fact.at < before])

    def metrics(self) -> Metrics:
        """Return how many facts count."""
        some = [fact for fact in self._known().values() if fact.holds]
        times = sorted(fact.at for fact in some if fact.at) or [""]
        return Metrics(len(some), _size(some), times[0], times[-1])

    def _near(self, query: Query, some: dict[str, Fact]) -> list[Found]:
        if not some:
            return []
        return self._kept.ask("hybrid", lambda engine: _near(engine, query, some))

    def _known(self) -> dict[str, Fact]:
        """Return the facts of all tiers by id, read again where their files changed."""
        paths = [path for store in self.place.stores() for path in stored.sources(store)]
        looks = [(path, signatures.sign_file(path)) for path in paths]
        if looks != self._looks:
            self._all = {fact.id: fact for fact in fact_store.list_facts(self.place)}
            index: dict[str, list[str]] = defaultdict(list)
            for fact in self._all.values():
                for entity in fact.entities:
                    index[entity.casefold()].append(fact.id)
            self._by_entity, self._looks = dict(index), looks
        return self._all

    def _mentioned(self, text: str) -> list[str]:
        """Return the entities that a text names, as whole words."""
        if not text.strip():
            return []
        self._known()
        said = f" {' '.join(_WORD.findall(text.casefold()))} "
        return [
            entity
            for entity in self._by_entity
            if len(entity) >= _SHORTEST and f" {' '.join(_WORD.findall(entity))} " in said
        ]

    def _named(self, entities: Sequence[str]) -> list[Fact]:
        """Return the facts of entities; a part of a name will do."""
        facts = self._known()
        wanted = [entity.casefold() for entity in entities]
        idents = {
            ident
            for entity, some in self._by_entity.items()
            if any(word in entity for word in wanted)
            for ident in some
        }
        return [fact for ident, fact in facts.items() if ident in idents]

    def _bound(self) -> None:
        """Let the oldest facts leave until the bounds hold."""
        if self.capacity.bounded:
            self._leave(self._over)

    def _over(self, some: Sequence[Fact]) -> Sequence[Fact]:
        """Return the facts, the oldest first, that are over the bounds."""
        sizes = [(_size([fact]), float(epoch(fact.at) or 0)) for fact in some]
        return some[: self.capacity.excess(sizes, len(some), _size(some), clock.seconds())]

    def _leave(self, choose: Callable[[Sequence[Fact]], Sequence[Fact]]) -> int:
        """Put facts of this place's own store into the archive, and mark them.

        A kill between the two loses nothing. What is in the user's store beside a project's is the
        user's, whatever the project is configured for.
        """
        store = self.place.home
        with lock.hold_lock(store, name=stored.LOCK):
            some = [fact for fact in stored.load_facts(store).values() if fact.holds]
            gone = choose(sorted(some, key=lambda fact: fact.at))
            if gone:
                log = chunk_log.ChunkLog(store, self.id)
                with log.writing():
                    log.add([_passage(fact) for fact in gone], [{"fact": f.id} for f in gone])
                stored.write_facts(store, [fact.revise(ARCHIVED) for fact in gone])
        return len(gone)


def from_config(
    kept: IndexSession, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Facts:
    """Make one as it is configured."""
    with Options(id, options) as given:
        given.one("extraction_model", "none", "configured")  # the model is asked by `memfs facts`
        return Facts(
            kept.place,
            id,
            capacity,
            kept=kept,
            confidence=given.share("confidence_threshold", 0.0),
            categories=given.words("categories"),
            deduplication=given.flag("deduplication", usual=True),
        )


def _found(fact: Fact, relevance: float) -> Found:
    metadata = {
        "confidence": fact.confidence,
        "category": fact.category,
        "entities": fact.entities,
        "relations": fact.relations,
        "status": fact.status,
        "session": fact.session,
        "host": fact.host,
        "message": fact.message,
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


def _near(engine: Engine, query: Query, some: dict[str, Fact]) -> list[Found]:
    plain = engine.vectors is None
    only = Filter(kinds=("fact",))
    near: dict[str, float] = {}
    for text in query.texts:
        page = engine.search(text, mode=hits.mode(engine), only=only, limit=3 * query.limit)
        for hit in page.hits:
            if hit.id in some:
                near[hit.id] = max(hit.score, near.get(hit.id, 0.0))
    best = sorted(near, key=lambda ident: -near[ident])
    statements = [some[ident].statement for ident in best]
    scores = scoring.relevances(query.texts, statements, words=plain)
    return [
        _found(some[ident], score)
        for ident, score in zip(best, scores, strict=True)
        if score >= query.threshold
    ]
