"""The documents that may be what a question is after, and what speaks for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memfs.search import fuse
from memfs.search.fuse import Evidence
from memfs.search.lexical import Occur, Query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from tantivy import DocAddress

    from memfs.search.encoder import Encoded
    from memfs.search.lexical import Term, TextIndex
    from memfs.search.question import Question
    from memfs.search.semantic import VectorIndex

POOL = 100  # candidates of each side: the same for every page, or pages would not fit together
TEXT_POOL = 1000  # the order by words alone does not depend on how many are looked at
_BESIDE = 2  # turns before and after one that speak for it
_FADE = 0.7  # of what each further one counts
_STARS = 20  # of the best by words, the turns beside them are candidates too
_TURNS = 3  # of a session that speak for it
_NAMED = 0.3  # what an identifier counts for as a whole: its parts count already
_TYPOS = 3  # unknown words that may be mistyped
_WINDOWS = 6  # of a long document that are looked at closely


@dataclass
class Candidates:
    """Document numbers, and side by side what is known of them.

    `addresses` are those of the documents that were found by words. `near` maps a number to the
    documents beside it, nearest first: (before, after).
    """

    numbers: list[int]
    found: Evidence
    addresses: dict[int, DocAddress]
    near: dict[int, tuple[list[int], list[int]]]


def by_words(
    text: TextIndex, question: Question, terms: list[Term], only: Query | None, pool: int
) -> dict[int, tuple[float, DocAddress]]:
    """Return the BM25 score and the address of the best documents, by number."""
    unknown = [term for term in terms if not term.frequency][:_TYPOS]
    more = [
        *(text.part(name, _NAMED) for name in question.names),
        *(text.part(pair, 1.0) for pair in question.parts if not pair.isascii()),
        *(text.part(term.word, 0.5) for term in terms if not term.frequency),
        *(text.phrase(phrase) for phrase in question.phrases),
        *(text.similar(term) for term in unknown),
    ]
    query = text.query(terms, *[each for each in more if each is not None], only=only)
    if query is None:
        return {}
    found = text.search(query, pool)
    numbers = text.numbers([address for _, address in found])
    return {n: pair for n, pair in zip(numbers, found, strict=True) if pair[0] > 0}


def without_vectors(words: dict[int, tuple[float, DocAddress]]) -> Candidates:
    """Return the candidates where words are all there is."""
    lexical = _array(score for score, _ in words.values())
    nothing = np.zeros(len(words))
    alone = np.ones(len(words), np.bool_)
    addresses = {number: address for number, (_, address) in words.items()}
    return Candidates(
        list(words), Evidence(lexical, lexical, lexical, nothing, alone), addresses, {}
    )


def with_vectors(
    words: dict[int, tuple[float, DocAddress]],
    vectors: VectorIndex,
    query: NDArray[np.float32],
    allowed: NDArray[np.uint32] | None,
) -> Candidates:
    """Return the candidates by words and by vectors, with the turns beside the best of them."""
    nearest = vectors.candidates(query, POOL, allowed)
    near = vectors.neighbours([*dict.fromkeys([*words, *nearest])], _BESIDE)
    stars = sorted(words, key=lambda number: -words[number][0])[:_STARS]
    beside = (
        [n for star in stars for side in near[star] for n in side[:1]] if allowed is None else []
    )
    numbers = list(dict.fromkeys([*words, *nearest, *beside]))
    near |= vectors.neighbours([number for number in numbers if number not in near], _BESIDE)
    scores = {number: score for number, (score, _) in words.items()}
    groups = vectors.groups_of(numbers)
    lexical = _array(scores.get(number, 0.0) for number in numbers)
    found = Evidence(
        lexical,
        _array(_around(number, near[number], scores) for number in numbers),
        _of_sessions(groups, lexical),
        vectors.cosines(query, numbers),
        np.array([not any(near[number]) for number in numbers], np.bool_),
    )
    addresses = {number: address for number, (_, address) in words.items()}
    return Candidates(numbers, found, addresses, near)


def closely(
    candidates: Candidates, indexes: list[int], vectors: VectorIndex, encoded: Encoded
) -> NDArray[np.float64]:
    """Return the full scores of some candidates: with late interaction."""
    numbers = [candidates.numbers[index] for index in indexes]
    evidence = candidates.found.of(indexes)
    tokens = np.unique(encoded.tokens[0])
    if not len(tokens):
        nothing = np.zeros(len(numbers))
        return fuse.full(evidence, nothing, nothing)
    weights = vectors.weights(tokens)
    sides = {
        n: [*before, *after]
        for n in numbers
        for before, after in [candidates.near.get(n, ([], []))]
    }
    every = list(dict.fromkeys([*numbers, *(n for side in sides.values() for n in side)]))
    spans = dict(zip(every, vectors.windows(every), strict=True))
    own = [vectors.rows_of(spans[number], _WINDOWS, encoded.vectors[0]) for number in numbers]
    wide = [
        [*rows, *(row for n in sides[number] for row in vectors.rows_of(spans[n], _WINDOWS))]
        for number, rows in zip(numbers, own, strict=True)
    ]
    rows = sorted({row for each in wide for row in each})
    texts = [vectors.tokens_of(row) for row in rows]
    ids = np.flatnonzero(np.bincount(np.concatenate(texts))) if texts else np.zeros(0, np.intp)
    best = fuse.best_of_tokens(vectors.encoder.cosines(tokens, ids), texts, ids)
    place = {row: at for at, row in enumerate(rows)}
    by_row = weights @ best
    maxsim = [max((by_row[place[row]] for row in each), default=0.0) for each in own]
    context = _together(best, weights, [[place[row] for row in each] for each in wide])
    return fuse.full(evidence, _array(maxsim), context)


def _together(
    best: NDArray[np.float64], weights: NDArray[np.float64], places: list[list[int]]
) -> NDArray[np.float64]:
    """Return the weighted best of each token in any of the texts of a candidate."""
    out = np.zeros(len(places))
    filled = [index for index, each in enumerate(places) if each]
    if filled:
        starts = np.cumsum([0, *(len(places[index]) for index in filled[:-1])])
        flat = np.array([at for index in filled for at in places[index]], np.intp)
        out[filled] = weights @ np.maximum.reduceat(best[:, flat], starts, axis=1)
    return out


def _around(number: int, near: tuple[list[int], list[int]], scores: dict[int, float]) -> float:
    total = scores.get(number, 0.0)
    for side in near:
        for step, beside in enumerate(side, 1):
            total += _FADE**step * scores.get(beside, 0.0)
    return total


def _of_sessions(groups: NDArray[np.uint32], lexical: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each candidate the scores of the best turns of its session, added up."""
    best: dict[int, list[float]] = {}
    for group, score in zip(groups.tolist(), lexical.tolist(), strict=True):
        best.setdefault(group, []).append(score)
    sums = {group: sum(sorted(scores)[-_TURNS:]) for group, scores in best.items()}
    return _array(sums[group] for group in groups.tolist())


def among(text: TextIndex, addresses: list[DocAddress]) -> NDArray[np.uint32]:
    """Return the numbers of documents, as the vectors want them."""
    return np.array(text.numbers(addresses), np.uint32)


def alive(text: TextIndex, candidates: Candidates) -> dict[int, DocAddress]:
    """Find documents by number; those deleted since they got their vectors are missing."""
    missing = [number for number in candidates.numbers if number not in candidates.addresses]
    if not missing:
        return candidates.addresses
    return {**candidates.addresses, **located(text, missing)}


def located(text: TextIndex, numbers: list[int]) -> dict[int, DocAddress]:
    """Return the addresses of documents by number."""
    if not numbers:
        return {}
    either = Query.boolean_query([(Occur.Should, text.term("num", n)) for n in numbers])
    either = Query.const_score_query(either, 1.0)
    addresses = [address for _, address in text.search(either, len(numbers))]
    return dict(zip(text.numbers(addresses), addresses, strict=True))


def _array(values: Iterable[float]) -> NDArray[np.float64]:
    return np.array(list(values), np.float64)
