"""Front matter that is no YAML, read by line: what can be told counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import yaml_lenient
from tests.core.samples import block, yaml_texts


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
    assert yaml_lenient.read(text) == found


@given(yaml_texts() | st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert set(yaml_lenient.read(text)) <= yaml_lenient.KNOWN


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
    assert found.problem == "13,914 characters, at most 10,000 are read as YAML"


def test_a_number_without_end_is_no_limit() -> None:
    found = block("a", f"---\nlimit: 0x{'F' * 5000}\ndescription: mine\n---\nx\n")
    assert (found.limit, found.description) == (5000, "mine")
    found = block("a", f"---\nlimit: {'9' * 17}\n---\nx\n")
    assert found.limit == 5000
    assert found.odd_keys() == [("limit", int("9" * 17))]
