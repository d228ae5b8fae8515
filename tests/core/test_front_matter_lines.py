"""Front matter by its lines: what can be told counts, and a missing fence is known by its keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import front_matter_lines, frontmatter
from tests.core.samples import block, yaml_texts
from tests.core.test_frontmatter import TEXTS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("limit:\t800\n", {"limit": 800}),
        ("\tlimit: 800\n", {"limit": 800}),
        ("limit: 1\nlimit: 2\n", {"limit": 2}),
        ("read_only: true\nread_only: false\n", {"read_only": True}),
        ("read_only: false\nread_only: true\n", {"read_only": True}),
        ("read_only:\ttrue\nread_only: no idea\n", {"read_only": True}),
        ("read_only: true: or not\n", {"read_only": True}),
        ("description: a: b\nlimit: 5: please\n", {"description": "a: b", "limit": 5}),
        (
            "description: >\n  two\n  lines\nstray\nlimit: 5\n",
            {"description": "two lines", "limit": 5},
        ),
        ("description: |\n  limit: 5\nstray\n", {"description": "limit: 5"}),
        ("own:\n  limit: 5\nstray\n", {}),
        ("own: text\n  limit: 5\n", {"limit": 5}),
        ("tags:\n  - a\n  - b\nlimit: [\n", {"tags": ["a", "b"]}),
        ("tags: [a\nlimit: 3\n", {"limit": 3}),
        ('"limit" : 7\n', {"limit": 7}),
        ("<<<<<<< a\nlimit: 1\n=======\nlimit: 2\n>>>>>>> b\n", {"limit": 2}),
        ("limit: 5\0\npinned: fal\x07se\n", {"limit": 5, "pinned": False}),
        ("description: 名前\udce9 😀\n", {"description": "名前? 😀"}),
        ("description:\xa0x\nlimited: 5\nlimit:5\n", {}),
        ("limit: 5\rpinned: false\r\nstray\n", {"limit": 5, "pinned": False}),
        ("limit: 0x" + "F" * 5000, {}),
    ],
)
def test_what_can_be_told(text: str, found: dict[str, object]) -> None:
    assert front_matter_lines.read(text) == found


@given(yaml_texts() | st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert set(front_matter_lines.read(text)) <= front_matter_lines.KNOWN


def test_a_broken_line_does_not_cost_the_others() -> None:
    found = block(
        "a", "---\ndescription: mine\n\tlimit: 70\nread_only: true\nread_only: false\n---\nx\n"
    )
    assert (found.description, found.limit, found.read_only) == ("mine", 70, True)
    assert found.problem.startswith("line 3: ")


def test_a_very_long_front_matter_is_read_by_line() -> None:
    own = "".join(f"key{number}: value\n" for number in range(1000))
    found = block("a", f"---\nlimit: 70\n{own}pinned: false\n---\nx\n")
    assert (found.limit, found.pinned, found.value) == (70, False, "x")
    assert found.problem == "13,914 characters, the limit is 10,000"


def test_a_number_without_end_is_no_limit() -> None:
    found = block("a", f"---\nlimit: 0x{'F' * 5000}\ndescription: mine\n---\nx\n")
    assert (found.limit, found.description) == (5000, "mine")
    found = block("a", f"---\nlimit: {'9' * 17}\n---\nx\n")
    assert found.limit == 5000
    assert found.odd_keys() == [("limit", int("9" * 17))]


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("---\ndescription: a\nlimit: 5\nbody\n", "---\ndescription: a\nlimit: 5\n---\nbody\n"),
        ("---\ndescription: a\nlimit: 5\n\nbody\n", "---\ndescription: a\nlimit: 5\n---\n\nbody\n"),
        (
            "---\r\ndescription: a\r\nlimit: 5\r\nName: x\r\n",
            "---\r\ndescription: a\r\nlimit: 5\r\n---\r\nName: x\r\n",
        ),
        ("---\ndescription: a\nlimit: 5", "---\ndescription: a\nlimit: 5\n---\n"),
        (
            "---\nlimit: 5\ntags:\n  - a\n  - b\nbody\n",
            "---\nlimit: 5\ntags:\n  - a\n  - b\n---\nbody\n",
        ),
        (
            "---\nlimit: 5\nown: x\n# why\npinned: true\n# Title\n",
            "---\nlimit: 5\nown: x\n# why\npinned: true\n---\n# Title\n",
        ),
        ("description: a\nlimit: 5\n---\nbody\n", "---\ndescription: a\nlimit: 5\n---\nbody\n"),
        (
            "\ufeffdescription: a\r\n\r\nlimit: 5\r\n---\r\nx",
            "\ufeff---\r\ndescription: a\r\n\r\nlimit: 5\r\n---\r\nx",
        ),
    ],
)
def test_a_fence_that_is_missing_is_put_in(text: str, mended: str) -> None:
    found = front_matter_lines.find_missing_fence(text)
    assert found
    assert found[2] == mended
    head, body = frontmatter.split(mended)
    assert head + body == mended
    assert frontmatter.has_fences(head)


@pytest.mark.parametrize(
    "text",
    [
        *("", "text\n", "---\nlimit: 1\nno end", "---\n", "description: a heading\n---\ntext\n"),
        *("description: a\nlimit: 5\ntext\n---\n", "description: a\nlimit: 5\n"),
        *("limit: 5\n\nlimit: 6\n---\n", "---\nProse between two rules.\n---\n"),
        *("---\na: 1\nb: 2\n", "---\nlimit: 5\nversion: 1\n---\nx\n"),
        *("---\n\nlimit: 5\nversion: 1\nx\n", " ---\nlimit: 5\nversion: 1\nx\n"),
    ],
)
def test_other_texts_stay_texts(text: str) -> None:
    assert front_matter_lines.find_missing_fence(text) is None
    assert not block("a", text).problem


@given(yaml_texts() | TEXTS)
def test_the_fence_is_all_that_is_added(text: str) -> None:
    found = front_matter_lines.find_missing_fence(text)
    if found:
        made = found[2]
        assert made != text
        assert sorted(set(made.split("\n")) - {"---", "---\r", ""}) == sorted(
            set(text.split("\n")) - {"---", "---\r", ""}
        )
        assert front_matter_lines.find_missing_fence(made) is None


def test_the_block_says_so_and_stays_protected() -> None:
    found = block("a", "---\nlimit: 7\nread_only: true\nbody\n")
    assert found.problem == "line 4: the closing '---' line of the front matter is missing"
    assert (found.value, found.limit, found.read_only) == (found.raw.rstrip(), 5000, True)
    found = block("a", "limit: 7\nversion: 2\n---\nbody\n")
    assert found.problem == "line 1: the opening '---' line of the front matter is missing"
    assert not found.read_only


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("---\nlimit: 5\n---\nx\n", 0),
        ("\n\n---\r\nlimit: 5\r\n---\r\n", 2),
        ("---\nfoo: 5\n---\n", -1),
        ("x\n---\nlimit: 5\n---\n", -1),
        ("", -1),
        ("---\nlimit: 5\n", -1),
    ],
)
def test_a_second_front_matter(body: str, line: int) -> None:
    assert front_matter_lines.find_second_head(body) == line
