"""A block: its values, and the defaults where its file says nothing or something wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.block import DEFAULT_LIMIT
from tests.core.samples import block, yaml_texts
from tests.examples import examples

FULL = """\
---
description: Everything  known
limit: 800  # characters
read_only: true
pinned: false
version: 7
priority: -2
tokens: 200
tags: [a, 2]
---
Name: Alice
"""


def test_reads_its_keys() -> None:
    found = block("human", FULL)
    assert (found.description, found.limit, found.version, found.priority, found.tokens) == (
        "Everything known",
        800,
        7,
        -2,
        200,
    )
    assert (found.read_only, found.pinned, found.tags) == (True, False, ["a", "2"])
    assert (found.value, found.chars, found.problem) == ("Name: Alice", 11, "")
    assert found.head + found.body == found.raw == FULL


@pytest.mark.parametrize(
    "raw", ["", "body\n", "\ufeffbody\n", "---\n---\nbody\n", "---\nlimit: 1\nno end"]
)
def test_without_front_matter_there_are_defaults(raw: str) -> None:
    found = block("a", raw)
    assert (found.description, found.limit, found.version, found.priority, found.tokens) == (
        "",
        DEFAULT_LIMIT,
        0,
        0,
        None,
    )
    assert (found.read_only, found.pinned, found.tags, found.problem) == (False, True, [], "")


@pytest.mark.parametrize(
    "lines",
    [
        *("limit: 0", "limit: -5", "limit: '800'", "limit: true", "limit: 8.5", "limit:"),
        *("limit: [800]", "limit: {a: 1}"),
    ],
)
def test_a_wrong_limit_is_the_default(lines: str) -> None:
    found = block("a", f"---\n{lines}\n---\nbody\n")
    assert (found.limit, found.problem) == (DEFAULT_LIMIT, "")


def test_only_yes_and_no_in_yaml_switch() -> None:
    found = block("a", "---\nread_only: 'true'\npinned: 0\ntokens: 0\nversion: -1\ntags: a\n---\n")
    assert (found.read_only, found.pinned, found.tokens, found.version, found.tags) == (
        False,
        True,
        None,
        0,
        [],
    )


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("a\nb\n", "a\nb"),
        ("a\r\nb\r\n\r\n", "a\nb"),
        ("a\n\n\n", "a"),
        ("", ""),
        ("\n", ""),
        ("a", "a"),
        ("  a \n", "  a "),
        ("a\rb\n", "a\rb"),
        ("\n\na\n", "\n\na"),
    ],
)
def test_the_value_has_lf_line_ends_and_none_at_the_end(body: str, value: str) -> None:
    found = block("a", "---\nlimit: 5\n---\n" + body)
    assert (found.value, found.chars, found.body) == (value, len(value), body)


def test_broken_front_matter_is_a_problem_and_the_body_stays() -> None:
    found = block("a", "---\ndescription: [open\n---\nbody\n")
    assert found.problem.startswith("line 3: while parsing a flow sequence")
    assert (found.meta, found.value, found.limit) == (
        {"description": "[open"},
        "body",
        DEFAULT_LIMIT,
    )


def test_what_the_strict_reader_refuses_is_read_all_the_same() -> None:
    found = block("a", "---\ndescription: >\n  two\n  lines\nlimit: 1_000\n---\nbody\n")
    assert (found.description, found.limit, found.problem) == ("two lines", 1000, "")


@given(yaml_texts() | st.text(), st.text())
@examples(300)
def test_no_text_breaks_a_block(inner: str, body: str) -> None:
    found = block("a", f"---\n{inner}\n---\n{body}")
    assert found.head + found.body == found.raw
    assert found.chars == len(found.value)
    assert found.limit >= 1
    assert found.version >= 0
    assert "\n" not in found.description
    assert isinstance(found.tags, list)
    assert isinstance(found.priority, int)
