"""One filled world for each test, and no real fsync in the checks: no test cuts real power.

Edits are stopped everywhere in each run of the suite, all other operations in a thorough one.
"""

import os
from pathlib import Path

import pytest

from tests.faults.world import World


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path.name != "test_edits.py":
        item.add_marker(pytest.mark.thorough)


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
