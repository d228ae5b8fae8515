"""The part of a text that shows why it was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.snippet import snippet
from tests.examples import examples

FILLER = "lorem ipsum dolor sit amet " * 40


def test_a_short_text_is_shown_whole_with_its_white_space_folded() -> None:
    assert snippet("one\n\n two\tthree ", ["two"]) == "one two three"
    assert not snippet(" \n", ["two"])


def test_the_window_is_where_most_words_are() -> None:
    text = f"{FILLER}alpha {FILLER}alpha and beta together {FILLER}"
    found = snippet(text, ["alpha", "beta"], 100)
    assert "alpha and beta together" in found
    assert found.startswith("… ")
    assert found.endswith(" …")


def test_without_a_word_it_is_the_beginning() -> None:
    found = snippet(FILLER, ["absent"], 50)
    assert found == "lorem ipsum dolor sit amet lorem ipsum dolor sit …"
    assert snippet(FILLER, [], 50) == found


def test_the_end_is_not_marked_as_cut() -> None:
    found = snippet(FILLER + "omega", ["omega"], 60)
    assert found.startswith("… ")
    assert found.endswith("omega")


@pytest.mark.parametrize("text", ["İ" * 300 + " word", "x" * 1000, "é" * 500 + "word"])
def test_texts_without_spaces_or_with_odd_lower_case(text: str) -> None:
    found = snippet(text, ["word"], 100)
    assert len(found) <= 104


@given(
    st.text(alphabet="ab \nİß", max_size=900),
    st.lists(st.sampled_from(["a", "ab", "bb", "", "zz", "aaab"]), max_size=4),
    st.integers(40, 300),
)
@examples(300)
def test_it_is_a_part_of_the_text_within_the_width(text: str, words: list[str], width: int) -> None:
    flat = " ".join(text.split())
    found = snippet(text, words, width)
    part = found.removeprefix("… ").removesuffix(" …")
    assert len(part) <= width
    assert part in flat
    assert found.startswith("… ") is not flat.startswith(part) or part == flat or not part
    assert bool(part) is bool(flat)
