"""Splitting a block file: nothing is ever lost, and prose is never taken for front matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import frontmatter
from tests.core.samples import yaml_texts
from tests.examples import examples

PIECES = [
    *("---", "--- ", "----", "--", "\ufeff", "a: b", "text", "# c", "", " ---", "- x", "{"),
    *("---\t", "\x0b"),
]
TEXTS = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from(["\n", "\n", "\r\n", "\r", "", "\u2028"]))
).map(lambda lines: "".join(line + end for line, end in lines))


@given(TEXTS | st.text())
@examples(1000)
def test_head_and_body_are_the_text(raw: str) -> None:
    head, body = frontmatter.split(raw)
    assert head + body == raw
    if frontmatter.has_fences(head):
        lines = head.removeprefix("\ufeff").split("\n")
        assert lines[0].rstrip(" \t\r") == "---"
        assert head.rstrip(" \t\r\n").endswith("\n---")
        assert frontmatter.split(head) == (head, "")
        inner = frontmatter.strip_fences(head)
        assert head[head.index("\n") + 1 :].startswith(inner)
        assert head[head.index("\n") + 1 + len(inner) :].rstrip(" \t\r\n") == "---"
        assert "---" not in [line.rstrip(" \t\r") for line in inner.split("\n")]
    else:
        assert head in {"", "\ufeff"}
        assert not frontmatter.strip_fences(head)


@given(yaml_texts(), TEXTS, st.sampled_from(["\n", "\r\n", " \n"]))
@examples(300)
def test_the_body_does_not_move_the_fence(text: str, body: str, eol: str) -> None:
    head = f"---{eol}key: v\n{text.replace('---', '')}\n---{eol}"
    assert frontmatter.split(head + body) == (head, body)
    assert frontmatter.strip_fences(head) == f"key: v\n{text.replace('---', '')}\n"


@pytest.mark.parametrize(
    ("raw", "head"),
    [
        ("", ""),
        ("text\n", ""),
        ("---\na: 1\n---\nbody", "---\na: 1\n---\n"),
        ("---\na: 1\n---", "---\na: 1\n---"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "---\r\na: 1\r\n---\r\n"),
        ("\ufeff---\na: 1\n---\nbody", "\ufeff---\na: 1\n---\n"),
        ("\ufeffbody", "\ufeff"),
        ("\ufeff", "\ufeff"),
        ("--- \t\na: 1\n---  \nbody\n", "--- \t\na: 1\n---  \n"),
        ("---\n---\nbody\n", "---\n---\n"),
        ("---\n\n# c\n---\nbody\n", "---\n\n# c\n---\n"),
        ("---\na: 1\n---\nbody\n---\nmore: x\n---\n", "---\na: 1\n---\n"),
        ("---\na: |\n  ---\n---\nbody\n", "---\na: |\n  ---\n---\n"),
        ("---\na: 1\nno end\n", ""),
        ("---\n", ""),
        ("---", ""),
        ("----\na: 1\n---\n", ""),
        (" ---\na: 1\n---\n", ""),
        ("\n---\na: 1\n---\n", ""),
        ("text\n---\na: 1\n---\n", ""),
        ("---\nProse between two rules.\n---\n", ""),
        ('---\n"Prose," she said. "In quotes."\n---\n', ""),
        ("---\nAs he said:that was it\n---\n", ""),
        ("---\n- a list\n---\n", ""),
        ("---\r# lone CR\r---\r", ""),
        ("---\na: 1\r---\r\n---\nb", "---\na: 1\r---\r\n---\n"),
        ('---\n"a": 1\n---\nb', '---\n"a": 1\n---\n'),
        ("---\n{a: 1}\n---\nb", "---\n{a: 1}\n---\n"),
        ("---\n<<<<<<< ours\na: 1\n---\nb", "---\n<<<<<<< ours\na: 1\n---\n"),
        ("---\na:\tb\n---\nb", "---\na:\tb\n---\n"),
        ("---\nbad: [\n---\nb", "---\nbad: [\n---\n"),
    ],
)
def test_where_the_body_begins(raw: str, head: str) -> None:
    assert frontmatter.split(raw) == (head, raw[len(head) :])


@pytest.mark.parametrize(
    ("head", "inner"),
    [
        ("", ""),
        ("\ufeff", ""),
        ("---\n---\n", ""),
        ("---\n\n---\n", "\n"),
        ("---\na: 1\n---", "a: 1\n"),
        ("\ufeff--- \r\na: 1\r\n\r\n--- \r\n", "a: 1\r\n\r\n"),
    ],
)
def test_inner(head: str, inner: str) -> None:
    assert frontmatter.strip_fences(head) == inner


@pytest.mark.parametrize(
    ("raw", "eol"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\n", "\n"),
        ("a\r\nb\n", "\r\n"),
        ("a\nb\r\n", "\n"),
        ("\n", "\n"),
        ("a\rb\n", "\n"),
    ],
)
def test_the_first_line_decides_the_line_end(raw: str, eol: str) -> None:
    assert frontmatter.line_end(raw) == eol
