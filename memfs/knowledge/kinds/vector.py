"""The vector kind: windows of conversations and passages, found by meaning and words."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from memfs.context import summary
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, UsageError
from memfs.core.records import Hit, Passage
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds import scoring
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity, Content, Found, Metrics, Query, Relevant, State
from memfs.knowledge.session_graph import topics
from memfs.recall.index_session import IndexSession
from memfs.search.doc_json import epoch
from memfs.search.engine import Engine, Filter
from memfs.store import blocks, chunk_log, clock
from memfs.store.blocks import Place
from memfs.store.chunk_log import ChunkMark

KINDS = ("message", "passage", "block")
SUMMARY = "summary"  # the tag of summaries made by `compress`
_SEARCHED = 3  # times the limit are searched: some hits may be archived
_MOST = 500
_GROUP = 8  # windows that are compressed into one
_SUMMED_UP = 200  # windows that are summarized
_NONE = "~"  # sorts after every id
_RECENT = 6  # messages whose topics are searched


class Vector:
    """Windows of at most `chunk_size` tokens that share `overlap`; those of `retention` seconds.

    Also retrieves the messages of recall, within the retention, the passages of the archive, and
    the blocks that are not pinned.
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
        index: IndexSession | None = None,
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
        self._index = index or IndexSession(place)
        self._log = chunk_log.ChunkLog(place.home, id)

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Store messages as windows; return their ids."""
        metadata = contents.clean_metadata(metadata)
        messages = contents.messages(content, str(metadata.get("session") or self._place.session))
        found = contents.chunks(messages, self._size, self._overlap)
        tags = _list_texts(metadata.get("tags"))
        passages, metas = [], []
        for chunk in found:
            topical = _list_texts(metadata.get("topics")) or topics.extract_topics([chunk.text])
            passages.append(
                Passage("", chunk.text, clock.now(), 5, (self.id, *tags), messages[0].session)
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
                    "bytes": chunk.bytes,
                }
            )
        with self._log.writing():
            ids = self._log.add(passages, metas)
            self._enforce_capacity()
        if self.capacity.full(*self._measure_live()):
            self.compress()
        return ids

    def retrieve(self, query: Query) -> list[Found]:
        """Return windows, messages and passages that match any of the queries."""
        if query.id:
            window = self._log.find(query.id)
            return [_make_found(window, 1.0)] if window else []
        return self._search(query)[0]

    def _search(self, query: Query, but: str = "") -> tuple[list[Found], bool]:
        """Return the items found, and whether some of them are clearly about a query.

        `but` is a session to leave out, "" for none.
        """
        if not query.texts:
            return [], False
        return self._index.ask("hybrid", lambda engine: self._search_texts(engine, query, but))

    def _search_texts(self, engine: Engine, query: Query, but: str) -> tuple[list[Found], bool]:
        best: dict[str, Hit] = {}
        sure = False
        first = self._find_first()
        for text in query.texts:
            some, clearly = self._search_hits(engine, text, query, first, but)
            sure = sure or clearly
            for hit in some:
                known = best.get(hit.id)
                if known is None or hit.score > known.score:
                    best[hit.id] = hit
        by_words = engine.vectors is None
        listed = sorted(best.values(), key=lambda hit: -hit.score)
        scores = scoring.relevances(query.texts, [hit.text for hit in listed], words=by_words)
        found = [
            scoring.convert_hit(hit, max(score, 0.01))
            for hit, score in zip(listed, scores, strict=True)
            if score >= query.threshold
        ]
        if query.prefer_recent:
            found.sort(key=lambda each: each.at, reverse=True)
        return found[: query.limit], sure

    def similar(self, text: str, limit: int = 5, *, but: str = "") -> list[Found]:
        """Return the conversations most relevant to a text, each with its best turns.

        `but` is a session to leave out, "" for none.
        """
        only = self._make_filter(Query(), but)
        found = self._index.ask(
            "hybrid",
            lambda engine: engine.search_sessions(
                text, mode=scoring.mode(engine), only=only, limit=limit
            ),
        )
        return [
            Found(
                f"{each.host}/{each.session}",
                "conversation",
                "\n".join(f"{hit.who}: {hit.snippet}" for hit in each.hits),
                min(1.0, each.score),
                each.at,
                "",
                f"{each.host}/{each.session}",
                f"{each.at[:10]} session {each.session} ({each.host})",
                {"turns": each.turns, "session": each.session},
            )
            for each in found.hits
            if each.session
        ]

    def update(self, ident: str, content: Content) -> None:
        """Replace the text of a window. Raises `NotFoundError`."""
        messages = contents.messages(content, self._place.session)
        text = "\n".join(message.text for message in messages)
        with self._log.writing():
            window = self._log.find(ident)
            if window is None or not text.strip():
                raise NotFoundError(f"there is no window {ident} in '{self.id}', or no text")
            size = sum(len(message.text.encode("utf-8", "replace")) for message in messages)
            meta = {**window.meta, "topics": topics.extract_topics([text]), "bytes": size}
            self._log.update(ident, chunk_log.ChunkWindow(replace(window.passage, text=text), meta))

    def delete(self, ident: str) -> None:
        """Remove a window, also an archived one. Raises `NotFoundError`."""
        with self._log.writing():
            if not self._log.update(ident, None):
                raise NotFoundError(f"there is no window {ident} in '{self.id}'")

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return items about the task and the recent topics, else similar conversations.

        Nothing of the running session is among them: that of the state, else of the place.
        """
        running = state.session or self._place.session
        texts = [message.text for message in state.recent[-_RECENT:]]
        queries = [state.task, " ".join(topics.extract_topics(texts)), *query.texts]
        found, sure = self._search(replace(query, text=tuple(filter(None, queries))), running)
        if not found and state.task:
            some = self.similar(state.task, 3, but=running)
            found = [each for each in some if each.relevance >= query.threshold]
        confidence = max((each.relevance for each in found), default=0.0)
        return Relevant(tuple(found), confidence=confidence, sure=sure)

    def summarize(self) -> str:
        """Return the most important sentences of the latest windows."""
        latest = list(self._log.read_live())[-_SUMMED_UP:]
        return summary.extract("\n".join(window.passage.text for window in latest), self._size)

    def compress(self) -> int:
        """Summarize the older half of the windows, and archive it; return the windows saved."""
        with self._log.writing():
            live = list(self._log.read_live())
            old = [w for w in live[: len(live) // 2] if SUMMARY not in w.passage.tags]
            groups = [old[at : at + _GROUP] for at in range(0, len(old), _GROUP)]
            made = [self._summarize_group(group) for group in groups if len(group) > 1]
            if not made:
                return 0
            self._log.add([window.passage for window in made], [window.meta for window in made])
            self._log.evict_oldest(len(live) // 2)
            self._log.note()
        return len(live) // 2 - len(made)

    def archive(self, older_than: str) -> int:
        """Archive the windows that were stored before a time; return their number."""
        before = epoch(contents.format_time(older_than)) or 0
        with self._log.writing():
            live = self._log.get_live()
            count = sum(mark.at < before for mark in live.values())
            self._log.evict_oldest(count)
            self._log.note()
        return count

    def metrics(self) -> Metrics:
        """Return the number, the size and the time range of the windows in use."""
        self._expire()
        live = self._log.get_live()
        marks = list(live.values())
        times = [contents.format_time(mark.at) for mark in (marks[0], marks[-1])] if marks else []
        return Metrics(len(marks), self._log.bytes, *times)

    def _measure_live(self) -> tuple[int, int]:
        if not self.capacity.compression_threshold:
            return 0, 0
        return len(self._log.get_live()), self._log.bytes

    def _enforce_capacity(self) -> None:
        """Archive the oldest windows over the capacity. The caller is `writing`."""
        if self.capacity.bounded:
            self._log.evict_oldest(self._count_excess(self._log.get_live()))

    def _count_excess(self, live: Mapping[str, ChunkMark]) -> int:
        """Return how many of the oldest windows are over the capacity."""
        return self.capacity.excess(live.values(), len(live), self._log.bytes, time.time())

    def _expire(self) -> None:
        if self.capacity.bounded:
            with self._log.writing():
                self._enforce_capacity()

    def _find_first(self) -> str:
        """Return the id of the oldest window within the capacity. Archives nothing."""
        if not self.capacity.bounded:
            return self._log.first()
        live = self._log.get_live()
        return next(islice(live, self._count_excess(live), None), _NONE)

    def _search_hits(
        self, engine: Engine, text: str, query: Query, first: str, but: str
    ) -> tuple[Sequence[Hit], bool]:
        wanted = min(_MOST, query.limit * _SEARCHED)
        only = self._make_filter(query, but)
        page = engine.search(text, mode=scoring.mode(engine), only=only, limit=wanted)
        pinned = {labels.qualify(b.tier, b.label) for b in blocks.load(self._place) if b.pinned}
        some = [hit for hit in page.hits if hit.kind in KINDS and hit.id not in pinned]
        oldest = time.time() - self._retention if self._retention else 0
        matches = [
            hit
            for hit in some
            if (hit.project == self._log.whose and hit.id >= first)
            or (hit.kind == "message" and (epoch(hit.at) or oldest) >= oldest)
            or (hit.kind != "message" and not hit.project)
        ]
        return matches, page.sure

    def _make_filter(self, query: Query, but: str) -> Filter | None:
        since = epoch(contents.format_time(query.since)) if query.since else None
        until = epoch(contents.parse_until(query.until)) if query.until else None
        if not (since or until or query.tags or query.speakers or but):
            return None  # a filter that matches nearly everything only takes time
        return Filter(
            kinds=KINDS,
            tags=query.tags,
            since=since,
            until=until,
            speakers=query.speakers,
            but_sessions=(but,) if but else (),
        )

    def _summarize_group(self, group: Sequence[chunk_log.ChunkWindow]) -> chunk_log.ChunkWindow:
        text = "\n".join(window.passage.text for window in group)
        short = summary.extract(text, self._size) or text[: 4 * self._size]
        first, last = group[0], group[-1]
        passage = Passage("", short, clock.now(), 5, (self.id, SUMMARY), first.passage.source)
        meta = {
            "covers": [window.passage.id for window in group],
            "topics": topics.extract_topics([short]),
            "from": first.meta.get("from", ""),
            "to": last.meta.get("to", ""),
        }
        return chunk_log.ChunkWindow(passage, meta)


def from_config(
    index: IndexSession, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Vector:
    """Make the kind from its configuration. Raises `UsageError`."""
    with Options(id, options) as given:
        return Vector(
            index.place,
            id,
            capacity,
            index=index,
            chunk_size=given.read_number("chunk_size", 512),
            overlap=given.read_number("overlap", 50),
            retention=given.read_seconds("retention"),
        )


def _make_found(window: chunk_log.ChunkWindow, relevance: float) -> Found:
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


def _list_texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
