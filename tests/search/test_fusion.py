"""Fusion: scores into one ranking, and MaxSim against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memfs.search import fusion
from memfs.search.fusion import RankingEvidence

SCORES = st.floats(0, 50, allow_nan=False)
COSINES = st.floats(-1, 1, allow_nan=False)
KINDS = st.sampled_from([fusion.TURN, fusion.ALONE, fusion.LONG])
ROWS = st.lists(st.tuples(SCORES, SCORES, SCORES, COSINES, KINDS, COSINES), max_size=20)
Row = tuple[float, float, float, float, int, float]


def columns(rows: list[Row]) -> tuple[RankingEvidence, NDArray[np.float64]]:
    """Return evidence, and MaxSim."""
    values = [np.array([row[at] for row in rows], np.float64) for at in range(6)]
    *known, kind, maxsim = values
    return RankingEvidence(np.stack(known), kind.astype(np.intp)), maxsim


@given(ROWS)
@settings(deadline=None)
def test_scores_lie_between_nothing_and_one(rows: list[Row]) -> None:
    evidence, maxsim = columns(rows)
    for scores in (fusion.score_first(evidence), fusion.score_full(evidence, maxsim)):
        assert len(scores) == len(rows)
        assert ((scores >= 0) & (scores <= 1 + 1e-9)).all()


@given(ROWS)
@settings(deadline=None)
def test_the_best_lexical_hit_is_among_the_first_and_all_others_keep_their_order(
    rows: list[Row],
) -> None:
    evidence, maxsim = columns(rows)
    scores = fusion.score_full(evidence, maxsim)
    ranking = fusion.rank_places(evidence, scores).tolist()
    assert sorted(ranking) == list(range(len(rows)))
    if not rows or evidence.lexical.max() == 0:
        assert [scores[at] for at in ranking] == sorted(scores, reverse=True)
        return
    best = int(evidence.lexical.argmax())
    assert best in ranking[: fusion.PIN]
    rest = [scores[at] for at in ranking if at != best]
    assert rest == sorted(rest, reverse=True)


@given(ROWS.filter(bool))
@settings(deadline=None)
def test_a_hit_that_is_best_everywhere_is_first(rows: list[Row]) -> None:
    evidence, maxsim = columns([*rows, (51.0, 51.0, 51.0, 1.5, fusion.TURN, 1.5)])
    assert fusion.rank_places(evidence, fusion.score_full(evidence, maxsim))[0] == len(rows)


def test_what_stands_alone_is_judged_by_itself() -> None:
    """A passage that says it is not pushed behind turns that only stand beside one that does."""
    evidence, maxsim = columns(
        [
            (10.0, 10.0, 10.0, 0.5, fusion.ALONE, 0.9),
            (9.0, 30.0, 30.0, 0.5, fusion.TURN, 0.8),
            (0.0, 0.0, 0.0, 0.0, fusion.TURN, 0.0),
        ]
    )
    assert fusion.rank_places(evidence, fusion.score_full(evidence, maxsim)).tolist() == [0, 1, 2]


def test_the_weights_add_up_to_one() -> None:
    assert np.allclose(fusion.WEIGHTS.sum(axis=1), 1)


@given(st.lists(st.lists(COSINES, max_size=4), max_size=6))
@settings(deadline=None)
def test_each_owner_has_the_largest_of_its_values(owned: list[list[float]]) -> None:
    values = np.array([value for each in owned for value in each], np.float64)
    counts = np.array([len(each) for each in owned], np.intp)
    found = fusion.most(values, counts)
    assert found.tolist() == [max(each, default=0.0) for each in owned]
    columns = fusion.most(np.stack([values, -values], axis=1), counts)
    assert columns[:, 1].tolist() == [max((-v for v in each), default=0.0) for each in owned]
