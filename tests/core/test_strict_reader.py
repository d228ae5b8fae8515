"""The strict reader: what it returns is what ruamel.yaml returns, or it returns nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor

from memfs.core import frontmatter
from tests.core.samples import alike, yaml_texts
from tests.examples import examples


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


def agrees(text: str) -> None:
    found = frontmatter.read(text)
    if found is not None:
        assert alike(found, ruamel(text)), (text, found)


@given(yaml_texts())
@example("k: =\n")
@example("k: [<<]\n")
@example("k: a\t\n")
@example("k: a\xa0\n")
@example("k: a\x0b\n")
@example("k: 1 # \udce9\n")
@example("k: a\x85b: c\n")
@examples(1500)
def test_agrees_with_ruamel_on_texts_like_yaml(text: str) -> None:
    agrees(text)


@given(st.text(alphabet="ab1.: -#'\"[]{},\n\r\t?!&*|>%@`~=<\\+_0exT\x85\u2028\ufeff", max_size=20))
@examples(1500)
def test_agrees_with_ruamel_on_any_text(text: str) -> None:
    agrees(text)


@given(st.text(max_size=20).map(lambda text: f"k: {text}\n"))
@examples(700)
def test_agrees_with_ruamel_on_any_value(text: str) -> None:
    agrees(text)


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
