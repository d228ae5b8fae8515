"""A section of ours in somebody's file: in and out again, and not a byte beside it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memfs.hosts import section

BEGIN, END = "# ours: begin", "# ours: end"
LINES = st.lists(st.sampled_from(["a = 1", "", "# x", "[t]", BEGIN + "!", "é"]), max_size=6)
TEXT = st.builds(
    lambda lines, newline, last: newline.join(lines) + (newline if last and lines else ""),
    LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(),
)  # fmt: skip
SECTION = st.sampled_from(["[x]\ny = 1\n", "one", "two\n\nthree"])


@given(TEXT, SECTION)
def test_in_and_out_again_is_the_original_with_a_last_line_end(text: str, ours: str) -> None:
    with_it = section.put(text, ours, BEGIN, END)
    assert section.has(with_it, BEGIN, END)
    assert with_it.startswith(text)
    assert section.put(with_it, ours, BEGIN, END) == with_it
    without = section.take(with_it, BEGIN, END)
    assert without in (text, text + "\n", text + "\r\n", text.removesuffix("\n"))
    assert without.split() == text.split()


@given(TEXT, TEXT, SECTION, SECTION)
def test_a_section_is_replaced_where_it_stands(
    before: str, behind: str, one: str, two: str
) -> None:
    found = section.put(before, one, BEGIN, END) + behind
    changed = section.put(found, two, BEGIN, END)
    assert changed.startswith(before)
    assert changed.endswith(behind)
    assert changed.replace("\r\n", "\n").count(two.strip("\n")) >= 1
    assert changed.count(END) == 1


def test_half_a_section_is_none() -> None:
    for text in (f"{BEGIN}\nx\n", f"{END}\nx\n{BEGIN}\n"):
        assert not section.has(text, BEGIN, END)
        assert section.take(text, BEGIN, END) == text
