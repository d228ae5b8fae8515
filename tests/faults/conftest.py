"""One filled world for each test, and no real fsync in the checks: no test cuts real power."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.world import World


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository and a home without stores."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    made = World(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.chdir(tmp_path)
    return made


@pytest.fixture
def world(bare: World) -> World:
    bare.fill()
    return bare
