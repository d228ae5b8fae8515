"""Patterns of plain text: what they find, whatever the case, and in a time that does not explode."""

from __future__ import annotations

import time

import pytest

from memfs.core.text_folding import TextPatterns, matches_everything


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("emca", "a plan of EMCA", True),
        ("emca*plan", "EMCA has a\nplan", True),
        ("emca*plan", "a plan of EMCA", False),
        ("*emca*", "EMCA", True),
        ("a.c", "abc", False),
        ("[x]", "an [X]", True),
        ("straße", "STRASSE", True),
        ("cafe\u0301", "CAF\u00c9", True),
        ("ab*ba", "aba", False),
    ],
)
def test_what_a_pattern_finds(pattern: str, text: str, found: bool) -> None:
    assert TextPatterns([pattern]).match(text) is found
    assert TextPatterns(["nothing of the kind", pattern]).match(text) is found


def test_none_finds_nothing() -> None:
    assert not TextPatterns([]).match("text")
    assert not TextPatterns(["", "*"]).match("text")
    assert matches_everything(" * *")
    assert not matches_everything("*x")


def test_many_stars_take_no_longer() -> None:
    began = time.monotonic()
    assert not TextPatterns(["a*" * 500 + "b"]).match("a" * 200_000)
    assert time.monotonic() - began < 1.0
