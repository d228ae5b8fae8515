"""Stores into several kinds of memory at once, and composes one context from all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import msgspec

from memfs.context import assemble as assembling
from memfs.context import window_budget
from memfs.context.pieces import Compression, Context, Found, Piece
from memfs.core import os_errors
from memfs.core.errors import StoreError, UsageError, find_refusal, is_panic
from memfs.core.privacy import storable
from memfs.knowledge.facts import fact_store
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds import registry
from memfs.knowledge.kinds.base import BaseKind
from memfs.knowledge.kinds.protocol import Content, Kind, Query, Relevant, State
from memfs.recall.open_store import OpenStore
from memfs.store import archive, clock, config
from memfs.store.blocks import Place

LEAST = 64  # tokens of a context
_SURE = 0.9  # share of the limit that is used where tokens are only estimated
_LIMIT = 10  # items that a kind returns by default
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_QUOTE = 80  # characters from which on a text within the task is a part of it, no answer to it
_UNKNOWN = 0.1  # the priority of a kind without a configured one
_RENAMED = {"recency": "since", "prefer_recency": "prefer_recent", "similarity": "threshold"}


class Orchestrator:
    """The kinds of one place, by id. `priority` has their shares of a context, in their order."""

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
        self._priority = _parse_priorities(given)
        self._limit = settings.number("orchestrator.context_limit")
        mode = settings.get("orchestrator.compression")
        self._compression: Compression = "aggressive" if mode == "aggressive" else "smart"
        for kind in kinds:
            self.register(kind)

    def __repr__(self) -> str:
        return f"<Orchestrator {self.place.home.root}: {', '.join(self.kinds) or 'no kinds'}>"

    def close(self) -> None:
        """Close what its kinds have open, those that have `close`; they stay usable."""
        for kind in self.kinds.values():
            if close := getattr(kind, "close", None):
                close()

    def register(self, kind: Kind) -> None:
        """Add a kind; it replaces one with the same id."""
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

        Vector is included unless it is turned off. The other kinds `learn` the facts that are
        extracted. Returns the ids of new items, by kind. Raises `MemfsError` for an unknown
        kind. If a kind fails, the items that others stored before stay.
        """
        targets = {"vector": True, **into}
        for name, on in targets.items():
            if on and name != "vector" and not self._find_kinds(name):
                raise UsageError(
                    f"unknown kind of memory: '{name}'", f"use one of {', '.join(self.kinds)}"
                )
        messages = contents.messages(content, session)
        done: dict[str, list[str]] = {}
        # Graphs first, as they write messages to recall: facts refer to messages.
        for kind in sorted(self.kinds.values(), key=lambda kind: kind.type != "graph"):
            if targets.get(kind.id, targets.get(kind.type, False)):
                done[kind.id] = kind.store(messages, session=session, **(metadata or {}))
                if kind.type == "facts" and done[kind.id]:
                    self._teach(kind, set(done[kind.id]))
        return done

    def context(
        self,
        state: State | str,
        requirements: Mapping[str, object] | None = None,
        *,
        limit: int = 0,
        compression: Compression | None = None,
    ) -> Context:
        """Compose the context for a state, or for a task, in at most `limit` tokens.

        What repeats the task or a recent message is left out.
        `requirements` are queries by id or type of a kind (`{"vector": {"limit": 5}}`; False leaves
        one out), and `priority`. Raises `MemfsError` for an invalid requirement, a limit that is
        too small, and a store that is not trusted. A kind that fails is named in `problems`.
        """
        project = self.place.project
        if project is not None and not project.trusted:
            raise StoreError(
                "you have not trusted this store, so it is not shown to models",
                "review the store, and decide whether to trust it: memfs trust",
            )
        state = State(task=state) if isinstance(state, str) else state
        limit = limit or self._limit
        if limit < LEAST:
            raise UsageError(f"{limit} tokens are too few", f"allow {LEAST} tokens or more")
        conditions = dict(requirements or {})
        shares = _parse_priorities(conditions.pop("priority", None)) or self._priority
        queries = self._build_queries(conditions)
        told, problems = self._query_all(state, queries)
        answers = {name: _drop_echoes(answer, state) for name, answer in told.items()}
        # In the order of registration.
        weights = dict(zip(self.kinds, [*shares, *([_UNKNOWN] * len(self.kinds))], strict=False))
        pieces = [_to_piece(key, each) for key, answer in answers.items() for each in answer.found]
        counter = window_budget.load_counter()
        # Without an exact counter, a part of the limit stays unused.
        room = limit if counter.exact else int(limit * _SURE)
        made = assembling.assemble(
            pieces, weights, room, counter.measure, compression or self._compression
        )
        taken = {(piece.kind, piece.id): piece for piece in made.pieces}
        return replace(
            made,
            found={
                name: tuple(
                    replace(each, text=taken[name, each.id].text)
                    for each in answer.found
                    if (name, each.id) in taken
                )
                for name, answer in answers.items()
            },
            steps=tuple(
                dict.fromkeys(step for answer in answers.values() for step in answer.steps)
            ),
            summaries={name: answer.summary for name, answer in answers.items() if answer.summary},
            problems=(*self.problems, *problems),
            sure=any(answer.found and answer.sure for answer in answers.values()),
        )

    def _find_kinds(self, name: str) -> list[Kind]:
        return [kind for kind in self.kinds.values() if name in (kind.id, kind.type)]

    def _build_queries(self, conditions: Mapping[str, object]) -> dict[str, Query]:
        for name in conditions:
            if not self._find_kinds(name):
                there = ", ".join(dict.fromkeys(kind.type for kind in self.kinds.values()))
                raise UsageError(f"unknown kind of memory: '{name}'", f"use one of {there}")
        queries = {}
        for kind in self.kinds.values():
            each = conditions.get(kind.id, conditions.get(kind.type, {}))
            if each is not False:
                queries[kind.id] = each if isinstance(each, Query) else _parse_query(kind.id, each)
        return queries

    def _query_all(
        self, state: State, queries: Mapping[str, Query]
    ) -> tuple[dict[str, Relevant], list[str]]:
        answers, problems = {}, []
        with ThreadPoolExecutor(max_workers=max(1, len(queries))) as pool:
            futures = {
                name: pool.submit(self.kinds[name].relevant, state, query)
                for name, query in queries.items()
            }
            for name, future in futures.items():
                try:
                    answers[name] = future.result()
                except BaseException as error:  # a kind of a plugin, say: the others still answer
                    if not isinstance(error, Exception) and not is_panic(error):
                        raise
                    refusal = find_refusal(error)
                    told = os_errors.describe_refusal(refusal).message if refusal else error
                    problems.append(f"{name}: {told}")
        return answers, problems

    def _teach(self, source: Kind, ids: set[str]) -> None:
        """Let the other kinds learn newly extracted facts; a plugin may have no `learn`."""
        others = [kind for kind in self.kinds.values() if kind is not source]
        ways = [learn for kind in others if (learn := getattr(kind, "learn", None))]
        eager = [learn for learn in ways if getattr(learn, "__func__", learn) != BaseKind.learn]
        if eager:
            found = [fact for fact in fact_store.list_facts(self.place) if fact.id in ids]
            for learn in eager:
                learn(found)


