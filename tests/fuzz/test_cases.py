"""Cases that were found once, and mended: run again, and each target's own samples with them."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fuzz import running

SLOW = ("graphs", "indexes", "journal", "recall")  # each of their cases makes a store or an index
FAST = [name for name in running.NAMES if name not in SLOW]


@pytest.mark.parametrize("names", [FAST, pytest.param(SLOW, marks=pytest.mark.thorough)])
def test_cases_that_were_found_are_mended(names: Sequence[str], tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.fuzz", "--replay", str(tmp_path), *names]
    assert running.watched(words, tmp_path) == ""


def test_cases_are_of_targets() -> None:
    assert {path.name for path in running.CASES.iterdir()} <= set(running.NAMES)
