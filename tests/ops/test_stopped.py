"""Work that its user stops: what was done until then is kept, and the next run does the rest."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.errors import StoppedError
from memfs.ingest.transcripts import Tally
from memfs.ops import ingest
from memfs.ops.ingest import IngestPlan
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import SESSION, conversation

SESSIONS = 5
TURNS = 4


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Transcripts of sessions."""
    found = []
    for number in range(SESSIONS):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(conversation(TURNS).replace(SESSION.encode(), f"s{number}".encode()))
        found.append(str(path))
    return found


def stop_after(count: int, name: str) -> Callable[[str, int], Callable[[int], object]]:
    """Return a stage that is stopped at progress number `count` of the one with this name."""
    left = count

    def tick(_more: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise StoppedError

    return lambda label, _length: tick if label == name else lambda _: None


def found(place: Place) -> int:
    """Return how many messages a search finds; nothing new is indexed first."""
    only = Filter(kinds=("message",))
    return OpenStore(place).get_engine("text").list_by_time(only).total


@pytest.mark.parametrize("count", range(2 * SESSIONS))
def test_an_ingest_keeps_what_it_read(place: Place, paths: list[str], count: int) -> None:
    tally = Tally()
    with pytest.raises(StoppedError):
        ingest.run(place, IngestPlan(paths), stop_after(count, "reading"), tally)
    assert found(place) == tally.messages
    assert tally.messages == TURNS * tally.sessions
    rest = ingest.run(place, IngestPlan(paths), lambda *_: lambda _: None)
    assert rest.sessions + tally.sessions == SESSIONS
    assert found(place) == TURNS * SESSIONS


@pytest.mark.parametrize("count", range(SESSIONS))
def test_a_search_that_builds_the_index_keeps_what_it_indexed(
    place: Place, paths: list[str], count: int
) -> None:
    ingest.run(place, IngestPlan(paths), lambda *_: lambda _: None)
    shutil.rmtree(place.home.index)
    with pytest.raises(StoppedError):
        OpenStore(place, stop_after(count, "indexing")).update_engine("hybrid")
    assert found(place) == TURNS * count
    OpenStore(place).update_engine("hybrid")
    assert found(place) == TURNS * SESSIONS
