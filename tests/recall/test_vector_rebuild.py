"""A changed model: the former one serves until all documents have vectors of the new one."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.errors import LockedError, StoreError
from memfs.recall import index_sources, model_config
from memfs.recall.open_store import OpenStore
from memfs.search import active_model, encoder, model_files, vector_layout
from memfs.store import archive, lock
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.search.small_models import make

TEXTS = ("bread from the oven", "piano music", "a red server", "a blue loaf")


@pytest.fixture
def store(place: Place) -> Store:
    assert place.project
    return place.project


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return make(tmp_path / "mine")


def keep(store: Store, *texts: str) -> None:
    for text in texts:
        archive.write_passage(store, text, importance=5, tags=())


def configure(place: Place, value: object) -> None:
    assert place.user
    Path(place.user.root, "config.yaml").write_text(f"memfs: 1\nembedding: {value}\n")


def name(place: Place) -> str:
    now = vector_layout.load_active_extent(place.home.index)
    return now.model if now else ""


def searched(kept: OpenStore) -> str:
    """The name of the model whose vectors a search looks into, "" for words alone."""
    vectors = kept.update_engine("hybrid").vectors
    return vectors.encoder.name if vectors else ""


@pytest.fixture
def indexed(place: Place, store: Store) -> OpenStore:
    keep(store, *TEXTS)
    kept = OpenStore(place)
    assert searched(kept) == encoder.load_bundled().name == name(place)
    return kept


def test_few_documents_get_their_vectors_in_the_search(
    place: Place, indexed: OpenStore, mine: Path
) -> None:
    configure(place, mine)
    new = model_files.read(str(mine)).name
    assert searched(indexed) == new == name(place)
    assert searched(OpenStore(place)) == new
    assert indexed.update_engine("hybrid").search("oven", mode="semantic").hits[0].text == TEXTS[0]
    assert not Path(place.home.index, "v5/vectors", encoder.load_bundled().name).exists()
    assert not Path(place.home.local, lock.VECTORS).exists(), "nobody else was asked"
    configure(place, "bundled")
    assert searched(indexed) == encoder.load_bundled().name


def test_many_are_left_and_the_former_model_serves(
    place: Place, store: Store, indexed: OpenStore, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_config, "FEW", 2)
    configure(place, mine)
    assert searched(indexed) == encoder.load_bundled().name == searched(OpenStore(place))
    assert indexed.note == (
        f"searched with the previous model; to search with '{mine}', run memfs ingest"
    )
    keep(store, "a blue piano that came meanwhile")
    found = indexed.update_engine("hybrid").search("blue piano", mode="hybrid").hits
    assert "a blue piano that came meanwhile" in [hit.text for hit in found], "by its words"
    assert (
        vector_layout.load_extent(place.home.index, model_files.read(str(mine)).name).documents == 0
    )
    look = model_config.load_status(place)
    assert (look.share, look.former) == (0.0, model_files.BUNDLED)
    told: list[int] = []
    assert index_sources.rebuild_vectors(place, told.append)
    assert sum(told) == model_config.load_status(place).documents
    assert searched(indexed) == model_files.read(str(mine)).name == searched(OpenStore(place))
    assert (
        indexed.update_engine("hybrid")
        .search("blue piano", mode="semantic")
        .hits[0]
        .text.endswith("while")
    )
    assert model_config.load_status(place).share == 1.0


def test_one_at_a_time(place: Place, indexed: OpenStore, mine: Path) -> None:
    configure(place, mine)
    with lock.hold_lock(place.home, 0, lock.VECTORS):
        with pytest.raises(LockedError):
            index_sources.rebuild_vectors(place)
    assert index_sources.rebuild_vectors(place)


def test_a_run_that_is_killed_is_gone_on_with(
    place: Place, store: Store, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, *(f"bread number {n} from the oven {n * 3}" for n in range(120)))
    kept = OpenStore(place)
    assert searched(kept)
    configure(place, mine)
    new = model_files.read(str(mine)).name
    code = (
        "import sys; from memfs.recall import index_sources; from memfs.store import blocks\n"
        "index_sources._STEP = 5; index_sources.rebuild_vectors(blocks.find_place(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", code, place.home.top]
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while vector_layout.load_extent(store.index, new).documents < 20:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = vector_layout.load_extent(store.index, new).documents
    assert 20 <= done < 120
    assert name(place) == encoder.load_bundled().name
    told: list[int] = []
    assert index_sources.rebuild_vectors(place, told.append)
    assert sum(told) <= model_config.load_status(place).documents - done + 1
    assert name(place) == new
    assert searched(kept) == new


def test_another_model_that_is_wanted_meanwhile_is_gone_on_with(
    place: Place, indexed: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = make(tmp_path / "one", seed=1), make(tmp_path / "two", seed=2)
    monkeypatch.setattr(index_sources, "_STEP", 2)
    configure(place, one)
    told: list[int] = []

    def tick(more: int) -> None:
        told.append(more)
        configure(place, two)

    assert index_sources.rebuild_vectors(place, tick)
    assert name(place) == model_files.read(str(two)).name
    assert sorted(os.listdir(f"{place.home.index}/v5/vectors")) == sorted([name(place), "serving"])


def test_what_is_wrong_with_a_model_is_told_and_words_find(
    place: Place, indexed: OpenStore, mine: Path
) -> None:
    configure(place, mine)
    (mine / "model.safetensors").write_bytes(b"")
    assert searched(indexed) == encoder.load_bundled().name, "the former model is there"
    assert "with the previous model" in indexed.note
    assert str(mine) in indexed.note
    shutil.rmtree(place.home.index)
    kept = OpenStore(place)
    assert searched(kept) == ""
    assert "by words alone" in kept.note
    assert kept.update_engine("hybrid").search("oven", mode="text").hits
    with pytest.raises(StoreError):
        index_sources.rebuild_vectors(place)
    shutil.rmtree(mine)
    make(mine)
    assert searched(kept) == model_files.read(str(mine)).name, "it was mended"
    assert kept.note == ""


def test_a_tokenizer_that_cannot_be_read_leaves_words(
    place: Place, store: Store, mine: Path
) -> None:
    keep(store, *TEXTS)
    (mine / "tokenizer.json").write_text("{}")
    configure(place, mine)
    kept = OpenStore(place)
    assert searched(kept) == ""
    assert "tokenizer.json cannot be read" in kept.note


def test_a_former_model_that_is_gone_leaves_words_until_the_new_one_is_ready(
    place: Place, store: Store, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, *TEXTS)
    configure(place, mine)
    kept = OpenStore(place)
    assert searched(kept)
    shutil.rmtree(mine)
    monkeypatch.setattr(model_config, "FEW", 2)
    configure(place, "bundled")
    assert searched(kept) == ""
    assert "to search by meaning with 'bundled', run memfs ingest" in kept.note
    assert index_sources.rebuild_vectors(place)
    assert searched(kept) == encoder.load_bundled().name
    assert kept.note == ""


def test_none_leaves_vectors_and_makes_none(place: Place, store: Store, indexed: OpenStore) -> None:
    before = active_model.measure_size(place.home.index)
    configure(place, "none")
    keep(store, "a late loaf")
    engine = indexed.update_engine("hybrid")
    assert engine.search("late", mode="text").hits[0].text == "a late loaf"
    assert active_model.measure_size(place.home.index) == before > 0
    assert not index_sources.rebuild_vectors(place)
    fresh = OpenStore(place)
    assert fresh.update_engine("hybrid").vectors is None
    assert fresh.note == ""
    configure(place, "bundled")
    assert searched(fresh) == encoder.load_bundled().name
    assert model_config.load_status(place).share == 1.0


def test_an_index_that_is_removed_meanwhile_ends_it(
    place: Place, indexed: OpenStore, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(place, mine)
    monkeypatch.setattr(index_sources, "_STEP", 2)
    assert not index_sources.rebuild_vectors(
        place, lambda _: shutil.rmtree(place.home.index, ignore_errors=True)
    )


def test_ingest_makes_many_in_front_of_somebody(
    place: Place, indexed: OpenStore, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_config, "FEW", 2)
    configure(place, mine)
    told: dict[str, int] = {}

    def stage(name: str, total: int) -> Callable[[int], object]:
        told[name] = total
        return lambda _: None

    assert index_sources.sync(place, embed=True, stage=stage)
    assert told["embedding"] >= len(TEXTS)
    assert name(place) == model_files.read(str(mine)).name
    assert indexed.note == ""
