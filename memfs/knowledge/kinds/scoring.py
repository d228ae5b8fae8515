"""Relevance of texts to queries, from 0 to 1, on one scale for all kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memfs.search.text_vectors import embed_texts

_NEAR = 0.5  # cosine of a text with relevance 1
_WORD = re.compile(r"\w+")


def relevances(queries: Sequence[str], texts: Sequence[str], *, words: bool) -> list[float]:
    """Return the relevance of each text to its nearest query.

    Compares vectors of the bundled model, or with `words` only words.
    """
    if not queries or not texts:
        return [0.0] * len(texts)
    if words:
        sets = [set(_WORD.findall(query.lower())) for query in queries]
        return [max(_score_words(each, text) for each in sets) for text in texts]
    vectors = embed_texts([*queries, *texts])
    near = vectors[len(queries) :] @ vectors[: len(queries)].T
    return [round(float(each), 4) for each in (near.max(axis=1) / _NEAR).clip(0, 1)]


def _score_words(query: set[str], text: str) -> float:
    words = set(_WORD.findall(text.lower()))
    return round(len(query & words) / max(1, len(query)), 4)
