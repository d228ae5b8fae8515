"""Indexing, interrupted anywhere: the next run has each document once, with its vector."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from memfs.ingest import transcripts
from memfs.ingest.transcripts import Tally
from memfs.ops import archive
from memfs.recall import index_sources
from memfs.search import encoder, semantic
from memfs.search.catalog import Catalog
from memfs.search.lexical import TextIndex
from memfs.store import lock
from tests.faults import harness
from tests.faults.harness import DONE, EIO, KILLS
from tests.faults.world import ORIGIN, Seen, World, exercise
from tests.hosts.transcript_lines import conversation

# SQLite and tantivy write by themselves.
NATIVE = [
    (Catalog, "put"),
    (Catalog, "publish"),
    (Catalog, "clear"),
    (TextIndex, "create"),
    (TextIndex, "add"),
    (TextIndex, "delete"),
    (TextIndex, "delete_matching"),
    (TextIndex, "commit"),
]


def ingest(world: World, data: bytes) -> None:
    store = world.place().home
    path = world.root / "t.jsonl"
    path.write_bytes(data)
    with lock.hold_lock(store, name=lock.INGEST):
        transcripts.ingest_transcripts(store, [str(path)], Tally())


def sync(world: World) -> None:
    try:
        assert index_sources.sync(world.place(), embed=True)
    except OSError as error:  # of what is derived only: it may tell of no file
        error.filename = error.filename or world.place().home.index
        raise


def verify(world: World) -> None:
    """Index again; every document of every source is found once, and so is its vector."""
    sync(world)
    place = world.place()
    text = TextIndex.open(place.home.index)
    assert text
    found = [text.read_fields(address) for _, address in text.search(text.number_query(0), 1000)]
    wanted = [
        each["id"]
        for one in index_sources.sources(place)
        for each in index_sources.make_documents(one, 0)
    ]
    assert Counter(str(each["id"][0]) for each in found) == Counter(map(str, wanted))
    vectors = semantic.VectorIndex(place.home.index, encoder.load_bundled())
    rows = Counter(vectors.owners.tolist())
    assert {rows[int(str(each["num"][0]))] for each in found} == {1}
    assert list(vectors.owners) == sorted(vectors.owners)


def check(world: World, _: Seen[None]) -> None:
    """The parent keeps out of tantivy, which has threads: a child looks."""
    result = harness.run(str(world.root), [partial(verify, world)])
    assert result.status == DONE, result.error


@pytest.fixture
def searched(world: World) -> World:
    encoder.load_bundled()
    ingest(world, conversation(4))
    archive.run(
        world.place(), "Green tea is best at 70 degrees.", importance=5, tags=(), origin=ORIGIN
    )
    return world


def test_a_first_index(searched: World) -> None:
    step = partial(sync, searched)
    assert exercise(searched, [step], lambda: None, partial(check, searched), KILLS, NATIVE)


@pytest.mark.parametrize("kinds", [KILLS, (EIO,)], ids=["kills", "errors"])
def test_an_index_that_follows(searched: World, kinds: Sequence[str]) -> None:
    """A session grew, a block was changed, a passage was removed."""
    assert harness.run(str(searched.root), [partial(sync, searched)]).status == DONE
    ingest(searched, conversation(6))
    [passage] = Path(searched.place().home.root, "archive").rglob("*.md")
    passage.unlink()
    step = partial(sync, searched)
    assert exercise(searched, [step], lambda: None, partial(check, searched), kinds, NATIVE)
