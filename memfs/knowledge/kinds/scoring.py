"""Hits as what a kind found, and the relevance of texts from 0 to 1 on one scale for all kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memfs.core.records import Hit
from memfs.knowledge.kinds.protocol import Found
from memfs.search.text_vectors import embed_texts

if TYPE_CHECKING:
    from memfs.search.engine import Engine, Mode


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


def convert_hit(hit: Hit, relevance: float) -> Found:
    """Convert a hit to a retrieved item; turns of one session and day have the same group."""
    own = {"why": hit.why, "tags": hit.tags, "session": hit.session, "score": hit.score}
    metadata = {**hit.metadata, **own}
    if hit.kind == "message":
        who = f"({hit.host})" if hit.host else ""
        head = " ".join(part for part in (hit.at[:10], "session", hit.session, who) if part)
        group = f"{hit.host}/{hit.session}/{hit.at[:10]}"
        return Found(hit.id, hit.kind, hit.text, relevance, hit.at, hit.who, group, head, metadata)
    name = f"{hit.kind} {hit.label}" if hit.label else f"{hit.at[:10]}, {hit.kind} {hit.id}"
    return Found(hit.id, hit.kind, hit.text, relevance, hit.at, "", hit.id, name, metadata)


def mode(engine: Engine) -> Mode:
    """Return the search mode of an engine: by words alone if it has no vectors."""
    return "text" if engine.vectors is None else "hybrid"
