"""Cluttered blocks, made tidy by rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.context.consolidate import consolidate_text
from tests.core.samples import examples


def test_of_two_values_the_later_one_counts() -> None:
    assert (
        consolidate_text("Editor: vim\nName: Alice\neditor: helix\n")
        == "editor: helix\nName: Alice\n"
    )


def test_what_is_said_twice_comes_once() -> None:
    body = "- We deploy with Helm.\n- Tests need Docker.\n- We deploy with Helm!\n"
    assert consolidate_text(body) == "- We deploy with Helm.\n- Tests need Docker.\n"


@pytest.mark.parametrize(
    ("body", "tidy"),
    [
        ("- one\n- two\n- three\n- One.\n- two\n", "- one\n- two\n- three\n"),
        ("- one\n- two\n```\nx\n```\n- four\n\n- one\n", "- one\n- two\n```\nx\n```\n- four\n"),
        ("## A\n- one\n## B\n- two\n## A\n- three\n- one\n", "## A\n- one\n- three\n## B\n- two\n"),
        ("## A\n```\n# A\n```\n\nText.\n\n# B\n# C\n## A\nx\n", "## A\n```\n# A\n```\n\nText.\n\n# B\n# C\n## A\nx\n"),
        ("Uses pytest for tests.\nx\nWe use pytest for the tests\n", "Uses pytest for tests.\nx\n"),
        ("## A\n- one\n## B\n- two\n## A\n- one\n", "## A\n- one\n## B\n- two\n"),
        (
            "We deploy with Helm.\n# Notes\n- a\n- We deploy with Helm.\n",
            "We deploy with Helm.\n# Notes\n- a\n",
        ),
    ],
)  # fmt: skip
def test_duplicates_need_not_stand_side_by_side(body: str, tidy: str) -> None:
    assert consolidate_text(body) == tidy


def test_a_later_line_takes_an_earlier_one_back() -> None:
    body = (
        "Name: Alice\nPrefers Python\nActually prefers TypeScript now\nWorks at Acme Corp\n"
        "Changed jobs to Beta Inc\nLikes hiking\n"
    )
    assert consolidate_text(body) == (
        "Name: Alice\nPrefers TypeScript (before: Python)\n"
        "Works at Beta Inc (before: Acme Corp)\nLikes hiking\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "Prefers Python\nPrefers TypeScript\n",
        "Actually prefers TypeScript now\nPrefers Python\n",
        "Works at Acme Corp\n\n## Bob\nChanged jobs to Beta Inc\n",
        "- Prefers tabs\nActually prefers spaces\n",
        "Ana prefers Python\nActually Bob prefers TypeScript\n",
        "Imports from X\nImports to X\n",
        "Never use X for tests\nUse X for tests\n",
        "## A\none\n<!-- BEGIN TOOL -->\n## B\ntwo\n## A\nthree\n<!-- END TOOL -->\n",
    ],
)
def test_without_a_word_of_change_both_lines_stay(body: str) -> None:
    assert consolidate_text(body) == body


def test_other_numbers_are_another_thing() -> None:
    body = "- The API listens on port 8080.\n- The API listens on port 9090.\n"
    assert consolidate_text(body) == body


def test_headings_that_hold_nothing_go() -> None:
    body = "# All\n## One\n- a word\n- A word.\n\n\n\n## Two\n\n## Three\n- other things\n"
    assert consolidate_text(body) == "# All\n## One\n- a word\n\n## Three\n- other things\n"


@pytest.mark.parametrize(
    "body",
    [
        "## Alice\n- Role: developer\n## Bob\n- Role: operations\n",
        "Alice\n- Role: developer\nBob\n- Role: operations\n",
        "Name: Alice\nRole: developer\nName: Bob\nRole: operations\n",
        "- TODO: write the parser\n- TODO: rotate the keys\n",
        "- Always deploy on Friday.\n- Never deploy on Friday.\n",
        "- It accepts deploys.\n- It does not accept deploys.\n",
        "## Alice\n- She prefers tabs.\n## Bob\n- She prefers tabs.\n",
        "# Languages\n- Python\n## To learn\n- Python\n- Rust\n",
        "Name: Alice\nRole: developer\n\n---\nName: Bob\nRole: developer\n",
        "Name: Alice\n```\nx\n```\nName: Alice\n",
        "- Or run this\n```\nx\n```\n- Or run this\n```\ny\n```\n",
        "Alice:\n- likes green tea\nBob:\n- likes green tea\n",
    ],
)
def test_what_may_be_about_two_things_stays(body: str) -> None:
    assert consolidate_text(body) == body


def test_a_tidy_block_stays_as_it_is() -> None:
    body = "# All\n\n\n\n- one\n\n## Empty\n"
    assert consolidate_text(body) == body


@given(
    st.lists(
        st.sampled_from(
            [
                "- one\n",
                "a: 1\n",
                "a: 2\n",
                "# h\n",
                "## g\n",
                "\n",
                "text\n",
                "a b c\n",
                "---\n",
                "x:\n",
                "```\n",
            ]
        )
    )
)
@examples(100)
def test_it_is_tidy_afterwards(lines: list[str]) -> None:
    once = consolidate_text("".join(lines))
    assert consolidate_text(once) == once
    assert set(once.split()) <= set("".join(lines).split())
