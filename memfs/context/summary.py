"""Extractive summaries without a model: the most important sentences of a text, in their order."""

import re
from collections.abc import Sequence

from memfs.core.privacy import excerpt
from memfs.core.tokens import estimate
from memfs.search.text_vectors import embed_texts

_SENTENCES = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_MOST = 2000  # sentences that are looked at
_LONGEST = 600  # characters of one
_ALIKE = 0.92  # cosine from which on two say the same
_DECIDED = re.compile(
    r"\b(decid|prefer|always|never|must|should|instead|because|important|remember|agreed|choos|"
    r"chose|fixed|cause|name is|works? (?:at|on)|deadline|todo)",
    re.IGNORECASE,
)


def extract(text: str, room: int, about: str = "") -> str:
    """Return the most important sentences, or those nearest to `about`, in `room` tokens."""
    found = sentences(text)
    if not found or room <= 0:
        return ""
    order = _rank(found, about)
    chosen: list[int] = []
    left = room
    for place in order:
        cost = estimate(found[place]) + 1
        if cost <= left:
            chosen.append(place)
            left -= cost
    return "\n".join(found[place] for place in sorted(chosen))


def sentences(text: str) -> list[str]:
    """Split a text into sentences, or lines."""
    found = [part.strip() for part in _SENTENCES.split(text)]
    worded = [part for part in found if any(map(str.isalnum, part))]
    kept = list(dict.fromkeys(excerpt(part, _LONGEST) for part in worded))
    return kept[:_MOST] if len(kept) <= _MOST else kept[: _MOST // 2] + kept[-_MOST // 2 :]


def _rank(found: Sequence[str], about: str) -> list[int]:
    """Return the indexes of sentences, the most important one first; repetitions come last."""
    vectors = embed_texts(found)
    middle = embed_texts([about])[0] if about else vectors.mean(axis=0)
    near = vectors @ (middle / max(float(middle @ middle) ** 0.5, 1e-9))
    scores = [
        float(near[place])
        + 0.25 * (not about and bool(_DECIDED.search(text)))
        + 0.1 * (not about and place < 3)
        - 0.2 * (len(text) < 20)
        for place, text in enumerate(found)
    ]
    order = sorted(range(len(found)), key=lambda place: -scores[place])
    chosen: list[int] = []
    repeated: list[int] = []
    for place in order:
        same = chosen and float((vectors[chosen] @ vectors[place]).max()) > _ALIKE
        (repeated if same else chosen).append(place)
    return [*chosen, *repeated]
