"""Several kinds of memory as one: stored into together, and composed into one context."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from memfs.context import assemble as assembling
from memfs.context import token_counter
from memfs.context.assemble import Piece
from memfs.core.errors import StoreError, UsageError, is_panic
from memfs.knowledge.facts import fact_store
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds import registry
from memfs.knowledge.kinds.protocol import Query, State
from memfs.store import clock, config, store_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.context.assemble import Compression
    from memfs.knowledge.kinds.protocol import Content, Found, Kind, Relevant
    from memfs.recall.index_session import IndexSession
    from memfs.store.blocks import Place

LEAST = 64  # tokens of a context
_SURE = 0.9  # of a limit, where tokens are estimated
_LIMIT = 10  # found by a kind, where nobody says more
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_UNKNOWN = 0.1  # the priority of a kind that none is configured for
_RENAMED = {"recency": "since", "prefer_recency": "prefer_recent", "similarity": "threshold"}


@dataclass(frozen=True)
class Context:
    """One context: its text, and what is in it, by kind.

    `tokens` are those of the text, `left_out` counts what had no room and `compressed` what was
    shortened. `steps` usually come next, `summaries` are what kinds say in short, `problems` what
    was wrong with one of them. `sure` is False where nothing in it is clearly about the task.
    """

    text: str
    tokens: int
    found: Mapping[str, tuple[Found, ...]]
    left_out: int
    compressed: int
    steps: tuple[str, ...] = ()
    summaries: Mapping[str, str] | None = None
    problems: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = ()
    sure: bool = True


class Orchestrator:
    """The kinds of one place, by id. `priority` are their shares of a context, in their order."""

    def __init__(
        self,
        place: Place,
        kinds: Sequence[Kind] = (),
        *,
        priority: Sequence[float] = (),
        problems: Sequence[str] = (),
    ) -> None:
        self.place = place
        self.kinds: dict[str, Kind] = {}
        self.problems = tuple(problems)
        settings = config.load(place)
        given = priority or settings.get("orchestrator.default_priority")
        self._priority = _priorities(given)
        self._limit = settings.number("orchestrator.context_limit")
        said = settings.get("orchestrator.compression")
        self._compression: Compression = "aggressive" if said == "aggressive" else "smart"
        for kind in kinds:
            self.register(kind)

    def register(self, kind: Kind) -> None:
        """Take a kind in, in the place of one with the same id."""
        self.kinds[kind.id] = kind

    def store(
        self,
        content: Content,
        *,
        session: str = "",
        metadata: Mapping[str, object] | None = None,
        **into: bool,
    ) -> dict[str, list[str]]:
        """Store into several kinds, named by id or type: `vector=True, facts=True`.

        Vector is meant unless it is turned off. Facts that are extracted are told to the kinds that
        `learn`. Returns the ids of what is new, by kind. Raises `MemfsError` for a kind that is not
        there; what a former kind took stays.
        """
        wanted = {"vector": True, **into}
        for name, on in wanted.items():
            if on and name != "vector" and not self._named(name):
                raise UsageError(
                    f"there is no kind '{name}' here", f"there are {', '.join(self.kinds)}"
                )
        said = contents.messages(content, session)
        done: dict[str, list[str]] = {}
        # What recall is to hold goes first: facts name their messages.
        for kind in sorted(self.kinds.values(), key=lambda kind: kind.type != "graph"):
            if wanted.get(kind.id, wanted.get(kind.type, False)):
                done[kind.id] = kind.store(said, session=session, **(metadata or {}))
                if kind.type == "facts" and done[kind.id]:
                    self._propagate(kind, done[kind.id])
        return done

    def context(
        self,
        state: State | str,
        requirements: Mapping[str, object] | None = None,
        *,
        limit: int = 0,
        compression: Compression | None = None,
    ) -> Context:
        """Compose what the kinds say to a state, or to a task, in at most `limit` tokens.

        `requirements` are queries by id or type of a kind (`{"vector": {"limit": 5}}`; False leaves
        one out), and `priority`. Raises `MemfsError` for what nobody can require, a limit that is
        too small, and a store that its user does not trust. A kind that fails is named in
        `problems`.
        """
        project = self.place.project
        if project is not None and not store_paths.is_trusted(project):
            raise StoreError(
                "you have not trusted this store: nothing of it is put before a model",
                "look at it, and decide: memfs trust",
            )
        state = State(task=state) if isinstance(state, str) else state
        limit = limit or self._limit
        if limit < LEAST:
            raise UsageError(f"{limit} tokens are too few", f"{LEAST} or more")
        wanted = dict(requirements or {})
        shares = _priorities(wanted.pop("priority", None)) or self._priority
        queries = self._queries(wanted)
        answers, problems = self._asked(state, queries)
        weights = self._weights(shares)
        pieces = [_piece(name, each) for name, answer in answers.items() for each in answer.found]
        counter = token_counter.load_counter()
        # Where nobody can count exactly, less is taken.
        room = limit if counter.exact else int(limit * _SURE)
        made = assembling.assemble(
            pieces, weights, room, counter.count, compression or self._compression
        )
        taken = {(piece.kind, piece.id): piece for piece in made.pieces}
        return Context(
            made.text,
            made.tokens,
            {
                name: tuple(
                    replace(each, text=taken[name, each.id].text)
                    for each in answer.found
                    if (name, each.id) in taken
                )
                for name, answer in answers.items()
            },
            made.left_out,
            made.compressed,
            tuple(dict.fromkeys(step for answer in answers.values() for step in answer.steps)),
            {name: answer.summary for name, answer in answers.items() if answer.summary},
            (*self.problems, *problems),
            made.pieces,
            any(answer.found and answer.sure for answer in answers.values()),
        )

    def _named(self, name: str) -> list[Kind]:
        return [kind for kind in self.kinds.values() if name in (kind.id, kind.type)]

    def _queries(self, wanted: Mapping[str, object]) -> dict[str, Query]:
        """Return what is asked of each kind by id."""
        for name in wanted:
            if not self._named(name):
                there = ", ".join(dict.fromkeys(kind.type for kind in self.kinds.values()))
                raise UsageError(f"nothing can be required of '{name}'", f"there are {there}")
        queries = {}
        for kind in self.kinds.values():
            given = wanted.get(kind.id, wanted.get(kind.type, {}))
            if given is not False:
                queries[kind.id] = given if isinstance(given, Query) else _query(kind.id, given)
        return queries

    def _asked(
        self, state: State, queries: Mapping[str, Query]
    ) -> tuple[dict[str, Relevant], list[str]]:
        """Ask all kinds at once."""
        answers, problems = {}, []
        with ThreadPoolExecutor(max_workers=max(1, len(queries))) as pool:
            asked = {
                name: pool.submit(self.kinds[name].relevant, state, query)
                for name, query in queries.items()
            }
            for name, future in asked.items():
                try:
                    answers[name] = future.result()
                except BaseException as error:  # one kind, maybe of others: the rest answer
                    if not isinstance(error, Exception) and not is_panic(error):
                        raise
                    problems.append(f"{name}: {error}")
        return answers, problems

    def _weights(self, shares: Sequence[float]) -> dict[str, float]:
        """Return the share of each kind: by the order they were registered in."""
        padded = [*shares, *([_UNKNOWN] * len(self.kinds))]
        return dict(zip(self.kinds, padded, strict=False))

    def _propagate(self, source: Kind, ids: Sequence[str]) -> None:
        """Tell the other kinds of facts that were extracted."""
        others = [kind for kind in self.kinds.values() if kind is not source]
        eager = [learn for kind in others if (learn := getattr(kind, "learn", None))]
        if eager:
            wanted = set(ids)
            found = [fact for fact in fact_store.list_facts(self.place) if fact.id in wanted]
            for learn in eager:
                learn(found)


def for_session(kept: IndexSession) -> Orchestrator:
    """Return the orchestrator of a place, with the kinds that are configured."""
    found = registry.configured(kept)
    return Orchestrator(kept.place, found.kinds, problems=found.problems)


def _piece(kind: str, found: Found) -> Piece:
    score = found.metadata.get("score", found.relevance)
    return Piece(
        f"{found.id}",
        kind,
        found.text,
        float(str(score)),
        found.group or found.id,
        found.head or f"{found.type} {found.id}",
        found.at,
        found.who,
    )


def _query(name: str, given: object) -> Query:
    """Return a requirement as a query. Raises `MemfsError`."""
    if not isinstance(given, Mapping):
        raise UsageError(f"what is required of '{name}' is no mapping")
    known = [field.name for field in fields(Query)]
    found: dict[str, object] = {"limit": _LIMIT}
    for key, value in given.items():
        target = _RENAMED.get(key, key)
        if target not in known:
            raise UsageError(
                f"'{name}' cannot be asked for {key!r}", f"known are {', '.join(known)}"
            )
        found[target] = _since(str(value)) if key == "recency" else value
    try:
        return msgspec.convert(found, Query)
    except msgspec.ValidationError as error:
        raise UsageError(f"what is required of '{name}' is wrong: {error}") from error


def _since(said: str) -> str:
    """Return when a day, a week, a month or a year ago was."""
    days = _DAYS.get(said)
    if days is None:
        raise UsageError(f"recency is {said!r}", f"it is one of {', '.join(_DAYS)}")
    return contents.format_time(clock.seconds() - timedelta(days=days).total_seconds())


def _priorities(given: object) -> tuple[float, ...]:
    """Return priorities; raises `MemfsError` for what cannot be some."""
    if given is None:
        return ()
    numbers = list(given) if isinstance(given, list | tuple) else []
    good = all(isinstance(each, int | float) and each >= 0 for each in numbers)
    if not numbers or not good or not sum(numbers):
        raise UsageError(f"{given!r} are no priorities", "for example [0.4, 0.3, 0.1, 0.2]")
    return tuple(float(each) for each in numbers)
