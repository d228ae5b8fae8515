"""Token counts without a tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("é", 1),
        ("名前", 2),
        ("abcd名", 2),
        ("a😀", 2),
        ("\x7f", 1),
    ],
)
def test_four_characters_are_a_token_and_each_one_outside_ascii(text: str, count: int) -> None:
    assert tokens.estimate(text) == count


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    both = tokens.estimate(one + other)
    parts = tokens.estimate(one) + tokens.estimate(other)
    assert parts - 1 <= both <= parts
    assert both <= len(one + other)
