"""Fusion: the evidence for each candidate becomes one ranking. Pure numpy.

BM25 is scaled by its maximum, cosine and MaxSim min-max over the candidates. A turn of a
conversation is scored by its neighbours and its session, too; a passage or a block by itself.
All candidates are ranked by words and vectors, and the best of them again by late interaction
(MaxSim), which costs more: a turn with those before it, since an answer follows a question.
`benchmarks/retrieval.py` measures the weights. They are round numbers: for turns and long
documents, near the values that each half of the LoCoMo conversations chose for the other half; for
single
documents, from the middle of the range where they make no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Number = TypeVar("Number", np.float32, np.float64)

# The kinds of candidates; their weights (lexical, around, session, cosine, maxsim).
TURN, ALONE, LONG = range(3)
WEIGHTS = np.array(
    [
        [0.08, 0.14, 0.14, 0.28, 0.36],  # a turn of a conversation
        [0.50, 0.00, 0.00, 0.25, 0.25],  # a single document
        [0.45, 0.00, 0.00, 0.10, 0.45],  # a single long document: several windows
    ]
)
_BY_KIND = np.ascontiguousarray(WEIGHTS.T)
_FIRST = WEIGHTS[:, :-1].sum(axis=1)
RERANKED = 60  # candidates that are ranked by late interaction
_NOISE = 1e-6  # cosines that differ by less are equal
_LEAST = np.array([0.0, 0.0, 0.0, _NOISE])[:, None]
PIN = 5  # the best lexical hit ranks at least here


@dataclass(frozen=True)
class RankingEvidence:
    """The evidence for n candidates: the rows of `known` (4 x n); `kind` is TURN, ALONE or LONG.

    `lexical` is BM25, `around` the sum over a turn and its neighbours, `session` the best of its
    session.
    """

    known: Scores
    kind: NDArray[np.intp]

    @property
    def lexical(self) -> Scores:
        return np.asarray(self.known[0])

    @property
    def around(self) -> Scores:
        return np.asarray(self.known[1])

    @property
    def session(self) -> Scores:
        return np.asarray(self.known[2])

    @property
    def cosine(self) -> Scores:
        return np.asarray(self.known[3])

    def select(self, at: NDArray[np.intp]) -> RankingEvidence:
        """Return the evidence for the candidates at some positions."""
        return RankingEvidence(self.known[:, at], self.kind[at])


def score_first(evidence: RankingEvidence) -> Scores:
    """Return a score (0 to 1) for each candidate, by words and vectors alone."""
    scores = (_BY_KIND[:-1, evidence.kind] * _scale_features(evidence)).sum(axis=0)
    return np.asarray(scores / _FIRST[evidence.kind])


def score_full(evidence: RankingEvidence, maxsim: NDArray[np.floating]) -> Scores:
    """Return a score (0 to 1) for each candidate, with late interaction."""
    weights = _BY_KIND[:, evidence.kind]
    scores = (weights[:-1] * _scale_features(evidence)).sum(axis=0)
    return np.asarray(scores + weights[-1] * _scale_min_max(maxsim))


def _scale_features(evidence: RankingEvidence) -> Scores:
    """Return the evidence scaled to 0 to 1: 4 x n."""
    known = evidence.known
    if not known.size:
        return known
    low = np.zeros((4, 1))
    low[3] = known[3].min()
    span = known.max(axis=1, keepdims=True) - low
    span[span <= _LEAST] = np.inf  # all equal: no evidence
    return np.asarray((known - low) / span)


def rank_places(evidence: RankingEvidence, scores: Scores) -> NDArray[np.intp]:
    """Return the candidates' positions, best first; the best lexical one is in the first `PIN`."""
    ranking = np.argsort(-scores, kind="stable")
    if len(ranking) > PIN and evidence.lexical.max() > 0:
        best = int(evidence.lexical.argmax())
        if best not in ranking[:PIN].tolist():
            others = ranking[ranking != best]
            ranking = np.concatenate([others[: PIN - 1], [best], others[PIN - 1 :]])
    return ranking


def most(values: NDArray[Number], counts: NDArray[np.intp]) -> NDArray[Number]:
    """Return the maximum of each owner's values, 0 for an owner without values.

    `values` (n, or n x m: by column) are grouped by owner, `counts` holds each group's size.
    """
    least = counts.min(initial=1)
    if least and len(values) == len(counts):
        return values
    begins = counts.cumsum() - counts
    if least:
        return np.asarray(np.maximum.reduceat(values, begins, axis=0))
    out = np.zeros((len(counts), *values.shape[1:]), values.dtype)
    some = counts > 0
    if some.any():
        out[some] = np.maximum.reduceat(values, begins[some], axis=0)
    return out


def _scale_min_max(values: NDArray[np.floating]) -> Scores:
    found = values.astype(np.float64)
    if not len(found):
        return found
    low, high = found.min(), found.max()
    return (found - low) / (high - low) if high - low > _NOISE else np.zeros_like(found)