def for_session(index: OpenStore) -> Orchestrator:
    """Return the orchestrator of a place, with its configured kinds."""
    kinds, problems = registry.load_kinds(index)
    return Orchestrator(index.place, kinds, problems=problems)


def _drop_echoes(answer: Relevant, state: State) -> Relevant:
    """Return an answer without what the model has before it: the task, recent messages."""
    texts = [state.task, *(message.text for message in state.recent)]
    known = [archive.merge_passages(storable(text)) for text in texts]

    def is_echo(found: Found) -> bool:
        text = archive.merge_passages(found.text).removeprefix("user: ")
        return text in known or (len(text) >= _QUOTE and any(text in each for each in known))

    return replace(answer, found=tuple(each for each in answer.found if not is_echo(each)))


def _to_piece(kind: str, found: Found) -> Piece:
    score = float(str(found.metadata.get("score", found.relevance)))
    group, head = found.group or found.id, found.head or f"{found.type} {found.id}"
    return Piece(f"{found.id}", kind, found.text, score, group, head, found.at, found.who)


def _parse_query(name: str, given: object) -> Query:
    if not isinstance(given, Mapping):
        raise UsageError(f"the requirement for '{name}' must be a mapping")
    known = [field.name for field in fields(Query)]
    found: dict[str, object] = {"limit": _LIMIT}
    for key, value in given.items():
        target = _RENAMED.get(key, key)
        if target not in known:
            raise UsageError(
                f"the requirement for '{name}' cannot have {key!r}",
                f"use one of {', '.join(known)}",
            )
        if key == "recency":
            period = str(value)
            days = _DAYS.get(period)
            if days is None:
                raise UsageError(f"recency cannot be {period!r}", f"use one of {', '.join(_DAYS)}")
            found[target] = contents.format_time(clock.seconds() - days * 86400)
        else:
            found[target] = value
    try:
        return msgspec.convert(found, Query)
    except msgspec.ValidationError as error:
        raise UsageError(f"the requirement for '{name}' is not valid: {error}") from error


def _parse_priorities(given: object) -> tuple[float, ...]:
    if given is None:
        return ()
    numbers = list(given) if isinstance(given, list | tuple) else []
    good = all(isinstance(each, int | float) and each >= 0 for each in numbers)
    if not numbers or not good or not sum(numbers):
        raise UsageError(
            f"priority cannot be {given!r}", "give a list of numbers, such as [0.4, 0.3, 0.1, 0.2]"
        )
    return tuple(float(each) for each in numbers)
