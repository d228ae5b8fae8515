"""A changed model: the former one serves until all documents have vectors of the new one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memfs.core.errors import LockedError, StoreError
from memfs.memory import corpus, coverage, models, reembed
from memfs.memory.kept import Kept
from memfs.search import encoder, extents, modelfiles, serving
from memfs.store import archive, lock
from memfs.store.blocks import Place
from memfs.store.layout import Store
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
        archive.add(store, text, importance=5, tags=())


def configure(place: Place, value: object) -> None:
    assert place.user
    Path(place.user.root, "config.yaml").write_text(f"memfs: 1\nembedding: {value}\n")


def name(place: Place) -> str:
    now = extents.served(place.home.index)
    return now.model if now else ""


def searched(kept: Kept) -> str:
    """The name of the model whose vectors a search looks into, "" for words alone."""
    vectors = kept.engine("hybrid").vectors
    return vectors.encoder.name if vectors else ""


def wait(place: Place, model: Path) -> None:
    """Wait for the background: no test leaves a process behind."""
    deadline = time.monotonic() + 60
    while name(place) != modelfiles.read(str(model)).name or reembed.running(place.home):
        assert time.monotonic() < deadline, reembed.failure(place.home)
        time.sleep(0.02)


@pytest.fixture
def indexed(place: Place, store: Store) -> Kept:
    keep(store, *TEXTS)
    kept = Kept(place)
    assert searched(kept) == encoder.bundled().name == name(place)
    return kept


def test_few_documents_get_their_vectors_in_the_search(
    place: Place, indexed: Kept, mine: Path
) -> None:
    configure(place, mine)
    new = modelfiles.read(str(mine)).name
    assert searched(indexed) == new == name(place)
    assert searched(Kept(place)) == new
    assert indexed.engine("hybrid").search("oven", mode="semantic").hits[0].text == TEXTS[0]
    assert not Path(place.home.index, "v3/vectors", encoder.bundled().name).exists()
    assert not Path(place.home.local, reembed.LOCK).exists(), "nobody else was asked"
    configure(place, "bundled")
    assert searched(indexed) == encoder.bundled().name


def test_many_are_left_to_the_background_and_the_former_model_serves(
    place: Place, store: Store, indexed: Kept, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "FEW", 2)
    started: list[Place] = []
    monkeypatch.setattr(reembed, "start", started.append)
    configure(place, mine)
    assert searched(indexed) == encoder.bundled().name == searched(Kept(place))
    assert started
    assert all(each is place for each in started)
    keep(store, "a blue piano that came meanwhile")
    found = indexed.engine("hybrid").search("blue piano", mode="hybrid").hits
    assert "a blue piano that came meanwhile" in [hit.text for hit in found], "by its words"
    assert extents.extent(place.home.index, modelfiles.read(str(mine)).name).documents == 0
    look = coverage.look(place)
    assert (look.share, look.former, look.running) == (0.0, modelfiles.BUNDLED, False)
    told: list[int] = []
    assert reembed.run(place, told.append)
    assert sum(told) == coverage.look(place).documents
    assert searched(indexed) == modelfiles.read(str(mine)).name == searched(Kept(place))
    assert (
        indexed.engine("hybrid")
        .search("blue piano", mode="semantic")
        .hits[0]
        .text.endswith("while")
    )
    assert coverage.look(place).share == 1.0


def test_the_background_makes_them_and_ends(
    place: Place, store: Store, indexed: Kept, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "FEW", 2)
    configure(place, mine)
    assert searched(indexed) == encoder.bundled().name
    wait(place, mine)
    assert reembed.failure(store) == ""
    assert searched(indexed) == modelfiles.read(str(mine)).name


def test_a_hook_that_indexes_starts_it_too(
    place: Place, store: Store, indexed: Kept, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "FEW", 2)
    configure(place, mine)
    assert corpus.sync(place, embed=False)
    wait(place, mine)


def test_one_at_a_time(place: Place, indexed: Kept, mine: Path) -> None:
    configure(place, mine)
    with lock.hold(place.home, 0, reembed.LOCK):
        assert reembed.running(place.home)
        assert not reembed.start(place)
        with pytest.raises(LockedError):
            reembed.run(place)
    assert not reembed.running(place.home)


def test_a_run_that_is_killed_is_gone_on_with(
    place: Place, store: Store, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, *(f"bread number {n} from the oven {n * 3}" for n in range(120)))
    kept = Kept(place)
    assert searched(kept)
    configure(place, mine)
    new = modelfiles.read(str(mine)).name
    code = "import sys; from memfs.memory import reembed; reembed._STEP = 5; reembed.behind(*sys.argv[1:])"
    assert place.user
    command = [sys.executable, "-c", code, store.root, place.user.root]
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while extents.extent(store.index, new).documents < 20:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = extents.extent(store.index, new).documents
    assert 20 <= done < 120
    assert name(place) == encoder.bundled().name
    told: list[int] = []
    assert reembed.run(place, told.append)
    assert sum(told) <= coverage.look(place).documents - done + 1
    assert name(place) == new
    assert searched(kept) == new


def test_another_model_that_is_wanted_meanwhile_is_gone_on_with(
    place: Place, indexed: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = make(tmp_path / "one", seed=1), make(tmp_path / "two", seed=2)
    monkeypatch.setattr(reembed, "_STEP", 2)
    configure(place, one)
    told: list[int] = []

    def tick(more: int) -> None:
        told.append(more)
        configure(place, two)

    assert reembed.run(place, tick)
    assert name(place) == modelfiles.read(str(two)).name
    assert sorted(os.listdir(f"{place.home.index}/v3/vectors")) == sorted([name(place), "serving"])


def test_what_is_wrong_with_a_model_is_told_and_words_find(
    place: Place, indexed: Kept, mine: Path
) -> None:
    configure(place, mine)
    (mine / "model.safetensors").write_bytes(b"")
    assert searched(indexed) == encoder.bundled().name, "the former model is there"
    assert "by the vectors of the former model" in indexed.note
    assert str(mine) in indexed.note
    shutil.rmtree(place.home.index)
    kept = Kept(place)
    assert searched(kept) == ""
    assert "by words alone" in kept.note
    assert kept.engine("hybrid").search("oven", mode="text").hits
    with pytest.raises(StoreError):
        reembed.run(place)
    shutil.rmtree(mine)
    make(mine)
    assert searched(kept) == modelfiles.read(str(mine)).name, "it was mended"
    assert kept.note == ""


def test_a_tokenizer_that_cannot_be_read_leaves_words(
    place: Place, store: Store, mine: Path
) -> None:
    keep(store, *TEXTS)
    (mine / "tokenizer.json").write_text("{}")
    configure(place, mine)
    kept = Kept(place)
    assert searched(kept) == ""
    assert "tokenizer.json cannot be read" in kept.note


def test_a_former_model_that_is_gone_leaves_words_until_the_new_one_is_ready(
    place: Place, store: Store, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, *TEXTS)
    configure(place, mine)
    kept = Kept(place)
    assert searched(kept)
    shutil.rmtree(mine)
    monkeypatch.setattr(models, "FEW", 2)
    monkeypatch.setattr(reembed, "start", lambda _: False)
    configure(place, "bundled")
    assert searched(kept) == ""
    assert "until bundled has been through all" in kept.note
    assert reembed.run(place)
    assert searched(kept) == encoder.bundled().name
    assert kept.note == ""


def test_none_leaves_vectors_and_makes_none(place: Place, store: Store, indexed: Kept) -> None:
    before = serving.size(place.home.index)
    configure(place, "none")
    keep(store, "a late loaf")
    engine = indexed.engine("hybrid")
    assert engine.search("late", mode="text").hits[0].text == "a late loaf"
    assert serving.size(place.home.index) == before > 0
    assert not reembed.run(place)
    fresh = Kept(place)
    assert fresh.engine("hybrid").vectors is None
    assert fresh.note == ""
    configure(place, "bundled")
    assert searched(fresh) == encoder.bundled().name
    assert coverage.look(place).share == 1.0


def test_a_failure_in_the_background_is_kept_and_it_is_not_tried_again_at_once(
    place: Place, store: Store, indexed: Kept, mine: Path
) -> None:
    configure(place, mine)
    (mine / "model.safetensors").unlink()
    assert place.user
    code = "import sys; from memfs.memory import reembed; reembed.behind(*sys.argv[1:])"
    subprocess.run([sys.executable, "-c", code, store.root, place.user.root], check=True)
    assert "there is no file model.safetensors" in reembed.failure(store)
    assert coverage.look(place).failure == reembed.failure(store)
    assert not reembed.start(place)


def test_an_index_that_is_removed_meanwhile_ends_it(
    place: Place, indexed: Kept, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(place, mine)
    monkeypatch.setattr(reembed, "_STEP", 2)
    assert not reembed.run(place, lambda _: shutil.rmtree(place.home.index, ignore_errors=True))
