"""The part of a text that shows why it was found, and where a chunk of a source stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.snippet import format_location, has_lines, snippet, trim_heading
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


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"file": "docs/setup.md", "line": 12}, "docs/setup.md:12"),
        ({"file": "~/books/Guide.PDF", "line": 3}, "~/books/Guide.PDF, page 3"),
        ({"file": "trial.ipynb", "line": 2}, "trial.ipynb, cell 2"),
        ({"file": "Makefile", "line": 1}, "Makefile:1"),
        ({}, ":"),
    ],
)
def test_a_place_is_told_as_its_file_counts(metadata: dict[str, object], said: str) -> None:
    assert format_location(metadata) == said
    assert has_lines(str(metadata.get("file", ""))) == (", " not in said)


@pytest.mark.parametrize(
    ("text", "heading", "rest"),
    [
        ("Setup > Ports\n\nThe port is 80.", "Setup > Ports", "The port is 80."),
        ("The port is 80.", "Setup", "The port is 80."),
        ("Setup", "Setup", "Setup"),
        ("The port is 80.", "", "The port is 80."),
        ("The port is 80.", None, "The port is 80."),
        ("7 is a number", 7, "7 is a number"),
    ],
)
def test_a_heading_that_is_shown_beside_a_text_is_taken_off(
    text: str, heading: object, rest: str
) -> None:
    assert trim_heading(text, heading) == rest
