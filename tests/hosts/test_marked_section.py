"""A section of ours in somebody's file: in and out again, and not a byte beside it."""

from hypothesis import given
from hypothesis import strategies as st

from memfs.hosts import marked_section

BEGIN, END = "# ours: begin", "# ours: end"
LINES = st.lists(st.sampled_from(["a = 1", "", "# x", "[t]", BEGIN + "!", "é"]), max_size=6)
TEXT = st.builds(
    lambda lines, newline, last: newline.join(lines) + (newline if last and lines else ""),
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
SECTION = st.sampled_from(["[x]\ny = 1\n", "one", "two\n\nthree"])


@given(TEXT, SECTION)
def test_in_and_out_again_is_the_original_with_a_last_line_end(text: str, ours: str) -> None:
    with_it = marked_section.put_section(text, ours, BEGIN, END)
    assert marked_section.has_section(with_it, BEGIN, END)
    assert with_it.startswith(text)
    assert marked_section.put_section(with_it, ours, BEGIN, END) == with_it
    without = marked_section.remove_section(with_it, BEGIN, END)
    assert without in (text, text + "\n", text + "\r\n", text.removesuffix("\n"))
    assert without.split() == text.split()


@given(TEXT, TEXT, SECTION, SECTION)
def test_a_section_is_replaced_where_it_stands(
    before: str, behind: str, one: str, two: str
) -> None:
    found = marked_section.put_section(before, one, BEGIN, END) + behind
    changed = marked_section.put_section(found, two, BEGIN, END)
    assert changed.startswith(before)
    assert changed.endswith(behind)
    assert changed.replace("\r\n", "\n").count(two.strip("\n")) >= 1
    assert changed.count(END) == 1


def test_half_a_section_is_none() -> None:
    for text in (f"{BEGIN}\nx\n", f"{END}\nx\n{BEGIN}\n"):
        assert not marked_section.has_section(text, BEGIN, END)
        assert marked_section.remove_section(text, BEGIN, END) == text


ANYTHING = st.text(st.sampled_from("ab \t\n\r\ufeff\x0c\x85\u2028\udcff"), max_size=12)


@given(ANYTHING, SECTION)
def test_what_was_put_is_taken_to_the_byte(text: str, ours: str) -> None:
    assert (
        marked_section.remove_section(
            marked_section.put_section(text, ours, BEGIN, END), BEGIN, END
        )
        == text
    )
    assert (
        marked_section.remove_section(
            marked_section.put_section(None, ours, BEGIN, END), BEGIN, END
        )
        == ""
    )


@given(ANYTHING, ANYTHING, SECTION, SECTION, st.sampled_from(["\n", "\r\n"]))
def test_not_a_byte_beside_the_marks_changes(
    before: str, behind: str, one: str, two: str, newline: str
) -> None:
    marks = (f"{newline} {BEGIN}\t{newline}{one}{newline}{END}", f" {newline}{behind}")
    text = before + marks[0] + marks[1]
    assert marked_section.problem(text, BEGIN, END) == ""
    changed = marked_section.put_section(text, two, BEGIN, END)
    assert changed.startswith(f"{before}{newline} {BEGIN}{newline}")
    assert changed.endswith(f"{newline}{END}{marks[1]}")
    assert marked_section.put_section(changed, two, BEGIN, END) == changed


def test_a_mark_is_known_behind_a_byte_order_mark_and_with_any_line_end() -> None:
    for newline in ("\n", "\r\n", "\r"):
        text = f"\ufeff{BEGIN}{newline}old{newline}{END}"
        assert marked_section.has_section(text, BEGIN, END)
        made = marked_section.put_section(text, "new", BEGIN, END)
        assert made == f"\ufeff{BEGIN}{newline}new{newline}{END}"
    for text in (f"see `{BEGIN}` and {END} here", f"x{' ' * 200}{BEGIN}", f"a\n\ufeff{BEGIN}"):
        assert not marked_section.has_mark(text, BEGIN, END)


def test_what_is_wrong_with_a_section_is_said_with_its_lines() -> None:
    whole = f"{BEGIN}\nx\n{END}\n"
    wrong = {
        f"a\n{BEGIN}\nx\n": f"line 2 has {BEGIN}, but {END} is missing",
        f"{END}\n": f"line 1 has {END}, but {BEGIN} is missing",
        whole + whole: f"{BEGIN} occurs 2 times (lines 1, 4)",
        f"{whole}{END}\n": f"{END} occurs 2 times (lines 3, 4)",
        f"{END}\n{BEGIN}\n": f"{END} on line 1 is before {BEGIN}",
    }
    assert {text: marked_section.problem(text, BEGIN, END) for text in wrong} == wrong
    assert marked_section.problem("", BEGIN, END) == marked_section.problem(whole, BEGIN, END) == ""
