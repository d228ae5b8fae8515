"""A text is cut at its headings: nothing is lost, and no part is too long."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memfs.core import headings

LINES = st.sampled_from(
    [
        *("# One", "## Two ##", "### Three", "#no heading", "", "words", "    # code", "```"),
        *("~~~", "- a list", "y" * 90, "###### Six", "#"),
    ]
)


def split(text: str, most: int) -> list[tuple[tuple[str, ...], str]]:
    return [(part.path, part.text) for part in headings.split_text(text, most)]


def test_what_fits_is_one_part() -> None:
    assert split("# A\n\none\n\n## B\n\ntwo\n", 100) == [(("A",), "one\n\n## B\n\ntwo")]


def test_what_is_too_long_is_cut_at_its_headings_and_says_where_it_stood() -> None:
    text = (
        f"before\n# A #\n\n{'one ' * 5}\n\n## B\n\ntwo\n### C\n\nthree\n## D\n{'four ' * 9}\n# E\n"
    )
    assert split(text, 50) == [
        ((), "before"),
        (("A",), ("one " * 5)),
        (("A", "B"), "two\n### C\n\nthree"),
        (("A", "D"), "four " * 9 + "\n\n# E"),
    ]


def test_a_heading_in_code_is_code() -> None:
    text = "# A\n```sh\n# not one\n```\n~~~\n# nor this\n```\n~~~\n"
    assert [part.path for part in headings.split_text(text, 20)] == [("A",)] * 3
    assert list(headings.plain_lines(text)) == ["# A\n"]


def test_long_paragraphs_are_cut_between_paragraphs_then_lines_then_anywhere() -> None:
    text = "one\n\ntwo\n\n" + "a line\n" * 3 + "\n" + "x" * 25
    assert [part.text for part in headings.split_text(text, 10)] == [
        *("one\n\ntwo", "a line", "a line", "a line", "x" * 10, "x" * 10, "x" * 5)
    ]


@given(st.lists(LINES, max_size=40), st.integers(20, 200))
def test_no_line_is_lost_and_no_part_is_too_long(lines: list[str], most: int) -> None:
    text = "\n".join(lines)
    found = headings.split_text(text, most)
    assert all(len(part.text) <= most for part in found)
    said = "".join(" ".join(part.path) + part.text for part in found)
    for line in ("words", "#no heading", "- a list"):
        assert said.count(line) >= (line in lines)
    assert said.count("y") == text.count("y")
    assert said.count("Six") >= text.count("Six")


@given(
    st.lists(st.from_regex(r"[a-z]{1,12}[.!?]?", fullmatch=True), min_size=1, max_size=400),
    st.integers(40, 200),
)
def test_a_long_line_is_cut_between_words(words: list[str], most: int) -> None:
    line = " ".join(words)
    found = headings.split_text(f"# Guide\n\n## Words\n\n{line}\n", most)
    assert all(part.text.strip() and not part.text.startswith("#") for part in found[1:])
    assert " ".join(" ".join(part.text for part in found).split()).endswith(line)
    for part, after in pairwise(found):
        if after.text in line and "." in part.text[len(part.text) // 2 + 14 : -1]:
            assert part.text.rstrip()[-1] in ".!?"


def test_many_headings_take_little_time() -> None:
    text = "".join(f"{'#' * (n % 6 + 1)} {n}\n" for n in range(30_000))
    assert len(headings.split_text(text, 20)) > 3_000
