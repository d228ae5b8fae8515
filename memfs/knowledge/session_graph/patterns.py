"""Recurring sequences of steps in turns, and the most frequent next steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memfs.knowledge.session_graph.records import Flow, Pattern, Step
from memfs.knowledge.session_graph.turns import FAILED, WORKED

_LONGEST, _SHORTEST = 5, 2  # steps of a pattern
_SUFFIX = 4  # last steps of a path that predict the next one


def patterns(turns: Iterable[tuple[tuple[str, ...], int]], most: int) -> list[Pattern]:
    """Return the sequences that occur in several turns, given as (steps, outcome).

    Long and frequent ones come first. A part of a longer one that is as frequent is left out.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    good: Counter[tuple[str, ...]] = Counter()
    bad: Counter[tuple[str, ...]] = Counter()
    for steps_, outcome in turns:
        for each in _list_sequences(steps_):
            counts[each] += 1
            good[each] += outcome == WORKED
            bad[each] += outcome == FAILED
    several = [(each, n) for each, n in counts.items() if n > 1]
    several.sort(key=lambda pair: (-(pair[1] * (len(pair[0]) - 1)), pair[0]))
    kept: list[Pattern] = []
    for found, number in several:
        if not any(_contains(found, other.steps) and other.turns >= number for other in kept):
            kept.append(Pattern(found, number, good[found], bad[found]))
        if len(kept) == most:
            break
    return kept


def steps(flows: Sequence[Flow], path: Sequence[str], most: int) -> list[Step]:
    """Return the steps that followed a path in flows, the most frequent first. Ignores failures."""
    votes: Counter[str] = Counter()
    worked: Counter[str] = Counter()
    for flow in flows:
        name = _find_next_step(flow.steps, path)
        if name and flow.outcome != FAILED:
            votes[name] += 1
            worked[name] += flow.outcome == WORKED
    ordered = sorted(votes, key=lambda name: (-(votes[name] + worked[name]), name))
    total = sum(votes.values()) or 1
    return [Step(name, votes[name] / total, worked[name]) for name in ordered[:most]]


def _list_sequences(steps: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return the distinct sequences in the steps of one turn."""
    return {
        steps[start : start + length]
        for length in range(_SHORTEST, _LONGEST + 1)
        for start in range(len(steps) - length + 1)
    }


def _contains(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def _find_next_step(steps: tuple[str, ...], path: Sequence[str]) -> str:
    """Return the step after the longest suffix of a path that occurs, the first for no path."""
    if not path:
        return steps[0] if steps else ""
    for length in range(min(_SUFFIX, len(path)), 0, -1):
        end = tuple(path[-length:])
        for at in range(len(steps) - length):
            if steps[at : at + length] == end:
                return steps[at + length]
    return ""
