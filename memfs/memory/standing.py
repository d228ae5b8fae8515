"""What users stated to hold, kept at hand for the start of a session; see `store.standing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.recall import standing as found
from memfs.search.lexical import TextIndex
from memfs.store import standing

if TYPE_CHECKING:
    from memfs.store.blocks import Place


def refresh(place: Place) -> None:
    """Look in the index for what users stated, and keep it. The caller holds the index's lock."""
    text = TextIndex.open(place.home.index)
    if text is not None:
        standing.write(place.home, found.find_rules(text))
