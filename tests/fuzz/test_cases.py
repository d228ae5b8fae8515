"""Cases that were found once, and mended: run again, and each target's own samples with them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fuzz import running

SLOW = ("graphs", "indexes", "journal", "recall")  # each of their cases makes a store or an index
TARGETS = [
    pytest.param(name, marks=pytest.mark.thorough if name in SLOW else ()) for name in running.NAMES
]


@pytest.mark.parametrize("name", TARGETS)
def test_cases_that_were_found_are_mended(name: str, tmp_path: Path) -> None:
    paths = sorted(str(path.resolve()) for path in (running.CASES / name).glob("*"))
    words = [sys.executable, "-m", "tests.fuzz", "--replay", name, str(tmp_path), *paths]
    assert running.watched(words, tmp_path) == ""


def test_cases_are_of_targets() -> None:
    assert {path.name for path in running.CASES.iterdir()} <= set(running.NAMES)
