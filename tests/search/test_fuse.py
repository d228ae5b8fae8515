"""Fusion: scores into one ranking, and MaxSim against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memfs.search import fuse
from tests.search.numbers import unit

SCORES = st.floats(0, 50, allow_nan=False)
COSINES = st.floats(-1, 1, allow_nan=False)
ROWS = st.lists(st.tuples(SCORES, COSINES, COSINES), max_size=20)


def columns(rows: list[tuple[float, float, float]]) -> list[NDArray[np.float64]]:
    return [np.array([row[at] for row in rows], np.float64) for at in range(3)]


@given(ROWS)
@settings(deadline=None)
def test_scores_lie_between_nothing_and_one(rows: list[tuple[float, float, float]]) -> None:
    scores = fuse.fuse(*columns(rows))
    assert len(scores) == len(rows)
    assert ((scores >= 0) & (scores <= 1 + 1e-9)).all()


@given(ROWS)
@settings(deadline=None)
def test_the_best_lexical_hit_is_among_the_first_and_all_others_keep_their_order(
    rows: list[tuple[float, float, float]],
) -> None:
    lexical, cosine, maxsim = columns(rows)
    scores = fuse.fuse(lexical, cosine, maxsim)
    ranking = fuse.order(scores, lexical)
    assert sorted(ranking) == list(range(len(rows)))
    if not rows or lexical.max() == 0:
        assert [scores[at] for at in ranking] == sorted(scores, reverse=True)
        return
    best = int(lexical.argmax())
    assert best in ranking[: fuse.PIN]
    rest = [scores[at] for at in ranking if at != best]
    assert rest == sorted(rest, reverse=True)


@given(ROWS.filter(bool))
@settings(deadline=None)
def test_a_hit_that_is_best_everywhere_is_first(rows: list[tuple[float, float, float]]) -> None:
    rows = [*rows, (51.0, 1.5, 1.5)]
    lexical, cosine, maxsim = columns(rows)
    assert fuse.order(fuse.fuse(lexical, cosine, maxsim), lexical)[0] == len(rows) - 1


def test_the_weights_are_what_won() -> None:
    scores = fuse.fuse(
        np.array([2.0, 1.0, 0.0]), np.array([0.1, 0.5, 0.3]), np.array([0.0, 0.0, 0.0])
    )
    assert np.allclose(scores, [0.3, 0.15 + 0.3, 0.15])


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6),
    st.integers(1, 4),
    st.integers(0, 99),
)
@settings(deadline=None)
def test_max_similarity_is_the_weighted_mean_of_the_best(
    passages: list[list[int]], count: int, seed: int
) -> None:
    rows = unit(10, 8, seed).astype(np.float32)
    query = unit(count, 8, seed + 1).astype(np.float32)
    weights = np.arange(1, count + 1, dtype=np.float64)
    tokens = [np.array(passage, np.uint16) for passage in passages]
    ids = np.unique(np.concatenate([*tokens, np.zeros(0, np.uint16)])).astype(np.uint16)
    found = fuse.max_similarity(query, weights, tokens, (ids, rows[ids]))
    for passage, score in zip(passages, found, strict=True):
        best = (
            [max(float(word @ rows[token]) for token in passage) for word in query]
            if passage
            else [0.0] * count
        )
        assert np.isclose(
            score, sum(w * b for w, b in zip(weights, best, strict=True)) / weights.sum(), atol=1e-5
        )


def test_weightless_queries_and_empty_passages_score_nothing() -> None:
    rows = unit(3, 4).astype(np.float32)
    ids = np.arange(3, dtype=np.uint16)
    empty = np.zeros(0, np.uint16)
    assert fuse.max_similarity(rows, np.zeros(3), [ids], (ids, rows)).tolist() == [0.0]
    assert fuse.max_similarity(rows, np.ones(3), [empty, empty], (ids, rows)).tolist() == [0.0, 0.0]
    assert fuse.max_similarity(rows, np.ones(3), [empty], (empty, rows[:0])).tolist() == [0.0]
    assert fuse.max_similarity(rows, np.ones(3), [empty, ids, empty], (ids, rows)).tolist()[
        ::2
    ] == [0.0, 0.0]
