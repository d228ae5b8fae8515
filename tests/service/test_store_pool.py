"""A store that is held: what is open of it follows what is on the disk."""

import os
import threading
import time
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.hosts import claude_transcript
from memfs.ops import archive
from memfs.recall import index_sources, prompts
from memfs.recall.open_store import OpenStore
from memfs.search import hnsw
from memfs.search.request import Filter
from memfs.service import app
from memfs.store import spool, store_paths
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import user
from tests.service import running


def test_a_graph_that_was_made_is_opened(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("Gophers dig tunnels.", "Badgers sleep all day."):
        archive.run(place, text, importance=5, tags=(), origin=Origin())
    index_sources.sync(place, embed=True)
    held = OpenStore(place)
    held.refresh()
    held.refresh()
    assert not held.is_stale()
    monkeypatch.setattr(hnsw, "FEWEST", 1)
    OpenStore(place).load_graph()
    assert held.is_stale()
    held.refresh()
    assert held.engines
    assert held.engines[0].vectors
    assert held.engines[0].vectors.graph
    assert not held.is_stale()


def test_until_all_is_open_a_prompt_brings_what_its_words_find(place: Place) -> None:
    archive.run(place, "Gophers dig tunnels.", importance=5, tags=(), origin=Origin())
    index_sources.sync(place, embed=True)
    held = OpenStore(place)
    assert held.is_stale()
    (by_words,) = prompts.recall(place, held.engines, "where do gophers dig tunnels?", [], 2).found
    assert held.is_stale()
    held.refresh()
    (hit,) = prompts.recall(place, held.engines, "where do gophers dig tunnels?", [], 2).found
    assert (by_words.id, by_words.snippet) == (hit.id, hit.snippet)
    assert by_words.kind != "message"
    assert hit.kind != "message"
    assert [why.partition(" ")[0] for why in (*by_words.why, *hit.why)] == ["words:"] * 2


def test_a_store_is_opened_in_a_moment_without_questions_or_at_last(place: Place) -> None:
    made = app.Service(lull=running.LONG, longest=2 * running.LONG)
    made.answer("status", [], b"")
    held = made.stores.for_place(place)
    time.sleep(0.2)
    assert held.is_stale()
    assert not made._watch.watched
    made._asked = 0.0  # it is long ago
    running.until(lambda: not held.is_stale())
    running.until(lambda: made._watch.watched)
    made.stop()

    made = app.Service(longest=0.1)
    made.answer("status", [], b"")
    held = made.stores.for_place(place)
    while held.is_stale():
        made.answer("status", [], b"")
    made.stop()


def test_a_store_that_is_not_trusted_any_more_is_let_go_of_and_not_read(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    assert place.project
    made = app.Service()
    held = made.stores.for_place(place)
    running.until(lambda: os.path.isdir(place.home.index) and not made.status()["work"])
    held.refresh()
    before = held.engines
    Path(store_paths.trust_folder(place.project), "token").unlink()
    path = tmp_path / "t.jsonl"
    path.write_bytes(user("gophers dig tunnels", "u1", cwd=str(repo)))
    spool.write_note(place.home, "claude", str(path))
    made.work.add(held, {str(path)}, everything=True)
    running.until(lambda: not made.status()["work"])
    assert spool.list_notes(place.home)
    assert not list(Path(place.home.local).glob("recall/**/*.jsonl"))
    made.stores.refresh(held)
    assert held.engines is before
    made.check_stores()
    running.until(lambda: not made.stores.list_stores())
    made.stop()


def test_a_store_whose_disk_does_not_answer_keeps_no_other_waiting(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def gone(_: OpenStore) -> bool:
        hangs.set()
        return not goes_on.wait(60)

    made = app.Service()
    monkeypatch.setattr(app, "is_gone", gone)
    held = made.stores.for_place(place)
    made.check_stores()
    hangs.wait(60)
    made.check_stores()  # returns, as the one before did
    assert made.stores.for_place(place) is held
    goes_on.set()
    running.until(made.check_stores)
    made.stop()


def test_links_in_a_repository_that_lead_out_of_it_are_not_followed(
    place: Place, tmp_path: Path
) -> None:
    assert place.project
    (tmp_path / "large").mkdir()
    root = Path(place.project.root)
    (root / "facts").symlink_to(tmp_path / "large")
    (root / "static").symlink_to("archive")
    found = app.list_folders(OpenStore(place))
    assert f"{root}/facts" not in found
    assert f"{root}/static" not in found
    local = place.home.local
    assert {f"{root}/blocks", f"{local}/inbox", f"{local}/facts"} <= {*found}


def test_what_was_said_while_nobody_looked_is_read_when_a_store_is_held(
    place: Place, repo: Path, home: Path
) -> None:
    """The service was killed right after a line came, and the session says no more."""
    [folder, *_] = claude_transcript.READER.list_folders(str(home), str(repo))
    Path(folder).mkdir(parents=True)
    new, old = Path(folder, "new.jsonl"), Path(folder, "old.jsonl")
    for path in (new, old):
        path.write_bytes(user(f"gophers dig {path.name}", path.name, cwd=str(repo)))
    os.utime(old, (time.time() - 10 * 86400,) * 2)
    made = app.Service()
    made.stores.for_place(place)

    def texts() -> list[str]:
        page = OpenStore(place).get_engine("text").list_by_time(Filter(kinds=("message",)))
        return [hit.text for hit in page.hits]

    running.until(lambda: texts() == ["gophers dig new.jsonl"])
    made.stop()
