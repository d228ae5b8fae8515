"""What all kinds share: bounds and what leaves by them, retrieval and relevance, metrics."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from memfs.context.pieces import Found
from memfs.core.errors import RejectedError
from memfs.core.hits import Hit
from memfs.core.records import Fact
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds.protocol import Capacity, Content, Metrics, Query, seconds
from memfs.search.doc_json import epoch
from memfs.search.request import Filter
from memfs.search.text_vectors import embed_texts
from memfs.store import clock, lock
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore
    from memfs.search.engine import Engine
    from memfs.search.request import Mode

Item = TypeVar("Item")
# Tells how many of the oldest items leave, by the bytes and the time of each, their number and
# their size.
Choose: TypeAlias = Callable[[Iterable[tuple[int, float]], int, int], int]

_NEAR = 0.5  # cosine of a text with relevance 1
_WORD = re.compile(r"\w+")


class Form(NamedTuple):
    """What an option has to be, in words and as a test, and what is made of it."""

    what: str
    fits: Callable[[Any], bool]
    convert: Callable[[Any], object] = lambda value: value


NUMBER = Form("a number >= 0", lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0)
SHARE = Form(
    "a number from 0 to 1",
    lambda v: isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1,
)
FLAG = Form("true or false", lambda v: isinstance(v, bool))
WORDS = Form(
    "a list of strings",
    lambda v: isinstance(v, list | tuple) and all(isinstance(each, str) for each in v),
)
SECONDS = Form("a duration such as 90d", lambda _: True, seconds)


class BaseKind(ABC, Generic[Item]):
    """A kind of one place. A kind says what it holds, how that is found, and where it leaves to."""

    type = ""
    OPTIONS: ClassVar[Mapping[str, Form]] = {}  # of its configuration
    _UNDATED = 0.0  # the age of an item without a time
    _BY_RELEVANCE = False  # the order of what is found, else by the score of the search
    _clock = staticmethod(clock.seconds)
    _WHY_FIXED = ("cannot change {}", "")  # why no item changes, and what to do instead

    def __init__(
        self, place: Place, id: str, capacity: Capacity | None, index: OpenStore | None
    ) -> None:
        self.id, self.capacity = id, capacity or Capacity()
        self.place, self._open_index = place, index

    @property
    def _index(self) -> OpenStore:
        """The open index: the engine is loaded once it is searched."""
        if self._open_index is None:
            from memfs.recall.open_store import OpenStore  # as it says

            self._open_index = OpenStore(self.place)
        return self._open_index

    def retrieve(self, query: Query) -> list[Found]:
        """Return the item of an id, or the items that match all conditions, the best first."""
        found = self._get(query.id) if query.id else self._find(query)
        if query.prefer_recent:
            found.sort(key=lambda each: each.at, reverse=True)
        return found[: query.limit]

    def update(self, ident: str, content: Content) -> None:
        """Raise `RejectedError`: what it holds does not change."""
        del content
        problem, hint = self._WHY_FIXED
        raise RejectedError(problem.format(ident), hint.format(ident))

    def learn(self, facts: Sequence[Fact]) -> None:
        """Do nothing with facts that another kind extracted."""

    def compress(self) -> int:
        """Do nothing: what it holds is short. Returns 0."""
        return 0

    def archive(self, older_than: str) -> int:
        """Archive the items from before a time; return their number."""
        before = epoch(contents.format_time(older_than)) or 0

        def choose(items: Iterable[tuple[int, float]], count: int, _: int) -> int:
            return next((place for place, (_, at) in enumerate(items) if at >= before), count)

        return self._evict(choose)

    @abstractmethod
    def metrics(self) -> Metrics:
        """Return the number, the size and the time range of the items in use."""

    @abstractmethod
    def _get(self, ident: str) -> list[Found]:
        """Return the item of an id, if there is one."""

    @abstractmethod
    def _find(self, query: Query) -> list[Found]:
        """Return the items that match all conditions, the best first."""

    @abstractmethod
    def _make_found(self, item: Item, relevance: float) -> Found:
        """Return an item as it is found."""

    @abstractmethod
    def _evict(self, choose: Choose) -> int:
        """Archive the oldest items of this place's own store, not the user's; return how many."""

    def _enforce_capacity(self) -> None:
        if self.capacity.bounded:
            self._evict(self._count_excess)

    def _count_excess(self, items: Iterable[tuple[int, float]], count: int, size: int) -> int:
        dated = ((each, at or self._UNDATED) for each, at in items)
        return self.capacity.excess(dated, count, size, self._clock())

    def _collect(self, queries: Iterable[Query]) -> dict[str, Found]:
        found: dict[str, Found] = {}
        for query in queries:
            for each in self.retrieve(query):
                found.setdefault(each.id, each)
        return found

    def _search(
        self,
        query: Query,
        only: Filter | None,
        read: Callable[[Hit], tuple[str, str]],
        most: int = 0,
    ) -> tuple[list[tuple[str, Hit, float]], bool]:
        """Return keys, hits and relevance of a search, and whether it is sure of one of them.

        The best hits come first, at most `most` for each text of the query. `read` returns the key
        and the text of a hit, "" for one that does not count.
        """

        def find(engine: Engine) -> tuple[list[tuple[str, Hit, float]], bool]:
            best: dict[str, tuple[Hit, str]] = {}
            sure = False
            limit = most or 3 * query.limit
            for each in query.texts:
                page = engine.search(each, mode=get_mode(engine), only=only, limit=limit)
                sure = sure or page.sure
                for hit in page.hits:
                    key, text = read(hit)
                    if key and (key not in best or hit.score > best[key][0].score):
                        best[key] = (hit, text)
            texts = [text for _, text in best.values()]
            scores = _score_texts(query.texts, texts, words=engine.vectors is None)
            scored = zip(best.items(), scores, strict=True)
            found = [
                (key, hit, near) for (key, (hit, _)), near in scored if near >= query.threshold
            ]
            found.sort(key=lambda each: -(each[2] if self._BY_RELEVANCE else each[1].score))
            return found, sure

        return self._index.ask("hybrid", find) if query.texts else ([], False)


class ListedKind(BaseKind[Item]):
    """A kind whose items are listed from files, one lock for all of them."""

    def metrics(self) -> Metrics:
        sizes = [self._measure(item) for item in self._list_items()]
        times = sorted(at for _, at in sizes if at) or [""]
        return Metrics(len(sizes), sum(size for size, _ in sizes), times[0], times[-1])

    @abstractmethod
    def _measure(self, item: Item) -> tuple[int, str]:
        """Return the bytes and the time of an item."""

    @abstractmethod
    def _list_items(self, *, own: bool = False) -> list[Item]:
        """Return the items in use, `own` ones those of this place's own store alone."""

    @abstractmethod
    def _move_to_archive(self, items: Sequence[Item]) -> None:
        """Archive items, then remove them: a kill between the two loses nothing."""

    def _evict(self, choose: Choose) -> int:
        with lock.hold_lock(self.place.home, name=lock.KINDS):
            items = sorted(self._list_items(own=True), key=lambda item: self._measure(item)[1])
            sizes = [(size, float(epoch(at) or 0)) for size, at in map(self._measure, items)]
            gone = items[: choose(sizes, len(items), sum(size for size, _ in sizes))]
            if gone:
                self._move_to_archive(gone)
        return len(gone)

    def _rank(
        self, query: Query, kind: str, items: Mapping[str, Item], read: Callable[[Item], str]
    ) -> list[Found]:

        def read_item(hit: Hit) -> tuple[str, str]:
            key = hit.label or hit.id
            return (key, read(items[key])) if key in items else ("", "")

        ranked = self._search(query, Filter(kinds=(kind,)), read_item)[0] if items else []
        return [self._make_found(items[key], relevance) for key, _, relevance in ranked]


def get_mode(engine: Engine) -> Mode:
    """Return the search mode of an engine: by words alone if it has no vectors."""
    return "text" if engine.vectors is None else "hybrid"


def _score_texts(queries: Sequence[str], texts: Sequence[str], *, words: bool) -> list[float]:
    """Return the relevance of each text to its nearest query, one scale for all kinds."""
    if not texts:
        return []
    if words:
        sets = [set(_WORD.findall(each.lower())) for each in (*queries, *texts)]
        wanted, given = sets[: len(queries)], sets[len(queries) :]
        return [max(round(len(q & w) / max(1, len(q)), 4) for q in wanted) for w in given]
    vectors = embed_texts([*queries, *texts])
    near = vectors[len(queries) :] @ vectors[: len(queries)].T
    return [round(float(each), 4) for each in (near.max(axis=1) / _NEAR).clip(0, 1)]
