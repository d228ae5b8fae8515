"""Topics of messages: the words that name something, without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from memfs.search import lexical, prompt_relevance
from memfs.search.stopwords import STOP

MOST = 5
_LOOKED_AT = 600  # characters of a text
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)*|[\u3040-\u30ff\u4e00-\u9fff]{2,8}")
_PLAIN = re.compile(r"[a-z]{4,24}")
_PARTS = re.compile(r"[_.-]+")
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{5,}")  # an id, or a part of one
_NAMED = 2  # weight of a name: an identifier, a file, an acronym
_FILLING = """
able above across already another around based because before better called code command committed
complete could create current currently details different does else ensure even example exactly
existing false find following found function have here include instead into like main make many
might must name needs none null output part possible project read results running same section
should simple since something string such sure than that them then there these they this those
through true type under update updated used user value well were when where whether which while
with within without work would your assistant tool
afterwards alone although always among anybody anyone away became began besides bring came caused
either enough ever everybody everyone except gave given goes gone gotten happen held keep kept knew
known less least left long longer made neither never nobody often otherwise perhaps quite rather
said several shown somebody someone sometimes somewhere together told took taken towards twice
unless upon usually went whatever whenever wherever whether whose written wrote
"""


def extract_topics(texts: Sequence[str], most: int = MOST) -> list[str]:
    """Return the common topics of related texts, the weightiest first.

    Words of the first text count twice.
    """
    weights: Counter[str] = Counter()
    for place, text in enumerate(texts):
        factor = 2 if place == 0 else 1
        for word in set(_WORD.findall(text[:_LOOKED_AT])):
            folded = word.lower().strip("._-")
            weight = 0 if _is_filling(folded) else _weight(word, folded)
            if weight:
                weights[folded] += weight * factor
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return [word for word, _ in ordered[:most]]


@cache
def _filling() -> frozenset[str]:
    """Return the words that name nothing, and their stems."""
    words = (*STOP, *_FILLING.split(), *prompt_relevance.TALK.split())
    return frozenset((*words, *lexical.stems(" ".join(words))))


@lru_cache(1 << 16)
def _is_filling(folded: str) -> bool:
    """Tell whether a word names nothing: `adding`, `now.it`."""
    known = _filling()
    return all(
        part in known or (part.isascii() and known.issuperset(lexical.stems(part)))
        for part in _PARTS.split(folded)
    )


def _weight(word: str, folded: str) -> int:
    if _HASH.fullmatch(folded):
        return 0
    if _PLAIN.fullmatch(folded):
        return 1 if word[1:] == word[1:].lower() else _NAMED
    # An acronym, an identifier, a file, or a word of another script.
    return _NAMED if len(folded) > 2 and (word[1:] != word[1:].lower() or len(folded) > 3) else 0
