"""Fusion: scores into one ranking, and MaxSim against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memfs.search import fuse
from memfs.search.fuse import Evidence
from tests.search.numbers import unit

SCORES = st.floats(0, 50, allow_nan=False)
COSINES = st.floats(-1, 1, allow_nan=False)
ROWS = st.lists(
    st.tuples(SCORES, SCORES, SCORES, COSINES, st.booleans(), COSINES, COSINES), max_size=20
)
Row = tuple[float, float, float, float, bool, float, float]


def columns(rows: list[Row]) -> tuple[Evidence, NDArray[np.float64], NDArray[np.float64]]:
    """Return evidence, MaxSim, and MaxSim with what is beside it."""
    values = [np.array([row[at] for row in rows], np.float64) for at in range(7)]
    lexical, around, session, cosine, alone, maxsim, context = values
    return Evidence(lexical, around, session, cosine, alone > 0), maxsim, context


@given(ROWS)
@settings(deadline=None)
def test_scores_lie_between_nothing_and_one(rows: list[Row]) -> None:
    evidence, *close = columns(rows)
    for scores in (fuse.first(evidence), fuse.full(evidence, *close)):
        assert len(scores) == len(rows)
        assert ((scores >= 0) & (scores <= 1 + 1e-9)).all()


@given(ROWS)
@settings(deadline=None)
def test_the_best_lexical_hit_is_among_the_first_and_all_others_keep_their_order(
    rows: list[Row],
) -> None:
    evidence, *close = columns(rows)
    scores = fuse.full(evidence, *close)
    ranking = fuse.order(evidence, scores)
    assert sorted(ranking) == list(range(len(rows)))
    if not rows or evidence.lexical.max() == 0:
        assert [scores[at] for at in ranking] == sorted(scores, reverse=True)
        return
    best = int(evidence.lexical.argmax())
    assert best in ranking[: fuse.PIN]
    rest = [scores[at] for at in ranking if at != best]
    assert rest == sorted(rest, reverse=True)


@given(ROWS.filter(bool))
@settings(deadline=None)
def test_a_hit_that_is_best_everywhere_is_first(rows: list[Row]) -> None:
    evidence, *close = columns([*rows, (51.0, 51.0, 51.0, 1.5, False, 1.5, 1.5)])
    assert fuse.order(evidence, fuse.full(evidence, *close))[0] == len(rows)


def test_what_stands_alone_is_judged_by_itself() -> None:
    """A passage that says it is not pushed behind turns that only stand beside one that does."""
    evidence, maxsim, context = columns([
        (10.0, 10.0, 10.0, 0.5, True, 0.9, 0.9),
        (9.0, 30.0, 30.0, 0.5, False, 0.8, 0.95),
        (0.0, 0.0, 0.0, 0.0, False, 0.0, 0.0),
    ])  # fmt: skip
    assert fuse.order(evidence, fuse.full(evidence, maxsim, context)) == [0, 1, 2]


def test_the_weights_add_up_to_one() -> None:
    evidence, *close = columns(
        [(2.0, 2.0, 2.0, 1.0, False, 1.0, 1.0), (0.0, 0.0, 0.0, 0.0, False, 0.0, 0.0)]
    )
    assert np.allclose(fuse.full(evidence, *close), [1, 0])


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6),
    st.integers(1, 4),
    st.integers(0, 99),
)
@settings(deadline=None)
def test_each_token_has_its_best_cosine_in_each_text(
    passages: list[list[int]], count: int, seed: int
) -> None:
    rows = unit(10, 8, seed).astype(np.float32)
    query = unit(count, 8, seed + 1).astype(np.float32)
    tokens = [np.array(passage, np.uint16) for passage in passages]
    ids = np.unique(np.concatenate([*tokens, np.zeros(0, np.uint16)])).astype(np.intp)
    found = fuse.best_of_tokens((query @ rows[ids].T).astype(np.float64), tokens, ids)
    assert found.shape == (count, len(passages))
    for passage, column in zip(passages, found.T, strict=True):
        best = [
            max((float(word @ rows[token]) for token in passage), default=0.0) for word in query
        ]
        assert np.allclose(column, best, atol=1e-5)


def test_without_tokens_there_is_nothing_to_compare() -> None:
    similar = np.asarray(unit(3, 3), np.float64)
    ids = np.arange(3)
    empty, full = np.zeros(0, np.uint16), np.arange(3, dtype=np.uint16)
    assert fuse.best_of_tokens(similar, [empty, empty], ids).tolist() == [[0, 0]] * 3
    assert fuse.best_of_tokens(similar[:, :0], [empty], ids[:0]).tolist() == [[0]] * 3
    assert fuse.best_of_tokens(similar[:0], [full], ids).shape == (0, 1)
    assert fuse.best_of_tokens(similar, [empty, full], ids)[:, 0].tolist() == [0, 0, 0]
