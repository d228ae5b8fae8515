"""Huge block files are merged in time."""

from __future__ import annotations

import random
import time

import pytest

from memfs.core.merge import merge
from tests.core.test_merge import text

HUGE = 30_000


def marked(name: str, step: int) -> list[str]:
    return [f"{'' if at % step else name}{at}" for at in range(HUGE)]


def spaced(lines: list[str]) -> list[str]:
    return [line if at % 2 else "" for at, line in enumerate(lines)]


SHAPES = {
    "unlike lines": [marked("b", HUGE), marked("o", 3), marked("t", 5)],
    "like lines": [["x"] * HUGE, ["o", *["x"] * HUGE, "o"], [*["x"] * HUGE, "t"]],
    "two lines": [random.Random(seed).choices("ab", k=3000) for seed in range(3)],  # noqa: S311
    "blank lines": [spaced(marked("b", HUGE)), spaced(marked("o", 7)), spaced(marked("t", 11))],
}


@pytest.mark.parametrize("name", SHAPES)
def test_huge_texts_are_merged_in_time(name: str) -> None:
    base, ours, theirs = SHAPES[name]
    started = time.process_time()
    merged = merge(text(*base), text(*ours), text(*theirs)).split("\n")
    assert time.process_time() - started < 10
    assert set(ours) | set(theirs) <= set(merged) | set(base)
    assert name != "unlike lines" or len(merged) == HUGE + HUGE // 15 + 1
