"""The interface of all kinds of memory, and its values; others are entry points (`Make`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from memfs.context.pieces import Found
from memfs.core.errors import UsageError
from memfs.core.records import Fact, Message
from memfs.store.blocks import Place

Content: TypeAlias = (
    "str | Message | Mapping[str, object] | Sequence[Message | Mapping[str, object] | str]"
)


@dataclass(frozen=True)
class Capacity:
    """The bounds of a kind; 0: none. The oldest items over them are archived.

    `max_bytes` of text as it was stored, `ttl` in seconds. From `compression_threshold` (a share of
    the items or bytes, 0 to 1) on `store` compresses.
    """

    max_items: int = 0
    max_bytes: int = 0
    ttl: float = 0.0
    compression_threshold: float = 0.0

    @property
    def bounded(self) -> bool:
        return bool(self.max_items or self.max_bytes or self.ttl)

    def excess(self, items: Iterable[tuple[int, float]], count: int, size: int, now: float) -> int:
        """Return how many of the oldest items are over the bounds.

        `items` are (bytes, seconds since 1970), the oldest first: `count` of `size` bytes in all.
        """
        oldest = now - self.ttl if self.ttl else 0.0
        gone = 0
        for each, at in items:
            many = bool(self.max_items) and count - gone > self.max_items
            large = bool(self.max_bytes) and size > self.max_bytes
            if not (many or large or at < oldest):
                break
            size -= each
            gone += 1
        return gone

    def full(self, items: int, size: int) -> bool:
        """Return whether `items` of `size` bytes reach the compression threshold."""
        share = self.compression_threshold
        return bool(share) and (
            bool(self.max_items and items >= share * self.max_items)
            or bool(self.max_bytes and size >= share * self.max_bytes)
        )


@dataclass(frozen=True)
class Query:
    """Conditions for items. A kind uses those it supports; empty fields set no condition.

    `text` may be several queries. `threshold` is a relevance, `confidence` that of a fact (both 0
    to 1). `since` and `until` are ISO 8601 (UTC), or the beginning of it. `pattern` is a regular
    expression over facts; of a graph `similar_intent`, an intent, or steps. `path` is a node of the
    graph, followed for `depth` edges. `speakers` are names of agents or persons, or roles.
    """

    text: str | tuple[str, ...] = ""
    id: str = ""
    limit: int = 10
    threshold: float = 0.0
    prefer_recent: bool = False
    since: str = ""
    until: str = ""
    entities: tuple[str, ...] = ()
    pattern: str = ""
    confidence: float = 0.0
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    path: str = ""
    depth: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        several = (self.text,) if isinstance(self.text, str) else self.text
        return tuple(dict.fromkeys(text for text in several if text.strip()))


@dataclass(frozen=True)
class State:
    """The state of a conversation: its task and its recent messages.

    `path` are the kinds of steps that were taken (see `session_graph.intents`), `tags`
    and `categories` those of static entries that are required.
    """

    task: str = ""
    recent: tuple[Message, ...] = ()
    session: str = ""
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relevant:
    """The answer of a kind to a state: items, a summary of them, and its confidence.

    `sure` is False where no item is clearly about the task.
    """

    found: tuple[Found, ...] = ()
    summary: str = ""
    confidence: float = 0.0
    steps: tuple[str, ...] = ()
    sure: bool = True


@dataclass(frozen=True)
class Metrics:
    """The size of a kind: items, bytes of text, the times of the oldest and the newest."""

    items: int
    bytes: int
    oldest: str = ""
    newest: str = ""


class Kind(Protocol):
    """One kind of memory, of one place. Errors are `MemfsError`s."""

    @property
    def id(self) -> str:
        """Its name among the kinds of an orchestrator."""

    @property
    def type(self) -> str:
        """Its type: vector, facts, static, graph, or that of a plugin."""

    @property
    def capacity(self) -> Capacity:
        """Its bounds."""

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Store content durably; return the ids of the new items."""

    def retrieve(self, query: Query) -> list[Found]:
        """Return the items that match a query, the best first."""

    def update(self, ident: str, content: Content) -> None:
        """Replace the content of an item. Raises `NotFoundError`, `RejectedError`."""

    def delete(self, ident: str) -> None:
        """Remove an item. Raises `NotFoundError`."""

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return the items that are relevant to a state; `query` has further conditions."""

    def summarize(self) -> str:
        """Return a short summary of all items."""

    def compress(self) -> int:
        """Compress the items without loss; return how many items that saved."""

    def archive(self, older_than: str) -> int:
        """Archive the items from before a time; return their number."""

    def metrics(self) -> Metrics:
        """Return its size."""

    def learn(self, facts: Sequence[Fact]) -> None:
        """Take up facts that another kind extracted, or do nothing with them."""


Make: TypeAlias = Callable[[Place, str, Capacity, Mapping[str, object]], Kind]
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}


def seconds(text: object) -> float:
    """Convert a duration ("90d", "12h", or a number) to seconds. Raises `MemfsError`."""
    plain = str(text).strip().lower() or "0"
    number, unit = (plain[:-1], plain[-1]) if plain[-1] in _UNITS else (plain, "s")
    try:
        found = float(number) * _UNITS[unit]
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e12:
        raise UsageError(f"{text!r} is not a duration", "write 90d, 12h, or a number of seconds")
    return found
