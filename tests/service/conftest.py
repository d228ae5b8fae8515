"""The service is wanted in these tests, and no process of it is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
