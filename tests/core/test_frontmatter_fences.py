"""Front matter without one of its fences is known by its keys, and only by them."""

from __future__ import annotations

import pytest
from hypothesis import given

from memfs.core import frontmatter, frontmatter_fences
from tests.core.samples import block, yaml_texts
from tests.core.test_frontmatter import TEXTS


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
    assert frontmatter_fences.with_missing(text) == mended
    head, body = frontmatter.split(mended)
    assert head + body == mended
    assert frontmatter.has_fences(head)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text\n",
        "---\nlimit: 1\nno end",
        "---\n",
        "description: a heading\n---\ntext\n",
        "description: a\nlimit: 5\ntext\n---\n",
        "description: a\nlimit: 5\n",
        "limit: 5\n\nlimit: 6\n---\n",
        "---\nProse between two rules.\n---\n",
        "---\na: 1\nb: 2\n",
        "---\nlimit: 5\nversion: 1\n---\nx\n",
        "---\n\nlimit: 5\nversion: 1\nx\n",
        " ---\nlimit: 5\nversion: 1\nx\n",
    ],
)
def test_other_texts_stay_texts(text: str) -> None:
    assert frontmatter_fences.missing(text) is None
    assert frontmatter_fences.with_missing(text) == text
    assert not block("a", text).problem


@given(yaml_texts() | TEXTS)
def test_the_fence_is_all_that_is_added(text: str) -> None:
    made = frontmatter_fences.with_missing(text)
    if made != text:
        assert sorted(set(made.split("\n")) - {"---", "---\r", ""}) == sorted(
            set(text.split("\n")) - {"---", "---\r", ""}
        )
        assert frontmatter_fences.missing(made) is None


def test_the_block_says_so_and_stays_protected() -> None:
    found = block("a", "---\nlimit: 7\nread_only: true\nbody\n")
    assert found.problem == "line 4: the closing line --- of the front matter is missing"
    assert (found.value, found.limit, found.read_only) == (found.raw.rstrip(), 5000, True)
    found = block("a", "limit: 7\nversion: 2\n---\nbody\n")
    assert found.problem == "line 1: the opening line --- of the front matter is missing"
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
    assert frontmatter_fences.find_second_head(body) == line
