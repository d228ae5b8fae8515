"""An index that stays open finds what one opened anew finds, and opens nothing in vain."""

import os
import shutil
from pathlib import Path

import pytest

from memfs.files.signatures import sign_file
from memfs.recall import index_sources
from memfs.recall.open_store import OpenStore
from memfs.search import hnsw
from memfs.search.request import Filter
from memfs.store import archive, lock
from memfs.store.blocks import Place
from memfs.store.store_paths import Store


@pytest.fixture
def store(place: Place) -> Store:
    assert place.project
    return place.project


def texts(kept: OpenStore, query: str = "marmalade", mode: str = "hybrid") -> set[str]:
    engine = kept.update_engine("text" if mode == "text" else "hybrid")
    found = engine.search(query, mode="text" if mode == "text" else "hybrid", limit=50)
    return {hit.text for hit in found.hits if query in hit.text.lower()}


def keep(store: Store, *bodies: str) -> None:
    for body in bodies:
        archive.write_passage(store, body, importance=5, tags=())


def test_a_second_search_opens_nothing(place: Place, store: Store) -> None:
    keep(store, "Marmalade is kept cold.")
    kept = OpenStore(place)
    first = kept.update_engine("hybrid")
    lists = sign_file(f"{place.home.index}/catalog.sqlite")
    assert kept.update_engine("hybrid") is first
    assert kept.update_engine("text") is first
    assert sign_file(f"{place.home.index}/catalog.sqlite") == lists


def test_what_is_new_or_gone_is_known_at_once(place: Place, store: Store) -> None:
    kept = OpenStore(place)
    assert texts(kept) == set()
    keep(store, "Marmalade is kept cold.")
    assert texts(kept, mode="text") == {"Marmalade is kept cold."}
    keep(store, "Marmalade on toast")
    assert texts(kept) == {"Marmalade is kept cold.", "Marmalade on toast"}
    for path in archive.sources(store):
        Path(path).unlink()
    assert texts(kept) == set()


def test_what_another_process_indexed_is_known(place: Place, store: Store) -> None:
    kept = OpenStore(place)
    assert texts(kept) == set()
    keep(store, "Marmalade is kept cold.")
    index_sources.sync(place, embed=True)
    assert texts(kept) == {"Marmalade is kept cold."}


def test_a_search_by_words_first_does_not_keep_vectors_away(place: Place, store: Store) -> None:
    keep(store, "Marmalade is kept cold.")
    kept = OpenStore(place)
    assert kept.update_engine("text").vectors is None
    vectors = kept.update_engine("hybrid").vectors
    assert vectors
    assert (
        vectors.extent.rows == len(archive.sources(store)) + len(index_sources.sources(place)) - 1
    )


def test_what_is_warm_stays_so_as_the_index_grows(
    place: Place, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hnsw, "FEWEST", 5)
    keep(store, *(f"Marmalade number {n} is kept on shelf {n * 7}" for n in range(20)))
    kept = OpenStore(place)
    told: list[int] = []
    kept.warm(told.append)
    before = kept.update_engine("hybrid").vectors
    assert before
    assert before.graph
    assert sum(told) == before.extent.rows
    keep(store, "Marmalade that came later")
    assert "Marmalade that came later" in texts(kept)
    after = kept.update_engine("hybrid").vectors
    assert after
    assert after is not before
    assert after.graph is before.graph
    shutil.rmtree(place.home.index)
    assert len(texts(kept)) == 21
    anew = kept.update_engine("hybrid").vectors
    assert anew
    assert anew.graph is None, "other rows"


def test_a_graph_that_another_process_makes_is_not_made_twice(
    place: Place, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hnsw, "FEWEST", 5)
    keep(store, *(f"Marmalade number {n} is kept on shelf {n * 7}" for n in range(20)))
    with lock.hold_lock(place.home, 0, lock.VECTOR_GRAPH):
        OpenStore(place).warm()
    assert not list(Path(place.home.index).rglob("graph*"))
    OpenStore(place).warm()
    assert len(list(Path(place.home.index).rglob("graph*"))) == 2
    kept = OpenStore(place)
    with lock.hold_lock(place.home, 0, lock.VECTOR_GRAPH):
        kept.warm()
    vectors = kept.update_engine("hybrid").vectors
    assert vectors
    assert vectors.graph, "it is used"


def test_it_is_said_that_the_newest_may_be_missing(place: Place, store: Store) -> None:
    kept = OpenStore(place)
    keep(store, "Marmalade is kept cold.")
    with lock.hold_lock(place.home, name=lock.INDEX):
        assert texts(kept) == set()
        assert "another process is indexing" in kept.note
    assert texts(kept) == {"Marmalade is kept cold."}
    assert kept.note == ""


def test_a_passage_that_was_written_by_hand_is_of_the_time_of_its_file(
    place: Place, store: Store
) -> None:
    folder = Path(store.root, "archive/mine")
    folder.mkdir(parents=True)
    (folder / "plain.md").write_text("Marmalade by hand\n")
    (folder / "odd.md").write_text(
        "---\ntags: red, blue\ncreated_at: some day\n---\nMarmalade, odd\n"
    )
    (folder / "wide.md").write_bytes("---\ntags: [red]\n---\nMarmalade, wide\n".encode("utf-16"))
    for path in folder.iterdir():
        os.utime(path, (1_760_000_000, 1_760_000_000))
    kept = OpenStore(place)
    assert texts(kept) == {"Marmalade by hand", "Marmalade, odd", "Marmalade, wide"}
    engine = kept.update_engine("text")
    for only, count in (
        (Filter(since=1_759_999_999, until=1_760_000_001), 3),
        (Filter(until=1_759_999_999), 0),
        (Filter(tags=("red",)), 2),
        (Filter(tags=("blue",)), 1),
    ):
        assert engine.search("marmalade", mode="text", only=only).total == count
    assert {hit.at for hit in engine.search("marmalade").hits} == {"2025-10-09T08:53:20Z"}


def test_a_store_without_anything_is_searched_and_so_is_one_that_lost_all(
    place: Place, store: Store
) -> None:
    for path in Path(store.root, "blocks").iterdir():
        path.unlink()
    place = Place(store, None)
    kept = OpenStore(place)
    assert texts(kept, mode="text") == set()
    assert kept.note == ""
    keep(store, "Marmalade is kept cold.")
    assert texts(kept, mode="text") == {"Marmalade is kept cold."}
    for source in archive.sources(store):
        Path(source).unlink()
    assert texts(kept, mode="text") == set()
    assert kept.note == ""
