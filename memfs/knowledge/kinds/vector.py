"""The vector kind: windows of conversations and passages, found again by meaning and words."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from memfs.context import summary
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, UsageError
from memfs.core.records import Passage
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds import hits, scoring
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity, Found, Metrics, Query, Relevant, State
from memfs.knowledge.session_graph import topics
from memfs.recall.index_session import IndexSession
from memfs.search.engine import Filter
from memfs.search.message_documents import epoch
from memfs.store import blocks, chunk_log, clock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memfs.core.records import Hit
    from memfs.knowledge.kinds.protocol import Content
    from memfs.search.engine import Engine
    from memfs.store.blocks import Place
    from memfs.store.chunk_log import ChunkMark

KINDS = ("message", "passage", "block")
SUMMARY = "summary"  # the tag of what a compression wrote
_SEARCHED = 3  # as many are searched as are wanted: some may have left
_MOST = 500
_GROUP = 8  # windows that are compressed into one
_SUMMED_UP = 200  # windows that a summary looks at
_NONE = "~"  # after every id
_RECENT = 6  # messages that say what is talked about


class Vector:
    """Windows of at most `chunk_size` tokens that share `overlap`; those of `retention` seconds.

    Retrieved are also the messages of recall, within the retention, the passages of the archive,
    and the blocks that are not in context anyway.
    """

    def __init__(
        self,
        place: Place,
        id: str = "vector",
        capacity: Capacity | None = None,
        *,
        chunk_size: int = 512,
        overlap: int = 50,
        retention: float = 0.0,
        kept: IndexSession | None = None,
    ) -> None:
        if not 0 <= overlap < chunk_size:
            raise UsageError(
                f"windows of {chunk_size} tokens cannot share {overlap}",
                "chunk_size is greater than overlap",
            )
        self.id, self.type = id, "vector"
        self.capacity = capacity or Capacity()
        ttl = min(filter(None, (retention, self.capacity.ttl)), default=0.0)
        self.capacity = replace(self.capacity, ttl=ttl)
        self._place, self._retention = place, retention
        self._size, self._overlap = chunk_size, overlap
        self._kept = kept or IndexSession(place)
        self._log = chunk_log.ChunkLog(place.home, id)

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Keep messages as windows; return their ids."""
        metadata = contents.clean_metadata(metadata)
        said = contents.messages(content, str(metadata.get("session") or self._place.session))
        found = contents.chunks(said, self._size, self._overlap)
        tags = _several(metadata.get("tags"))
        passages, metas = [], []
        for chunk in found:
            topical = _several(metadata.get("topics")) or topics.extract_topics([chunk.text])
            passages.append(
                Passage("", chunk.text, clock.now(), 5, (self.id, *tags), said[0].session)
            )
            metas.append(
                {
                    **{
                        key: value
                        for key, value in metadata.items()
                        if key not in ("tags", "topics")
                    },
                    "tokens": chunk.tokens,
                    "participants": list(chunk.participants),
                    "topics": list(topical),
                    "messages": list(chunk.messages),
                    "from": chunk.began,
                    "to": chunk.ended,
                }
            )
        with self._log.writing():
            ids = self._log.add(passages, metas)
            self._bound()
        if self.capacity.full(*self._held()):
            self.compress()
        return ids

    def retrieve(self, query: Query) -> list[Found]:
        """Return windows, messages and passages: of several queries what suits any of them."""
        if query.id:
            window = self._log.find(query.id)
            return [_found(window, 1.0)] if window else []
        return self._ask(query)[0]

    def _ask(self, query: Query) -> tuple[list[Found], bool]:
        """Return what is found, and whether something of it is clearly about a query."""
        if not query.texts:
            return [], False
        return self._kept.ask("hybrid", lambda engine: self._retrieved(engine, query))

    def _retrieved(self, engine: Engine, query: Query) -> tuple[list[Found], bool]:
        best: dict[str, Hit] = {}
        sure = False
        first = self._first()
        for text in query.texts:
            some, clearly = self._hits(engine, text, query, first)
            sure = sure or clearly
            for hit in some:
                known = best.get(hit.id)
                if known is None or hit.score > known.score:
                    best[hit.id] = hit
        plain = engine.vectors is None
        listed = sorted(best.values(), key=lambda hit: -hit.score)
        scores = scoring.relevances(query.texts, [hit.text for hit in listed], words=plain)
        found = [
            hits.convert_hit(hit, max(score, 0.01))
            for hit, score in zip(listed, scores, strict=True)
            if score >= query.threshold
        ]
        if query.prefer_recent:
            found.sort(key=lambda each: each.at, reverse=True)
        return found[: query.limit], sure

    def similar(self, text: str, limit: int = 5) -> list[Found]:
        """Return the conversations that say most about a text, each with its best turns."""
        only = self._filter(Query())
        found = self._kept.ask(
            "hybrid",
            lambda engine: engine.search_sessions(
                text, mode=hits.mode(engine), only=only, limit=limit
            ),
        )
        return [
            Found(
                f"{each.host}/{each.session}",
                "conversation",
                "\n".join(f"{hit.role}: {hit.snippet}" for hit in each.hits),
                min(1.0, each.score),
                each.at,
                "",
                f"{each.host}/{each.session}",
                f"{each.at[:10]} session {each.session} ({each.host})",
                {"turns": each.turns},
            )
            for each in found.hits
            if each.session
        ]

    def update(self, ident: str, content: Content) -> None:
        """Put another text in the place of a window's."""
        said = contents.messages(content, self._place.session)
        text = "\n".join(message.text for message in said)
        with self._log.writing():
            window = self._log.find(ident)
            if window is None or not text.strip():
                raise NotFoundError(f"there is no window {ident} in '{self.id}', or no text")
            meta = {**window.meta, "topics": topics.extract_topics([text])}
            self._log.update(ident, chunk_log.ChunkWindow(replace(window.passage, text=text), meta))

    def delete(self, ident: str) -> None:
        """Remove a window, also one that has left."""
        with self._log.writing():
            if not self._log.update(ident, None):
                raise NotFoundError(f"there is no window {ident} in '{self.id}'")

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return what matters: by what is talked about, by the task, and like conversations."""
        said = [message.text for message in state.recent[-_RECENT:]]
        queries = [state.task, " ".join(topics.extract_topics(said)), *query.texts]
        found, sure = self._ask(replace(query, text=tuple(filter(None, queries))))
        if not found and state.task:
            found = [
                each for each in self.similar(state.task, 3) if each.relevance >= query.threshold
            ]
        others = tuple(
            each
            for each in found
            if not state.session or each.metadata.get("session") != state.session
        )
        confidence = max((each.relevance for each in others), default=0.0)
        return Relevant(others, confidence=confidence, sure=sure)

    def summarize(self) -> str:
        """Return the sentences that say most of the latest windows."""
        latest = list(self._log.read_live())[-_SUMMED_UP:]
        return summary.extract("\n".join(window.passage.text for window in latest), self._size)

    def compress(self) -> int:
        """Write summaries of the older half of the windows; these leave for the archive."""
        with self._log.writing():
            live = list(self._log.read_live())
            old = [w for w in live[: len(live) // 2] if SUMMARY not in w.passage.tags]
            groups = [old[at : at + _GROUP] for at in range(0, len(old), _GROUP)]
            made = [self._summed_up(group) for group in groups if len(group) > 1]
            if not made:
                return 0
            self._log.add([window.passage for window in made], [window.meta for window in made])
            self._log.evict_oldest(len(live) // 2)
            self._log.note()
        return len(live) // 2 - len(made)

    def archive(self, older_than: str) -> int:
        """Let windows leave that were stored before a time."""
        before = epoch(contents.format_time(older_than)) or 0
        with self._log.writing():
            live = self._log.get_live()
            count = sum(mark.at < before for mark in live.values())
            self._log.evict_oldest(count)
            self._log.note()
        return count

    def metrics(self) -> Metrics:
        """Return how many windows there are that did not leave."""
        self._expire()
        live = self._log.get_live()
        marks = list(live.values())
        times = [contents.format_time(mark.at) for mark in (marks[0], marks[-1])] if marks else []
        return Metrics(len(marks), self._log.bytes, *times)

    def _held(self) -> tuple[int, int]:
        if not self.capacity.compression_threshold:
            return 0, 0
        return len(self._log.get_live()), self._log.bytes

    def _bound(self) -> None:
        """Let the oldest leave until the bounds hold. The caller is `writing`."""
        if self.capacity.bounded:
            self._log.evict_oldest(self._over(self._log.get_live()))

    def _over(self, live: Mapping[str, ChunkMark]) -> int:
        """Return how many of the oldest are over the bounds."""
        return self.capacity.excess(live.values(), len(live), self._log.bytes, time.time())

    def _expire(self) -> None:
        if self.capacity.bounded:
            with self._log.writing():
                self._bound()

    def _first(self) -> str:
        """Return the id from which on windows are in the bounds now; nothing leaves for it."""
        if not self.capacity.bounded:
            return self._log.first()
        live = self._log.get_live()
        return next(islice(live, self._over(live), None), _NONE)

    def _hits(
        self, engine: Engine, text: str, query: Query, first: str
    ) -> tuple[Sequence[Hit], bool]:
        wanted = min(_MOST, query.limit * _SEARCHED)
        only = self._filter(query)
        page = engine.search(text, mode=hits.mode(engine), only=only, limit=wanted)
        pinned = {labels.qualified(b.tier, b.label) for b in blocks.load(self._place) if b.pinned}
        some = [hit for hit in page.hits if hit.kind in KINDS and hit.id not in pinned]
        oldest = time.time() - self._retention if self._retention else 0
        kept = [
            hit
            for hit in some
            if (hit.project == self._log.whose and hit.id >= first)
            or (hit.kind == "message" and (epoch(hit.at) or oldest) >= oldest)
            or (hit.kind != "message" and not hit.project)
        ]
        return kept, page.sure

    def _filter(self, query: Query) -> Filter | None:
        since = epoch(contents.format_time(query.since)) if query.since else None
        until = epoch(contents.parse_until(query.until)) if query.until else None
        if not (since or until or query.tags):
            return None  # a filter that lets nearly everything through only takes time
        return Filter(kinds=KINDS, tags=query.tags, since=since, until=until)

    def _summed_up(self, group: Sequence[chunk_log.ChunkWindow]) -> chunk_log.ChunkWindow:
        text = "\n".join(window.passage.text for window in group)
        said = summary.extract(text, self._size) or text[: 4 * self._size]
        first, last = group[0], group[-1]
        passage = Passage("", said, clock.now(), 5, (self.id, SUMMARY), first.passage.source)
        meta = {
            "covers": [window.passage.id for window in group],
            "topics": topics.extract_topics([said]),
            "from": first.meta.get("from", ""),
            "to": last.meta.get("to", ""),
        }
        return chunk_log.ChunkWindow(passage, meta)


def from_config(
    kept: IndexSession, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Vector:
    """Make one as it is configured."""
    with Options(id, options) as given:
        return Vector(
            kept.place,
            id,
            capacity,
            kept=kept,
            chunk_size=given.number("chunk_size", 512),
            overlap=given.number("overlap", 50),
            retention=given.seconds("retention"),
        )


def _found(window: chunk_log.ChunkWindow, relevance: float) -> Found:
    passage = window.passage
    head = f"{passage.created_at[:10]}, passage {passage.id}"
    return Found(
        passage.id,
        "passage",
        passage.text,
        relevance,
        passage.created_at,
        "",
        passage.id,
        head,
        {**window.meta, "tags": passage.tags, "session": passage.source},
    )


def _several(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
