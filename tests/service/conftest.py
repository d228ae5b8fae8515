"""The service is wanted in these tests, and no process of it is left behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.ipc import client
from memfs.ipc.service_status import ServiceStatus
from memfs.store.blocks import Place
from tests.service import running


@pytest.fixture(autouse=True)
def wanted(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "auto")
    yield
    running.end_all(home)


@pytest.fixture
def warm(place: Place) -> ServiceStatus:
    """A service that runs, and a place that it can serve."""
    assert place.project
    return running.begin()


@pytest.fixture
def held(place: Place, repo: Path) -> Place:
    """A place that the service holds, with all that is in it indexed."""
    running.begin()
    assert client.ask("hold", [str(repo)], wait=running.LONG) is not None
    (repo / ".agent-memory/blocks/first.md").write_text("The word is begonia.")
    running.until(lambda: running.count_found(place, "begonia"))
    return place
