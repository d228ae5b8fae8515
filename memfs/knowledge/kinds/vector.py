"""The vector kind: windows of conversations and passages, found by meaning and words."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from memfs.context import summary
from memfs.context.pieces import Found
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, UsageError
from memfs.core.hits import Hit
from memfs.core.records import Passage
from memfs.knowledge.kinds import base
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds.base import BaseKind, Choose, Form
from memfs.knowledge.kinds.protocol import Capacity, Content, Metrics, Query, Relevant, State
from memfs.knowledge.session_graph import intents
from memfs.search.doc_json import epoch
from memfs.search.request import Filter
from memfs.store import blocks, chunk_log, clock, lock
from memfs.store.blocks import Place
from memfs.store.chunk_log import ChunkWindow

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

KINDS = ("message", "passage", "block")
SUMMARY = "summary"  # the tag of summaries made by `compress`
_SEARCHED = 3  # times the limit are searched: some hits may be archived
_MOST = 500
_GROUP = 8  # windows that are compressed into one
_SUMMED_UP = 200  # windows that are summarized
_NONE = "~"  # sorts after every id
_RECENT = 6  # messages whose topics are searched


class Vector(BaseKind[ChunkWindow]):
    """Windows of at most `chunk_size` tokens that share `overlap`; those of `retention` seconds.

    Also retrieves the messages of recall, within the retention, the passages of the archive, and
    the blocks that are not pinned.
    """

    type = "vector"
    OPTIONS: ClassVar[Mapping[str, Form]] = {
        "chunk_size": base.NUMBER,
        "overlap": base.NUMBER,
        "retention": base.SECONDS,
    }
    _clock = staticmethod(time.time)  # windows have the time of the system

    def __init__(
        self,
        place: Place,
        id: str = "vector",
        capacity: Capacity | None = None,
        *,
        chunk_size: int = 512,
        overlap: int = 50,
        retention: float = 0.0,
        index: OpenStore | None = None,
    ) -> None:
        if not 0 <= overlap < chunk_size:
            raise UsageError(
                f"overlap is {overlap} tokens, but chunk_size is {chunk_size}",
                "set overlap to at least 0, and to less than chunk_size",
            )
        super().__init__(place, id, capacity, index)
        ttl = min(filter(None, (retention, self.capacity.ttl)), default=0.0)
        self.capacity = replace(self.capacity, ttl=ttl)
        self._retention, self._size, self._overlap = retention, chunk_size, overlap
        self._log = chunk_log.ChunkLog(place.home, id)

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Store messages as windows; return their ids."""
        metadata = contents.clean_metadata(metadata)
        messages = contents.messages(content, str(metadata.get("session") or self.place.session))
        tags, given = (_list_texts(metadata.pop(name, None)) for name in ("tags", "topics"))
        passages, metas = [], []
        for chunk in contents.chunks(messages, self._size, self._overlap):
            source = messages[0].session
            passages.append(Passage("", chunk.text, clock.now(), 5, (self.id, *tags), source))
            own: dict[str, object] = {
                "tokens": chunk.tokens,
                "participants": list(chunk.participants),
                "topics": given or intents.extract_topics([chunk.text]),
                "messages": list(chunk.messages),
                "from": chunk.began,
                "to": chunk.ended,
                "bytes": chunk.bytes,
            }
            metas.append(metadata | own)
        with lock.hold_lock(self.place.home, name=lock.KINDS):
            ids = self._log.add(passages, metas)
            if self.capacity.bounded:
                self._evict_oldest(self._count_excess)
        if self.capacity.compression_threshold:
            live = self._log.get_live()
            if self.capacity.full(len(live), self._log.bytes):
                self.compress()
        return ids

    def similar(self, text: str, limit: int = 5, *, but: str = "") -> list[Found]:
        """Return the conversations most relevant to a text (not `but`), with their best turns."""
        only = _make_filter(Query(), but)
        found = self._index.ask(
            "hybrid",
            lambda engine: engine.search_sessions(
                text, mode=base.get_mode(engine), only=only, limit=limit
            ),
        )
        return [
            Found(
                f"{each.host}/{each.session}",
                "conversation",
                "\n".join(f"{hit.who}: {hit.snippet}" for hit in each.hits),
                min(1.0, each.score),
                each.at,
                group=f"{each.host}/{each.session}",
                head=f"{each.at[:10]} session {each.session} ({each.host})",
                metadata={"turns": each.turns, "session": each.session},
            )
            for each in found.hits
            if each.session
        ]

    def update(self, ident: str, content: Content) -> None:
        """Replace the text of a window. Raises `NotFoundError`."""
        messages = contents.messages(content, self.place.session)
        text = "\n".join(message.text for message in messages)
        with lock.hold_lock(self.place.home, name=lock.KINDS):
            window = self._log.find(ident)
            if window is None or not text.strip():
                missing = f"'{self.id}' has no window with the id {ident}"
                raise NotFoundError(missing if text.strip() else "the new text is empty")
            size = sum(len(message.text.encode("utf-8", "replace")) for message in messages)
            meta = {**window.meta, "topics": intents.extract_topics([text]), "bytes": size}
            self._log.update(ident, ChunkWindow(replace(window.passage, text=text), meta))

    def delete(self, ident: str) -> None:
        """Remove a window, also an archived one. Raises `NotFoundError`."""
        with lock.hold_lock(self.place.home, name=lock.KINDS):
            if not self._log.update(ident, None):
                raise NotFoundError(f"'{self.id}' has no window with the id {ident}")

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return items about the task and the recent topics, else similar conversations.

        Nothing of the running session is among them: that of the state, else of the place.
        """
        running = state.session or self.place.session
        texts = [message.text for message in state.recent[-_RECENT:]]
        queries = [state.task, " ".join(intents.extract_topics(texts)), *query.texts]
        wanted = replace(query, text=tuple(filter(None, queries)))
        found, sure = self._search_windows(wanted, running)
        if query.prefer_recent:
            found.sort(key=lambda each: each.at, reverse=True)
        found = found[: query.limit]
        if not found and state.task:
            some = self.similar(state.task, 3, but=running)
            found = [each for each in some if each.relevance >= query.threshold]
        confidence = max((each.relevance for each in found), default=0.0)
        return Relevant(tuple(found), confidence=confidence, sure=sure)

    def summarize(self) -> str:
        latest = list(self._log.read_live())[-_SUMMED_UP:]
        return summary.extract("\n".join(window.passage.text for window in latest), self._size)

    def compress(self) -> int:
        """Summarize the older half of the windows, and archive it; return the windows saved."""
        with lock.hold_lock(self.place.home, name=lock.KINDS):
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

    def metrics(self) -> Metrics:
        self._enforce_capacity()
        marks = list(self._log.get_live().values())
        times = [contents.format_time(mark.at) for mark in (marks[0], marks[-1])] if marks else []
        return Metrics(len(marks), self._log.bytes, *times)

    def _get(self, ident: str) -> list[Found]:
        window = self._log.find(ident)
        return [self._make_found(window, 1.0)] if window else []

    def _find(self, query: Query) -> list[Found]:
        return self._search_windows(query)[0]

    def _search_windows(self, query: Query, but: str = "") -> tuple[list[Found], bool]:
        """Return the items found (none of session `but`), and whether some surely fit."""
        first = self._find_first()
        pinned = {labels.qualify(b.tier, b.label) for b in blocks.load(self.place) if b.pinned}
        oldest = time.time() - self._retention if self._retention else 0

        def read(hit: Hit) -> tuple[str, str]:
            match = hit.kind in KINDS and hit.id not in pinned
            if hit.project == self._log.whose:
                match = match and hit.id >= first
            elif hit.kind == "message":
                match = match and (epoch(hit.at) or oldest) >= oldest
            else:
                match = match and not hit.project
            return (hit.id, hit.text) if match else ("", "")

        most = min(_MOST, query.limit * _SEARCHED)
        found, sure = self._search(query, _make_filter(query, but), read, most)
        return [_convert_hit(hit, max(relevance, 0.01)) for _, hit, relevance in found], sure

    def _evict(self, choose: Choose) -> int:
        with lock.hold_lock(self.place.home, name=lock.KINDS):
            count = self._evict_oldest(choose)
            if choose != self._count_excess:  # the bounds evict again after a kill
                self._log.note()
        return count

    def _evict_oldest(self, choose: Choose) -> int:
        """Archive the oldest windows; return their number. The caller holds the lock of kinds."""
        live = self._log.get_live()
        count = choose(live.values(), len(live), self._log.bytes)
        self._log.evict_oldest(count)
        return count

    def _find_first(self) -> str:
        if not self.capacity.bounded:
            return self._log.first()
        live = self._log.get_live()
        excess = self._count_excess(live.values(), len(live), self._log.bytes)
        return next(islice(live, excess, None), _NONE)

    def _summarize_group(self, group: Sequence[ChunkWindow]) -> ChunkWindow:
        text = "\n".join(window.passage.text for window in group)
        short = summary.extract(text, self._size) or text[: 4 * self._size]
        first, last = group[0], group[-1]
        passage = Passage("", short, clock.now(), 5, (self.id, SUMMARY), first.passage.source)
        meta = {
            "covers": [window.passage.id for window in group],
            "topics": intents.extract_topics([short]),
            "from": first.meta.get("from", ""),
            "to": last.meta.get("to", ""),
        }
        return ChunkWindow(passage, meta)

    def _make_found(self, item: ChunkWindow, relevance: float) -> Found:
        passage = item.passage
        at, head = passage.created_at, f"{passage.created_at[:10]}, passage {passage.id}"
        metadata = {**item.meta, "tags": passage.tags, "session": passage.source}
        return Found(
            passage.id, "passage", passage.text, relevance, at, "", passage.id, head, metadata
        )


def _make_filter(query: Query, but: str) -> Filter | None:
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


def _convert_hit(hit: Hit, relevance: float) -> Found:
    own = {"why": hit.why, "tags": hit.tags, "session": hit.session, "score": hit.score}
    group, head = hit.id, f"{hit.at[:10]}, {hit.kind} {hit.id}"
    if hit.kind == "message":
        who = f"({hit.host})" if hit.host else ""
        head = " ".join(part for part in (hit.at[:10], "session", hit.session, who) if part)
        group = f"{hit.host}/{hit.session}/{hit.at[:10]}"
    elif hit.label:
        head = f"{hit.kind} {hit.label}"
    speaker = hit.who if hit.kind == "message" else ""
    metadata = {**hit.metadata, **own}
    return Found(hit.id, hit.kind, hit.text, relevance, hit.at, speaker, group, head, metadata)


def _list_texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
