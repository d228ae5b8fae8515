"""The kind of facts: statements with confidence, entities and source, extracted and superseded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from memfs.context.pieces import Found
from memfs.core import body_edits
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import ACTIVE, ARCHIVED, REJECTED, Fact, Message, Passage, make_id
from memfs.files import signatures
from memfs.knowledge.facts import fact_store, prose
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.knowledge.kinds import base
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds.base import Form, ListedKind
from memfs.knowledge.kinds.protocol import Capacity, Content, Query, Relevant, State
from memfs.store import chunk_log, clock, lock, store_paths
from memfs.store import facts as stored
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

Extract: TypeAlias = Callable[[Sequence[Message]], list[Fact]]

_GROUPS = {  # other names for categories
    "personal": ("identity", "preference"),
    "preferences": ("preference",),
    "temporal": ("change", "version"),
}
_SURE = 0.7  # least confidence of relevant facts by default
_ABOUT = 0.6  # least relevance of a fact to a task
_SHORTEST = 3  # letters of an entity that is searched in a text
_WORD = re.compile(r"[\w+#]+")
_LATEST = 5000  # facts in a summary


class Facts(ListedKind[Fact]):
    """Facts of at least `confidence`, of some categories (() for all), the nearest first.

    `extract` finds them in messages, by rules as the default. `problems` names the categories that
    do not exist.
    """

    type = "facts"
    OPTIONS: ClassVar[Mapping[str, Form]] = {
        "extraction_model": Form("'none' or 'configured'", ("none", "configured").__contains__),
        "confidence_threshold": base.SHARE,
        "categories": base.WORDS,
        "deduplication": base.FLAG,
    }

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
        index: OpenStore | None = None,
    ) -> None:
        super().__init__(place, id, capacity, index)
        names = [each for name in categories for each in _GROUPS.get(name, (name,))]
        known = ", ".join([*CATEGORIES, *_GROUPS])
        self.problems = tuple(
            f"memory_blocks.{id}.config.categories: unknown category {name!r} (use {known})"
            for name in names
            if name not in CATEGORIES
        )
        self._confidence = confidence
        self._categories = tuple(name for name in names if name in CATEGORIES)
        self._unlike, self._extract = deduplication, extract
        self._signatures: object = None
        self._all: dict[str, Fact] = {}
        self._names: dict[str, None] = {}  # of their entities, folded

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

    def update(self, ident: str, content: Content) -> None:
        """Correct a fact: another statement supersedes it. Raises `NotFoundError`."""
        fact = self._load_facts().get(ident)
        text = "\n".join(m.text for m in contents.messages(content, "")).strip()
        if fact is None or not text:
            what = f"no fact has the id {ident}" if text else "the new text of the fact is empty"
            raise NotFoundError(what, "list the facts: memfs facts" if text else "")
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
            raise NotFoundError(f"no fact has the id {ident}", "list the facts: memfs facts")

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return the facts about the entities and the texts of a state, with a summary of them."""
        condition = replace(query, confidence=query.confidence or _SURE)
        entities = dict.fromkeys((*state.entities, *self._find_entities(state.task)))
        texts = (state.task, *(message.text for message in state.recent[-2:]), *query.texts)
        near = replace(condition, text=texts, threshold=query.threshold or _ABOUT)
        about = [replace(condition, entities=(entity,), text="") for entity in entities]
        found = self._collect([*about, near] if near.texts else about)
        best = sorted(found.values(), key=lambda each: -each.relevance)[: query.limit]
        facts = self._load_facts()
        relevant = [facts[each.id] for each in best if each.id in facts]
        sure = sum(fact.confidence for fact in relevant) / len(relevant) if relevant else 0.0
        return Relevant(tuple(best), fact_store.format_summary(relevant), round(sure, 4))

    def summarize(self) -> str:
        """Return the active facts, by category."""
        return fact_store.format_summary(list(self._load_facts().values())[-_LATEST:])

    def compress(self) -> int:
        """Rewrite each file with the last revision of each fact; return the lines saved."""
        saved = 0
        for store in self.place.stores():
            with lock.hold_lock(store, name=lock.KINDS):
                own = store_paths.without_quarantine(store)
                saved += sum(stored.compact_file(path) for path in stored.sources(own))
        return saved

    def _get(self, ident: str) -> list[Found]:
        fact = self._load_facts().get(ident)
        return [self._make_found(fact, 1.0)] if fact else []

    def _find(self, query: Query) -> list[Found]:
        facts: Sequence[Fact] = [*self._load_facts().values()]
        if query.entities:
            wanted = [entity.casefold() for entity in query.entities]
            names = {name for name in self._names if any(word in name for word in wanted)}
            facts = [f for f in facts if not names.isdisjoint(map(str.casefold, f.entities))]
        if query.path:
            facts = fact_store.walk_relations(facts, query.path, query.depth or 1)
        facts = fact_store.select_facts(
            facts,
            pattern=query.pattern,
            since=query.since,
            until=query.until,
            confidence=query.confidence,
            categories=query.categories,
        )
        if query.texts:
            return self._rank(query, "fact", {f.id: f for f in facts}, lambda f: f.statement)
        facts.sort(key=lambda fact: (fact.confidence, fact.at), reverse=True)
        return [self._make_found(fact, fact.confidence) for fact in facts]

    def _load_facts(self) -> dict[str, Fact]:
        paths = [path for store in self.place.stores() for path in stored.sources(store)]
        signed = [(path, signatures.sign_file(path)) for path in paths]
        if signed != self._signatures:
            self._all = {fact.id: fact for fact in fact_store.list_facts(self.place)}
            entities = (entity for fact in self._all.values() for entity in fact.entities)
            self._names, self._signatures = dict.fromkeys(map(str.casefold, entities)), signed
        return self._all

    def _find_entities(self, text: str) -> list[str]:
        if not text.strip():
            return []
        self._load_facts()
        folded = f" {' '.join(_WORD.findall(text.casefold()))} "
        return [
            entity
            for entity in self._names
            if len(entity) >= _SHORTEST and f" {' '.join(_WORD.findall(entity))} " in folded
        ]

    def _list_items(self, *, own: bool = False) -> list[Fact]:
        facts = stored.load_facts(self.place.home) if own else self._load_facts()
        return [fact for fact in facts.values() if fact.holds]

    def _measure(self, item: Fact) -> tuple[int, str]:
        return len(item.statement.encode("utf-8", "replace")), item.at

    def _move_to_archive(self, items: Sequence[Fact]) -> None:
        log = chunk_log.ChunkLog(self.place.home, self.id)
        log.add([_make_passage(fact) for fact in items], [{"fact": f.id} for f in items])
        stored.write_facts(self.place.home, [fact.revise(ARCHIVED) for fact in items])

    def _make_found(self, item: Fact, relevance: float) -> Found:
        names = "confidence category entities relations status session host message extractor"
        return Found(
            item.id,
            "fact",
            item.statement,
            relevance,
            item.at,
            group="facts",
            head="facts from past sessions",
            metadata={name: getattr(item, name) for name in names.split()},
        )


def _make_passage(fact: Fact) -> Passage:
    source = f"fact {fact.id}, session {fact.session}" if fact.session else f"fact {fact.id}"
    return Passage("", fact.statement, fact.at or clock.now(), 5, ("fact", fact.category), source)
