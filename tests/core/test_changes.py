"""Differences between two texts."""

from hypothesis import given
from hypothesis import strategies as st

from memfs.core import changes
from tests.examples import examples

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "d\u2028e", "f\rg", "- x"]), max_size=8).map(
    "\n".join
)


def test_lines_that_went_and_came_with_a_mark_between_distant_places() -> None:
    before = "one\ntwo\nthree\nfour\nfive"
    after = "one\n2\nthree\nfour\nfive\nsix"
    assert list(changes.lines(before, after)) == ["- two", "+ 2", "…", "+ six"]


def test_from_and_to_nothing() -> None:
    assert list(changes.lines("", "a\nb")) == ["+ a", "+ b"]
    assert list(changes.lines("a\nb", "")) == ["- a", "- b"]
    assert not list(changes.lines("same\n", "same\n"))


@given(TEXTS, TEXTS)
@examples(300)
def test_the_lines_account_for_the_difference(before: str, after: str) -> None:
    found = list(changes.lines(before, after))
    old, new = (text.split("\n") if text else [] for text in (before, after))
    came = [line[2:] for line in found if line.startswith("+ ")]
    went = [line[2:] for line in found if line.startswith("- ")]
    assert len(new) - len(old) == len(came) - len(went)
    assert sorted([*old, *came]) == sorted([*new, *went])
    assert bool(found) is (old != new)


def test_long_texts_are_compared_in_no_time() -> None:
    before = "\n".join(f"{n % 7}" for n in range(20_000))
    after = "\n".join(f"{n * n % 11}" for n in range(20_000))
    assert sum(1 for _ in changes.lines(before, after)) > 20_000
    middle = before.split("\n")
    middle[10_000] = "new"
    assert list(changes.lines(before, "\n".join(middle))) == ["- 4", "+ new"]


def test_unified() -> None:
    assert changes.format_diff("a\nb\nc\n", "a\nB\nc\n", "old", "new") == (
        "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    )
    assert not changes.format_diff("a\n", "a\n", "old", "new")
    assert not changes.format_diff("", "", "old", "new")


def test_unified_marks_a_missing_line_end_at_the_end_alone() -> None:
    mark = "\\ no newline at the end of the file\n"
    assert changes.format_diff("a\n", "a", "x", "y") == f"--- x\n+++ y\n@@ -1 +1 @@\n-a\n+a\n{mark}"
    assert changes.format_diff("a\u2028b\n", "a\rb\x0c\n", "x", "y") == (
        "--- x\n+++ y\n@@ -1 +1 @@\n-a\u2028b\n+a\rb\x0c\n"
    )


@given(TEXTS, TEXTS)
@examples(200)
def test_unified_shows_every_change(before: str, after: str) -> None:
    diff = changes.format_diff(before, after, "x", "y")
    assert bool(diff) is (before != after)
    assert diff.count("\\ no line end") <= 2
    assert not diff or diff.endswith("\n")
