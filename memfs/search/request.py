"""Searches, as they are asked and answered, also by the service. Loads no engine."""

from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

from memfs.core.hits import Hit, SessionHit

AnyHit = TypeVar("AnyHit", Hit, SessionHit)
Mode = Literal["hybrid", "text", "semantic"]


@dataclass(frozen=True)
class Filter:
    """Which documents to search. Empty fields do not filter; times are epoch seconds, inclusive.

    `tags` are all required, of `any_tags` one. `kinds` is any of message, passage, fact, static,
    block, source, commit; `importance` the least of a passage. `speakers` are names, or roles; what
    is in `but_sessions` is left out.
    """

    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    importance: int = 0
    since: int | None = None
    until: int | None = None
    speakers: tuple[str, ...] = ()
    but_sessions: tuple[str, ...] = ()


class HitPage(NamedTuple, Generic[AnyHit]):
    """A page of hits, and the total number of hits (at most a few hundred are ranked).

    `sure`: at least one hit is clearly about the question.
    """

    hits: list[AnyHit]
    total: int
    sure: bool = True


class SearchRequest(NamedTuple):
    """A search, as sent to the user's service."""

    query: str
    mode: Mode | None
    only: Filter
    limit: int
    page: int


class SearchAnswer(NamedTuple, Generic[AnyHit]):
    """The hits that the service found, and a note on how it searched."""

    note: str
    page: HitPage[AnyHit]
