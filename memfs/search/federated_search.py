"""Pages of hits: of one index, or of several at once, whose rankings are merged.

The scores of two indexes do not compare: the merge compares how far the next candidates of each are
above the floor of their index. That loses 1 of 100 answers, without the floor it is 8.
"""

import functools
import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, ParamSpec, TypeVar

from memfs.core.errors import DamagedError, is_damage
from memfs.core.hits import Hit, SessionHit
from memfs.search.hit_builder import HitBuilder
from memfs.search.request import Filter, HitPage

Given = ParamSpec("Given")
Result = TypeVar("Result")

TURNS = 3  # shown of each session
MESSAGE = "message"  # a kind of documents
_OF_SOURCES = ("source", "commit")  # those that have indexes of their own
# The fields of a filter that no document of a source has.
_NOT_OF_SOURCES = (
    "roles hosts sessions projects branches tags any_tags importance speakers"
).split()


class _RankedList(NamedTuple):
    builder: HitBuilder
    results: Sequence[tuple[float, Sequence[int]]]


def convert_damage(method: Callable[Given, Result]) -> Callable[Given, Result]:
    """Convert the errors that libraries raise for damaged files to `DamagedError`."""

    @functools.wraps(method)
    def wrapper(*args: Given.args, **named: Given.kwargs) -> Result:
        try:
            return method(*args, **named)
        except BaseException as error:
            if not is_damage(error):
                raise
            raise DamagedError(
                "the search index is damaged", "run the command again, which rebuilds the index"
            ) from error

    return wrapper


@convert_damage
def make_page(builders: Sequence[HitBuilder], limit: int, offset: int = 0) -> HitPage[Hit]:
    """Return the hits `offset` to `offset + limit` of the rankings of all indexes, best first."""
    lists, alike = [], []
    for builder in builders:
        shown, same = builder.found.deduplicate()
        lists.append(_RankedList(builder, [(0.0, [place]) for place in shown]))
        alike.append(same)
    hits = []
    for number, _, places in islice(_merge(lists), offset, offset + limit):
        hits.append(lists[number].builder.build(places[0], alike[number].get(places[0], 0)))
    return HitPage(hits, *_summarize(lists))


@convert_damage
def make_session_page(
    builders: Sequence[HitBuilder], limit: int, offset: int = 0
) -> HitPage[SessionHit]:
    """Return the sessions `offset` to `offset + limit` of all indexes, best first."""
    lists = [_RankedList(builder, builder.found.rank_sessions()) for builder in builders]
    found = []
    for number, score, places in islice(_merge(lists), offset, offset + limit):
        builder = lists[number].builder
        hits = tuple(builder.build(place, 0) for place in builder.locate([*places[:TURNS]]))
        best = hits[0]
        session = best.session, best.host, best.project, best.branch, best.at
        found.append(SessionHit(*session, round(score, 4), len(places), hits))
    return HitPage(found, *_summarize(lists))


def _merge(lists: Sequence[_RankedList]) -> Iterator[tuple[int, float, Sequence[int]]]:
    """Yield (number of its list, score, positions) of each result that still exists."""
    return (
        (number, *result)
        for _, number, result in heapq.merge(
            *(_grade(number, each, alone=len(lists) == 1) for number, each in enumerate(lists)),
            key=lambda graded: (graded[0], graded[1]),
        )
    )


def _grade(
    number: int, ranked: _RankedList, *, alone: bool
) -> Iterator[tuple[float, int, tuple[float, Sequence[int]]]]:
    """Yield the results of a list with ascending grades: they keep their order."""
    grade = float("-inf")
    for score, places in ranked.results:
        if ranked.builder.locate([places[0]]):
            if not alone:
                grade = max(grade, -ranked.builder.get_margin(places[0]))
            yield grade, number, (score, places)


def _summarize(lists: Sequence[_RankedList]) -> tuple[int, bool]:
    total = sum(len(each.results) for each in lists)
    heads = ([places[0] for _, places in each.results] for each in lists)
    sure = any(each.builder.is_sure(head) for each, head in zip(lists, heads, strict=True) if head)
    return total, sure or not total


def list_source_kinds(only: Filter) -> tuple[str, ...]:
    """Return the kinds of documents of sources that a filter passes."""
    if any(getattr(only, name) for name in _NOT_OF_SOURCES):
        return ()
    return tuple(kind for kind in _OF_SOURCES if kind in (only.kinds or _OF_SOURCES))


def drop_sources(only: Filter) -> Filter | None:
    """Return a filter for an index without sources; None if nothing is left to search there."""
    kinds = tuple(kind for kind in only.kinds if kind not in _OF_SOURCES)
    return replace(only, kinds=kinds) if kinds or not only.kinds else None
