"""The edit engine: what each operation does, what it refuses, and in which words."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memfs.core import body_edits
from memfs.core.body_edits import Append, BodyEdit, Insert, Rejected, Remove, Replace, Rethink
from memfs.core.text_folding import find_once
from tests.examples import examples

WORDS = st.text(alphabet="ab #-é😀\u2028\x0b", max_size=8)
LINES = st.lists(WORDS, max_size=6)
EOLS = st.sampled_from(["\n", "\r\n"])


@st.composite
def bodies(draw: st.DrawFn, eol: str = "\n") -> str:
    lines = draw(LINES)
    return eol.join(lines) + draw(st.sampled_from(["", eol]))


def done(edit: BodyEdit, body: str, eol: str = "\n") -> str:
    result = body_edits.apply(edit, body, eol)
    assert isinstance(result, str), result
    return result


def refused(edit: BodyEdit, body: str) -> tuple[str, str]:
    result = body_edits.apply(edit, body, "\n")
    assert isinstance(result, Rejected), result
    return result.message, result.hint


def test_operations_have_names() -> None:
    made: list[body_edits.Edit] = [
        body_edits.Create("a"),
        body_edits.Delete("a"),
        body_edits.Rename("a", "b"),
    ]
    names = [body_edits.operation(each) for each in (*made, body_edits.Describe("a"))]
    assert names == ["create", "delete", "rename", "describe"]


@pytest.mark.parametrize(
    ("edit", "body", "after"),
    [
        (Append("a", "new"), "", "new\n"),
        (Append("a", "new"), "old\n", "old\nnew\n"),
        (Append("a", "new"), "old", "old\nnew"),
        (Append("a", "new\n\n"), "old\n", "old\nnew\n"),
        (Append("a", "new"), "old\n\n", "old\n\nnew\n"),
        (Append("a", "\nnew"), "old\n", "old\n\nnew\n"),
        (Append("a", "one\ntwo"), "old\r\n", "old\r\none\r\ntwo\r\n"),
        (Append("a", "one\r\ntwo\r\n"), "old\r\n", "old\r\none\r\ntwo\r\n"),
        (Append("a", "one\r\ntwo"), "old\n", "old\none\ntwo\n"),
        (Append("a", "  indented"), "old\n", "old\n  indented\n"),
        (Append("a", "Name: Al"), "Name: Al\nold\n", "Name: Al\nold\n"),
        (Append("a", "- likes tea"), "Likes tea.\n", "Likes tea.\n"),
        (Append("a", "Run pip -e ."), "Run pip -e\n", "Run pip -e\nRun pip -e .\n"),
        (
            Append("a", "The table is users"),
            "The table is Users\n",
            "The table is Users\nThe table is users\n",
        ),
        (Append("a", "- foo"), "- Foo\n", "- Foo\n- foo\n"),
        (Append("a", "- b\n- c\n"), "a\r\n- b\r\n- c\r\n", "a\r\n- b\r\n- c\r\n"),
        (Append("a", "a\nc"), "a\nb\nc\n", "a\nb\nc\na\nc\n"),
        (Append("a", "Name: Al"), "Name: Alice\n", "Name: Alice\nName: Al\n"),
        (Append("a", "---"), "a\n---\n", "a\n---\n---\n"),
        (Append("a", "## A\n- b"), "## A\n- b\n", "## A\n- b\n"),
        (Append("a", "  - b"), "- A\n  - b\n", "- A\n  - b\n"),
        (Append("a", "  - b"), "- A\n  - b\n- C\n", "- A\n  - b\n- C\n  - b\n"),
        (Append("a", "```\nb\n```"), "```\nb\n```\n", "```\nb\n```\n"),
        (Append("a", "b"), "```\nb\n```\n", "```\nb\n```\nb\n"),
        (Append("a", "b"), "b\n```\nb\n", "b\n```\nb\nb\n"),
        (Replace("a", "b", "x"), "a b c\n", "a x c\n"),
        (Replace("a", "one\ntwo", "1\n2"), "one\ntwo\nthree", "1\n2\nthree"),
        (Replace("a", "one\ntwo", "1\n2\n3"), "one\r\ntwo\r\n", "1\r\n2\r\n3\r\n"),
        (Replace("a", "a\n", ""), "a\nb\n", "b\n"),
        (Replace("a", "b", ""), "a\nb\nc\n", "a\nc\n"),
        (Replace("a", " b", ""), "a b c\n", "a c\n"),
        (Replace("a", ".", "*"), "a.b\n", "a*b\n"),
        (Replace("a", "a", "\\1"), "a\n", "\\1\n"),
        (Remove("a", "b"), "a\nb\nc\n", "a\nc\n"),
        (Remove("a", "b\n"), "a\nb\nc\n", "a\nc\n"),
        (Remove("a", "b\n"), "a\nb\n\nc\n", "a\n\nc\n"),
        (Remove("a", "b"), "a\nb\n\nc\n", "a\n\nc\n"),
        (Remove("a", "\nb"), "a\nb\n\nc\n", "a\n\nc\n"),
        (Remove("a", "\nb\n"), "a\nb\nc\n", "ac\n"),
        (Remove("a", "b"), "a\nb\n", "a\n"),
        (Remove("a", "b"), "a\nb", "a"),
        (Remove("a", "a"), "a\nb", "b"),
        (Remove("a", "b"), "b", ""),
        (Remove("a", "b"), "b\n", ""),
        (Remove("a", "b\n"), "b\n", ""),
        (Remove("a", "b"), "a b\n", "a \n"),
        (Remove("a", "b"), "a\r\nb\r\nc\r\n", "a\r\nc\r\n"),
        (Remove("a", "b"), "a\r\nb", "a"),
        (Remove("a", "b\nc"), "a\nb\nc\nd\n", "a\nd\n"),
        (Insert("a", 0, "x"), "a\nb\n", "x\na\nb\n"),
        (Insert("a", 1, "x"), "a\nb\n", "a\nx\nb\n"),
        (Insert("a", 2, "x"), "a\nb\n", "a\nb\nx\n"),
        (Insert("a", -1, "x"), "a\nb\n", "a\nb\nx\n"),
        (Insert("a", 1, "x"), "a\nb", "a\nx\nb"),
        (Insert("a", 2, "x"), "a\nb", "a\nb\nx"),
        (Insert("a", 0, "x"), "", "x\n"),
        (Insert("a", -1, "x"), "", "x\n"),
        (Insert("a", 0, "x"), "\n", "x\n\n"),
        (Insert("a", 1, "x"), "a\u2028b\x0bc\nd\n", "a\u2028b\x0bc\nx\nd\n"),
        (Insert("a", 1, "x"), "a\r\nb\r\n", "a\r\nx\r\nb\r\n"),
        (Insert("a", 0, "x"), "a\r\nb", "x\r\na\r\nb"),
        (Rethink("a", "new"), "old\n", "new\n"),
        (Rethink("a", "one\ntwo\n\n"), "old\n", "one\r\ntwo\r\n"),
        (Rethink("a", ""), "old\n", ""),
        (Rethink("a", "\n"), "old\n", ""),
    ],
)
def test_an_edit_makes_of_a_body(edit: BodyEdit, body: str, after: str) -> None:
    assert done(edit, body, "\r\n" if "\r" in body + after else "\n") == after


@pytest.mark.parametrize("lead", ["## B", "B\n=", "B\n-", "***", "B:", "**B**", "**B:**"])
@given(bodies(), WORDS, EOLS)
@examples(30)
def test_what_another_section_says_is_added(lead: str, body: str, text: str, eol: str) -> None:
    body = f"{text}\n{body}\n\n{lead}\n".replace("\n", eol)
    assume(text.strip() and not text.startswith(" "))
    assert done(Append("a", text), body, eol) == body + text + eol


@given(bodies(), WORDS, EOLS)
@examples(100)
def test_an_insert_at_the_end_adds_what_is_there(body: str, text: str, eol: str) -> None:
    body = f"{body}\n{text}\n".replace("\n", eol)
    assume(text.strip())
    assert done(Insert("a", -1, text), body, eol) == body + text + eol


@pytest.mark.parametrize("text", ["", " \t", "\n\n", "\r\n"])
def test_nothing_cannot_be_added(text: str) -> None:
    assert refused(Append("a", text), "body\n") == ("cannot append to 'a': the text is empty", "")
    assert refused(Insert("a", 0, text), "body\n") == (
        "cannot insert into 'a': the text is empty",
        "",
    )


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("x\nx\nx\n", ""),
        ("xx\n", ""),
        ("a\nxx b\nc\n", "a\n b\nc\n"),
        ("a\nx\nx", "a"),
        ("a\nxx", "a"),
        ("xa x\nx\nb\n", "a \nb\n"),
    ],
)
def test_every_occurrence_can_go(body: str, after: str) -> None:
    assert done(Remove("a", "x", every=True), body) == after
    assert done(Replace("a", "x", "", every=True), body) == after
    assert done(Replace("a", "x", "yy", every=True), body) == body.replace("x", "yy")


def test_what_is_not_there_is_refused_with_the_closest_line() -> None:
    body = "Name: Alice\nLanguages: TypeScript\n"
    assert refused(Replace("human", "name: alice", "x"), body) == (
        "cannot replace text in 'human': 'name: alice' is not in the block",
        "match the text exactly; the closest line is 'Name: Alice'",
    )
    assert refused(Remove("human", "Languages: TypScript"), body) == (
        "cannot remove text from 'human': 'Languages: TypScript' is not in the block",
        "match the text exactly; the closest line is 'Languages: TypeScript'",
    )
    assert refused(Remove("human", "zzz"), body) == (
        "cannot remove text from 'human': 'zzz' is not in the block",
        "match the text exactly; read the block with memfs show",
    )
    assert (
        refused(Remove("human", "\n\n\n"), body)[0]
        == "cannot remove text from 'human': '' is not in the block"
    )


def test_long_texts_are_shown_short() -> None:
    message, hint = refused(Remove("a", "x" * 80), "y\n" + "x" * 79 + "\n")
    assert message == f"cannot remove text from 'a': '{'x' * 57}...' is not in the block"
    assert hint == f"match the text exactly; the closest line is '{'x' * 57}...'"


def test_what_is_there_more_than_once_is_refused_with_its_lines() -> None:
    assert refused(Replace("a", "b", "c"), "b\nx\nb b\n") == (
        "cannot replace text in 'a': 'b' occurs 3 times (lines 1, 3)",
        "pass more of the surrounding text, or --all to replace every occurrence",
    )
    assert refused(Remove("a", "b"), "x\nbb\n") == (
        "cannot remove text from 'a': 'b' occurs 2 times (line 2)",
        "pass more of the surrounding text, or --all to remove every occurrence",
    )
    message, _ = refused(Remove("a", "b"), "b\n" * 50)
    numbers = ", ".join(str(number) for number in range(1, 21))
    assert message == f"cannot remove text from 'a': 'b' occurs 50 times (lines {numbers}, …)"
    message, _ = refused(Remove("a", "b"), "b\n" * 20)
    assert message.endswith("(lines " + numbers + ")")


EMPTY = (
    "to add text, use memfs edit a --append TEXT; "
    "to replace the whole text, use memfs edit a --set -"
)


@pytest.mark.parametrize("edit", [Replace("a", "", "x"), Replace("a", "", "x", every=True)])
def test_empty_old_is_refused(edit: Replace) -> None:
    found = refused(edit, "body\n")
    assert found == ("cannot replace text in 'a': the text to replace is empty", EMPTY)
    assert getattr(found[1], "for_model", "") == (
        "to add text, use core_memory_append; to replace the whole text, use memory_rethink"
    )


def test_empty_text_cannot_be_removed() -> None:
    assert refused(Remove("a", ""), "") == (
        "cannot remove text from 'a': the text to remove is empty",
        EMPTY,
    )


@pytest.mark.parametrize(
    ("body", "line", "size"),
    [("a\nb\n", 3, "2 lines"), ("a\nb\n", -2, "2 lines"), ("a", 2, "1 line"), ("", 1, "0 lines")],
)
def test_insert_stays_within_the_body(body: str, line: int, size: str) -> None:
    assert refused(Insert("a", line, "x"), body) == (
        f"cannot insert into 'a' after line {line}: the block has {size}",
        "use 0 for the beginning of the block, -1 for the end",
    )


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("1\tone", "1\t"),
        ("  12\tone", "  12\t"),
        ("12→one\n13→two", "12→"),
        ("Line 3: text", "Line 3: "),
        ("1: one\n2: two", "1: "),
        ("9 | one\n10 | two", "9 | "),
        ("9| one\n\n10| two\n", "9| "),
    ],
)
def test_texts_with_line_numbers_are_refused(text: str, prefix: str) -> None:
    for edit, verb in (
        (Append("a", text), "append to"),
        (Replace("a", text, "x"), "replace text in"),
        (Replace("a", "x", text), "replace text in"),
        (Remove("a", text), "remove text from"),
        (Insert("a", 0, text), "insert into"),
        (Rethink("a", text), "rewrite"),
    ):
        assert refused(edit, "x\n") == (
            f"cannot {verb} 'a': the text contains line numbers ({prefix!r})",
            "pass the text without the line numbers",
        )


@pytest.mark.parametrize(
    "text",
    [
        *("10: standup", "10: standup\n12: lunch", "1. one\n2. two", "1) one", "2026: a year"),
        *("1: one\ntwo", "1:one\n2:two", "| 1 | one |\n| 2 | two |", "3 apples\n4 pears"),
        *("1234567\tid", "12\n13", "v1\tx"),
    ],
)
def test_texts_that_merely_begin_with_numbers_are_taken(text: str) -> None:
    assert done(Append("a", text), "") == text + "\n"


@pytest.mark.parametrize(
    ("before", "after", "limit", "refusal"),
    [
        (0, 10, 10, ""),
        (0, 11, 10, "11 characters, the limit is 10"),
        (11, 12, 10, "12 characters, the limit is 10"),
        (12, 12, 10, "12 characters, the limit is 10"),
        (12, 11, 10, ""),
        (0, 5212, 5000, "5,212 characters, the limit is 5,000"),
    ],
)
def test_over_the_limit_only_shortening_is_allowed(
    before: int, after: int, limit: int, refusal: str
) -> None:
    found = body_edits.check_limit("persona", "x" * before, "x" * after, limit, None)
    if not refusal:
        assert found is None
        return
    assert found == Rejected(
        f"cannot write 'persona': {refusal}",
        f"shorten the text by {after - limit:,} characters (memfs edit persona --set -), move details to the "
        "archive (memfs archive add), or create another block (memfs create)",
    )


def test_a_cap_in_tokens_holds_beside_the_limit() -> None:
    assert body_edits.check_limit("a", "", "go " * 10, 100, 10) is None
    assert body_edits.check_limit("a", "", "go " * 11, 100, 10) == Rejected(
        "cannot write 'a': about 11 tokens, the limit is 10",
        "shorten the text, or move details to the archive (memfs archive add)",
    )
    assert body_edits.check_limit("a", "go " * 12, "go " * 11, 100, 10) is None
    assert body_edits.check_limit("a", "go " * 11, "go " * 11, 100, 10) is not None
    assert body_edits.check_limit("a", "", "x" * 11, 10, 1) == body_edits.check_limit(
        "a", "", "x" * 11, 10, None
    )


@given(bodies(), LINES.map("\n".join), EOLS)
@examples(300)
def test_append_only_adds_at_the_end(body: str, text: str, eol: str) -> None:
    body = body.replace("\n", eol)
    assume(text.strip())
    after = done(Append("a", text), body, eol)
    assert after.startswith(body)
    assume(after != body)  # it stands there already
    assert after.rstrip("\r\n").endswith(text.rstrip("\n").replace("\n", eol))
    assert after.endswith("\n") is (not body or body.endswith("\n"))


@given(bodies(), WORDS, EOLS)
@example("a\n\n", "b", "\n")
@examples(300)
def test_remove_takes_back_an_append(body: str, text: str, eol: str) -> None:
    body = body.replace("\n", eol)
    assume(text.strip() and text.strip() not in body and text == text.strip("\r\n"))
    assert done(Remove("a", text), done(Append("a", text), body, eol), eol) == body


@given(bodies(), WORDS, EOLS, st.data())
@examples(300)
def test_remove_takes_back_an_insert(body: str, text: str, eol: str, data: st.DataObject) -> None:
    count = body.count("\n") + (not body.endswith("\n")) if body else 0
    body = body.replace("\n", eol)
    line = data.draw(st.integers(-1, count))
    assume(text.strip() and text not in body)
    after = done(Insert("a", line, text), body, eol)
    assert after.split(eol)[line if line >= 0 else count] == text
    assert done(Remove("a", text), after, eol) == body


@given(
    bodies(),
    st.text(alphabet="ab \n", min_size=1, max_size=3),
    st.sampled_from(["Z", "Z\nY", "ZZ"]),
    EOLS,
)
@example(" a", "  a", "Z", "\n")
@examples(400)
def test_replacing_there_and_back(body: str, old: str, new: str, eol: str) -> None:
    body = body.replace("\n", eol)
    result = body_edits.apply(Replace("a", old, new), body, eol)
    count = body.count(old.replace("\n", eol))
    alike = not count and find_once(body, old)
    assert isinstance(result, str) is (count == 1 or bool(alike))
    if count == 1 and isinstance(result, str):
        assert done(Replace("a", new, old), result, eol) == body
    if count:
        every = done(Replace("a", old, new, every=True), body, eol)
        assert done(Replace("a", new, old, every=True), every, eol) == body


@given(bodies(), st.text(alphabet="ab\n", min_size=1, max_size=3))
@examples(400)
def test_removing_takes_nothing_else_than_one_line_end(body: str, text: str) -> None:
    result = body_edits.apply(Remove("a", text), body, "\n")
    if isinstance(result, str):
        assert len(body) - len(result) - len(text) in {0, 1}
        assert result in {
            body.replace(text, ""),
            body.replace(f"{text}\n", ""),
            body.replace(f"\n{text}", ""),
        }


@given(bodies(), st.lists(st.sampled_from(["a", "b", "é"]), max_size=4).map("\n".join), EOLS)
@examples(100)
def test_rethink_is_idempotent(body: str, text: str, eol: str) -> None:
    once = done(Rethink("a", text), body, eol)
    assert done(Rethink("a", once), once, eol) == once
    assert once.replace("\r\n", "\n").rstrip("\n") == text.rstrip("\n")
