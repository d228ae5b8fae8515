"""A store that is held: what is open of it follows what is on the disk."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.memory import corpus
from memfs.memory.flow import database
from memfs.memory.kept import Kept
from memfs.ops import archive
from memfs.search import graph
from memfs.service import warmth
from memfs.service.held import Held
from memfs.store.blocks import Place
from tests.service import running


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
    assert held.opened.engine
    assert held.opened.engine.vectors
    assert held.opened.engine.vectors.graph
    assert not held.stale()


def test_until_all_is_open_a_prompt_brings_what_its_words_find(place: Place) -> None:
    archive.run(place, "Gophers dig tunnels.", importance=5, tags=(), origin=Origin())
    corpus.sync(place, embed=True)
    held = Held(place)
    assert held.stale()
    (by_words,) = held.recall(place, "where do gophers dig tunnels?", [], 2)
    assert held.stale()
    held.refresh()
    (hit,) = held.recall(place, "where do gophers dig tunnels?", [], 2)
    assert (by_words.id, by_words.text) == (hit.id, hit.text)
    assert [why.partition(" ")[0] for why in (*by_words.why, *hit.why)] == ["words:"] * 2 + [
        "meaning"
    ]


def test_the_service_listens_before_it_loads_what_searches_by_meaning() -> None:
    code = (
        "import sys; from memfs.service import server; "
        "print(*sorted({'numpy', 'usearch', 'tokenizers', 'watchdog', 'ruamel', 'hmac'} "
        "& set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_a_store_is_opened_in_a_moment_without_questions_or_at_last(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warmth, "_LULL", 30.0)
    monkeypatch.setattr(warmth, "_LONGEST", 30.0)
    made = warmth.Warmth()
    made._asked = time.monotonic()
    held = made.stores.of(place)
    time.sleep(0.2)
    assert held.stale()
    assert not made._watch._folders
    monkeypatch.setattr(warmth, "_LULL", 0.05)
    running.until(lambda: not held.stale())
    running.until(lambda: made._watch._folders)
    made.stop()

    monkeypatch.setattr(warmth, "_LONGEST", 0.1)
    made = warmth.Warmth()
    made.answer("status", [], b"")
    held = made.stores.of(place)
    while held.stale():
        made.answer("status", [], b"")
    made.stop()


def test_a_graph_of_sessions_that_cannot_be_opened_yet_is_tried_again(place: Place) -> None:
    """Who makes it may have it locked for a moment; nothing is published when that is over."""
    archive.run(place, "Gophers dig tunnels.", importance=5, tags=(), origin=Origin())
    corpus.sync(place, embed=True)
    path = Path(place.home.index, database.FILE)
    whole = path.read_bytes() if path.exists() else b""
    path.write_bytes(b"no database, and long enough to be taken for one" * 100)
    held = Held(place)
    held.refresh()
    assert [hit.text for hit in held.recall(place, "gophers dig tunnels", [], 2)]
    assert held.stale()
    path.write_bytes(whole)
    held.refresh()
    assert not held.stale()
