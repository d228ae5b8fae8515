"""One filled world for each test, and no real fsync in the checks: no test cuts real power."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.world import World

MEMORY = "/dev/shm"  # noqa: S108 - a folder of random name is made in it


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A repository and a home without stores, in memory where the system has such a folder."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="memfs-faults-", dir=where) as folder:
        made = World(Path(folder).resolve())
        monkeypatch.setenv("HOME", str(made.home))
        monkeypatch.chdir(folder)
        yield made
        monkeypatch.undo()


@pytest.fixture
def world(bare: World) -> World:
    bare.fill()
    return bare
