"""The words of a message as numbers that mean something in one project alone.

The database finds messages by these keys, and holds no list of words. Statistics of one project
say nothing of another: there the same word has another key.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b

from memfs.search import identifiers, lexical

_MOST = 1000  # of a message
_LONGEST = 60  # letters of a part; longer ones are no words


def list_keys(project: int, text: str) -> list[int]:
    """Return the keys of a text's stems and word parts, as signed 64-bit numbers."""
    parts = (part for part in identifiers.extract_parts(text) if len(part) <= _LONGEST)
    terms = dict.fromkeys([*sorted(lexical.stems(text)), *parts])
    return sorted(map_terms(project, list(terms)[:_MOST]).values())


def map_terms(project: int, terms: Iterable[str]) -> dict[str, int]:
    """Return the key of each term in a project."""
    hashed = _begin(project)
    found = {}
    for term in terms:
        each = hashed.copy()
        each.update(term.encode("utf-8", "replace"))
        found[term] = int.from_bytes(each.digest(), "big", signed=True)
    return found


@cache
def _begin(project: int) -> blake2b:
    return blake2b(f"{project}\0".encode(), digest_size=8)
