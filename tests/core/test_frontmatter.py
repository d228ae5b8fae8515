"""Splitting a block file loses nothing; the strict reader reads as ruamel.yaml does, or not."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor

from memfs.core import frontmatter
from tests.core.samples import alike, yaml_texts
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


class TimesAreTexts(SafeConstructor):
    pass


TimesAreTexts.add_constructor(
    "tag:yaml.org,2002:timestamp", lambda self, node: self.construct_scalar(node)
)


def ruamel(text: str) -> object:
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = TimesAreTexts
    found = yaml.load(text)
    return {} if found is None else found


@given(
    yaml_texts()
    | st.text("ab1.: -#'\"[]{},\n\r\t?!&*|>%@`~=<\\+_0exT\x85\u2028\ufeff", max_size=20)
    | st.text(max_size=20).map(lambda text: f"k: {text}\n")
)
@example("k: =\n")
@example("k: [<<]\n")
@example("k: a\t\n")
@example("k: a\xa0\n")
@example("k: a\x0b\n")
@example("k: 1 # \udce9\n")
@example("k: a\x85b: c\n")
@examples(1800)
def test_the_strict_reader_agrees_with_ruamel(text: str) -> None:
    found = frontmatter.read(text)
    if found is not None:
        assert alike(found, ruamel(text)), (text, found)


USUAL = """\
# what people write
description: Everything known about the user. Update it when you learn more.
limit: 5000            # characters; the default
read_only: false
pinned: true
version: 7
share: 0.75
updated_at: 2026-11-20T04:30:00Z
updated_by: agent
quoted: "a # b: c"  # a comment
single: 'yes'
tags: [api, "two words", 3]
nothing:
tilde: ~
colon: http://example.org/a#b
phrase: 3rd party, 90% of it
blocks:
  human:
    limit: 8000

  services/api: off
"""


def test_reads_front_matter_as_people_write_it() -> None:
    text = USUAL.replace("  services/api: off\n", "  persona: off\nlist:\n- a\n-  2 # c\n")
    assert frontmatter.read(text) == {
        "description": "Everything known about the user. Update it when you learn more.",
        "limit": 5000,
        "read_only": False,
        "pinned": True,
        "version": 7,
        "share": 0.75,
        "updated_at": "2026-11-20T04:30:00Z",
        "updated_by": "agent",
        "quoted": "a # b: c",
        "single": "yes",
        "tags": ["api", "two words", 3],
        "nothing": None,
        "tilde": None,
        "colon": "http://example.org/a#b",
        "phrase": "3rd party, 90% of it",
        "blocks": {"human": {"limit": 8000}, "persona": "off"},
        "list": ["a", 2],
    }
    assert frontmatter.read(text.replace("\n", "\r\n")) == frontmatter.read(text)
    assert alike(frontmatter.read(text), ruamel(text))


def test_a_key_it_does_not_know_makes_it_ask() -> None:
    assert frontmatter.read(USUAL) is None


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "  \n\r\n"])
def test_nothing_is_an_empty_mapping(text: str) -> None:
    assert frontmatter.read(text) == {}


@pytest.mark.parametrize(
    "value",
    [
        *("1e3", "0x1F", "0o17", "012", "1_000", ".5", "5.", "12:30:00", "+.inf", ".nan", "9" * 19),
        *("9" * 5000, "'it''s'", '"a\\n"', "|", ">-", "&a b", "*a", "!!str 5", "{a: b}", "[[a]]"),
        *("[a, ]", "a: b", "a:", "- a", "? a", "%a", "@a", "=", "<<", "'open", "a\tb", "a\x00"),
        *("a\x9b", "a\udce9"),
    ],
)
def test_what_it_is_not_certain_of_makes_it_ask(value: str) -> None:
    assert frontmatter.read(f"key: {value}\n") is None
    assert frontmatter.read(f"key:\n- {value}\n") is None


@pytest.mark.parametrize(
    "text",
    [
        *("a: 1\na: 2\n", " a: 1\n", "a: 1\n b: 2\n", "a:\n  text\n", "a: b\n  c\n", "- a\n"),
        *("a\n", "1: a\n", "true: a\n", "'a': b\n", "? a\n: b\n", "a : b\n", "a:b\n"),
        *("a:\n - b\n  - c\n", "a:\n  - b\n - c\n", "---\na: 1\n", "a: 1\n...\n", "a: 1\n---\n"),
        *("a: 1\rb: 2\n", "\ufeffa: 1\n", "a: 1\n<<<<<<< ours\n", "k" * 2000 + ": v\n"),
    ],
)
def test_structures_it_does_not_know_make_it_ask(text: str) -> None:
    assert frontmatter.read(text) is None


def test_lists_and_mappings_may_be_indented_or_not() -> None:
    assert frontmatter.read("a:\n- 1\n- b\nc:\n    - d\ne:\n   f:\n     g: h\ni: j\n") == {
        "a": [1, "b"],
        "c": ["d"],
        "e": {"f": {"g": "h"}},
        "i": "j",
    }


@pytest.mark.parametrize("value", ["a\xa0b", "a\u3000b", "👩\u200d💻", "a\u202fb", "é", "名前"])
def test_text_of_every_language_is_read(value: str) -> None:
    assert frontmatter.read(f"key: {value}\n") == {"key": value}


def test_nesting_without_end_makes_it_ask() -> None:
    assert frontmatter.read("".join(f"{' ' * depth}a:\n" for depth in range(3000))) is None
