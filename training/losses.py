"""The four training losses and their gradients, written out by hand.

Every function returns the loss as a float and its gradient in the dtype of its
input. B is the batch size, D the dimensions.
"""

from itertools import pairwise

import numpy as np

from training.bags import Bags, Floats, Ints

# Shorter vectors count as zero. They have no direction to learn, and dividing by
# their length would let one of them outweigh the whole batch.
SHORTEST = 1e-9

# A query has to find its passage among the others; the other way round is a weaker
# wish, since one passage answers many questions.
BACKWARD = 0.5


def regression(student: Floats, teacher: Floats) -> tuple[float, Floats]:
    """Mean of 1 - cosine between (B, D) `student` and unit (B, D) `teacher` rows."""
    unit, norms = normalise(student)
    loss = 1.0 - float((unit * teacher).sum(axis=1).mean())
    return loss, _through_norm(-teacher / len(student), unit, norms)


def similarity(student: Floats, teacher: Floats, temperature: float) -> tuple[float, Floats]:
    """KL divergence of each row of the batch's cosine matrix from the teacher's.

    `student` is (B, D), `teacher` (B, D) of unit rows. Rows are softmaxed over the
    other texts of the batch (a text's similarity to itself says nothing), summed,
    and averaged over the batch.
    """
    if len(student) <= 1:
        return 0.0, np.zeros_like(student)
    unit, norms = normalise(student)
    wanted = _log_softmax(_without_self(teacher @ teacher.T / temperature))
    found = _log_softmax(_without_self(unit @ unit.T / temperature))
    share = np.exp(wanted)
    # On the diagonal both are minus infinity, and its share is zero.
    gap = np.where(share > 0, wanted, 0) - np.where(share > 0, found, 0)
    loss = float((share * gap).sum()) / len(student)
    slope = (np.exp(found) - share) / (len(student) * temperature)
    return loss, _through_norm((slope + slope.T) @ unit, unit, norms)


def contrast(queries: Floats, passages: Floats, temperature: float) -> tuple[float, Floats, Floats]:
    """InfoNCE of (B, D) `queries` with their (B, D) `passages`, others as negatives.

    Returns the loss, then the gradients of the queries and of the passages.
    """
    query, query_norms = normalise(queries)
    passage, passage_norms = normalise(passages)
    loss, slope = _both_ways(query @ passage.T / temperature)
    slope = slope / temperature
    return (
        loss,
        _through_norm(slope @ passage, query, query_norms),
        _through_norm(slope.T @ query, passage, passage_norms),
    )


def maxsim(
    queries: Bags, passages: Bags, rows: tuple[Floats, Floats], temperature: float
) -> tuple[float, Floats, Floats]:
    """InfoNCE over late-interaction scores.

    The score of a passage is, for each query token, the best cosine among the
    passage's tokens, averaged with the query tokens' lengths as weights, so that
    the table's row lengths learn which words matter. No text may be empty.

    `rows` holds the table rows of the query tokens and of the passage tokens, shapes
    (tokens, D); the gradients come back in the same order and shapes.
    """
    query, query_norms = normalise(rows[0])
    passage, passage_norms = normalise(rows[1])
    best, nearest = _nearest(query @ passage.T, passages)
    weight = np.where(query_norms > SHORTEST, query_norms, 0)
    owners = queries.owners
    total = np.add.reduceat(weight, queries.starts[:-1], axis=0)
    total = np.maximum(total, SHORTEST)
    scores = np.add.reduceat(weight * nearest, queries.starts[:-1], axis=0) / total
    loss, slope = _both_ways(scores / temperature)
    # d loss / d score of each query token's text, divided by the text's weight.
    pull = (slope / temperature / total)[owners]
    chosen = np.zeros((len(query), len(passage)), dtype=query.dtype)
    np.put_along_axis(chosen, best, pull * weight, axis=1)
    longer = (pull * (nearest - scores[owners])).sum(axis=1, keepdims=True)
    toward = _through_norm(chosen @ passage, query, query_norms)
    return (loss, toward + longer * query, _through_norm(chosen.T @ query, passage, passage_norms))


def normalise(vectors: Floats) -> tuple[Floats, Floats]:
    """Scale (n, D) `vectors` to length 1; returns them and their lengths (n, 1).

    Rows of zeros stay zero.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(norms > SHORTEST, vectors, 0) / np.maximum(norms, SHORTEST), norms


def _through_norm(gradient: Floats, unit: Floats, norms: Floats) -> Floats:
    """Backward of `normalise`: from the unit rows' gradient to the vectors'."""
    along = (gradient * unit).sum(axis=1, keepdims=True)
    across = (gradient - along * unit) / np.maximum(norms, SHORTEST)
    return np.where(norms > SHORTEST, across, 0).astype(gradient.dtype)


def _without_self(scores: Floats) -> Floats:
    np.fill_diagonal(scores, -np.inf)
    return scores


def _log_softmax(scores: Floats) -> Floats:
    shifted: Floats = scores - scores.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted


def _both_ways(scores: Floats) -> tuple[float, Floats]:
    """Cross entropy with the diagonal as the answer, by rows and by columns.

    `scores` is (B, B), a query a row; returns the loss and its (B, B) gradient.
    """
    size = len(scores)
    rows = _log_softmax(scores)
    columns = _log_softmax(scores.T).T
    mean = np.trace(rows) + BACKWARD * np.trace(columns)
    slope = np.exp(rows) + BACKWARD * np.exp(columns)
    np.fill_diagonal(slope, slope.diagonal() - (1 + BACKWARD))
    whole = size * (1 + BACKWARD)
    return -float(mean) / whole, slope / whole


def _nearest(cosines: Floats, passages: Bags) -> tuple[Ints, Floats]:
    """Best passage token per query token and passage.

    `cosines` is (query tokens, passage tokens); returns the winners' columns and
    their cosines, both (query tokens, passages).
    """
    spans = pairwise(passages.starts.tolist())
    winners = [cosines[:, a:b].argmax(axis=1) + a for a, b in spans]
    best = np.stack(winners, axis=1)
    return best, np.take_along_axis(cosines, best, axis=1)
