"""Another embedding model, interrupted anywhere: a whole one is searched, and the next run ends it."""

import os
from functools import partial
from pathlib import Path

import pytest

from memfs.ops import archive, model
from memfs.recall import index_sources, model_config
from memfs.recall.open_store import OpenStore
from memfs.search import active_model, encoder, vector_layout
from memfs.store import config_file
from tests.faults import harness
from tests.faults.harness import DONE, EIO, ENOSPC, KILLS
from tests.faults.test_index import NATIVE
from tests.faults.world import ORIGIN, Seen, World, exercise
from tests.search.small_models import make

TEXTS = ("bread from the oven", "piano music", "a red server", "a blue loaf")
ANY = (*KILLS, ENOSPC, EIO)


@pytest.fixture
def searched(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose documents have vectors of the bundled model, and another one is wanted."""
    monkeypatch.setattr(index_sources, "_STEP", 2)
    monkeypatch.setattr(index_sources, "_PAUSE", 0)
    for text in TEXTS:
        archive.run(world.place(), text, importance=5, tags=(), origin=ORIGIN)
    step = partial(look, world, encoder.load_bundled().name)
    assert harness.run(str(world.root), [step]).status == DONE
    place = world.place()
    assert place.user
    config_file.write(place.user, "embedding", str(make(tmp_path / "mine")))
    return world


def look(world: World, *names: str) -> None:
    """Search: the vectors are of one of the models, and every document has some."""
    engine = OpenStore(world.place()).update_engine("hybrid")
    assert engine.vectors
    assert engine.vectors.encoder.name in names
    every = [address for _, address in engine.text.search(engine.text.number_query(0), 1000)]
    assert len(every) > len(TEXTS)
    assert set(engine.text.numbers(every)) <= set(engine.vectors.owners.tolist())
    hits = engine.search("bread oven", mode="semantic").hits
    assert TEXTS[0] in [hit.text for hit in hits]


def served(world: World) -> str:
    now = vector_layout.load_active_extent(world.place().home.index)
    return now.model if now else ""


def remake(world: World) -> None:
    try:
        assert index_sources.rebuild_vectors(world.place())
    except OSError as error:  # of what is derived only: it may tell of no file
        error.filename = error.filename or world.place().home.index
        raise


def wanted(world: World) -> str:
    found = model_config.load_wanted_model(world.place()).files
    assert found
    assert found.name != encoder.load_bundled().name
    return found.name


def finish(world: World, former: str, new: str) -> None:
    """Whoever comes next: a search finds all, another run ends, and the former vectors are gone."""
    look(world, former, new)
    remake(world)
    look(world, new)
    assert sorted(os.listdir(f"{world.place().home.index}/{vector_layout.FOLDER}")) == sorted(
        [new, "serving"]
    )


def check(world: World, seen: Seen[str]) -> None:
    assert served(world) in (seen.old, seen.new)
    now = vector_layout.load_active_extent(world.place().home.index)
    assert now
    assert now.documents > len(TEXTS), "what is searched has all documents"
    step = partial(finish, world, encoder.load_bundled().name, wanted(world))
    result = harness.run(str(world.root), [step])
    assert result.status == DONE, result.error


def test_a_change_of_models(searched: World) -> None:
    step = partial(remake, searched)
    assert exercise(
        searched, [step], partial(served, searched), partial(check, searched), ANY, NATIVE
    )


def configured(world: World) -> bytes:
    place = world.place()
    assert place.user
    return Path(place.user.root, "config.yaml").read_bytes()


def check_setting(world: World, seen: Seen[bytes]) -> None:
    """The setting is the old or the new one; turning off ends what was begun."""
    assert configured(world) in (seen.old, seen.new)
    if seen.fault.kind not in KILLS:
        assert not world.temporaries()
    model.use_model(world.place(), "none", lambda *_: print)
    assert b"embedding: none" in configured(world)
    assert active_model.measure_size(world.place().home.index) == 0


def test_turning_it_off(searched: World) -> None:
    step = partial(model.use_model, searched.place(), "none", lambda *_: print)
    look = partial(configured, searched)
    assert exercise(searched, [step], look, partial(check_setting, searched), ANY)
