"""A store that is held: what is open of it follows what is on the disk."""

from __future__ import annotations

import pytest

from memfs.core.records import Origin
from memfs.memory import corpus
from memfs.memory.kept import Kept
from memfs.ops import archive
from memfs.search import graph
from memfs.service.held import Held
from memfs.store.blocks import Place


def test_a_graph_that_was_made_is_opened(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("Gophers dig tunnels.", "Badgers sleep all day."):
        archive.run(place, text, importance=5, tags=(), origin=Origin())
    corpus.sync(place, embed=True)
    held = Held(place)
    held.refresh()
    held.refresh()
    assert not held.stale()
    monkeypatch.setattr(graph, "FEWEST", 1)
    Kept(place).graph()
    assert held.stale()
    held.refresh()
    assert held._engine
    assert held._engine.vectors
    assert held._engine.vectors.graph
    assert not held.stale()
