"""How relevant texts are to queries, from 0 to 1, on one scale for all kinds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memfs.search.text_vectors import embed_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEAR = 0.5  # cosine from which on a text is wholly relevant
_WORD = re.compile(r"\w+")


def relevances(queries: Sequence[str], texts: Sequence[str], *, words: bool) -> list[float]:
    """Return the relevance of each text to the query it is nearest to.

    By the vectors of the model that ships with memfs; by words alone where `words` is set.
    """
    if not queries or not texts:
        return [0.0] * len(texts)
    if words:
        asked = [set(_WORD.findall(query.lower())) for query in queries]
        return [max(_shared(each, text) for each in asked) for text in texts]
    vectors = embed_texts([*queries, *texts])
    near = vectors[len(queries) :] @ vectors[: len(queries)].T
    return [round(float(each), 4) for each in (near.max(axis=1) / _NEAR).clip(0, 1)]


def _shared(asked: set[str], text: str) -> float:
    said = set(_WORD.findall(text.lower()))
    return round(len(asked & said) / max(1, len(asked)), 4)
