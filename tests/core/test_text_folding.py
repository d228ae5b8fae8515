"""Texts that read alike, whichever way their characters are spelled, and patterns in them."""

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memfs.core import text_folding
from memfs.core.body_edits import Rejected, Replace, apply
from memfs.core.text_folding import TextPatterns, matches_everything

WORDS = st.lists(
    st.sampled_from(
        ["Café", "naïve", "it's", '"quoted"', "two words", "a - b", "Größe", "여름", "ạ̈", "ﬁ", "x"]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
Spelling = Callable[[str], str]
SPELLINGS: list[Spelling] = [
    lambda text: text,
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFC", text),
    lambda text: text.replace("'", "\u2019"),
    lambda text: text.replace('"', "“", 1).replace('"', "”"),
    lambda text: text.replace(" ", "\u00a0"),
    lambda text: text.replace(" ", "\u202f \u2009"),
    lambda text: text.replace("-", "\u2013"),
]


@given(WORDS, WORDS, WORDS, st.sampled_from(SPELLINGS), st.sampled_from(SPELLINGS), st.booleans())
def test_what_reads_alike_is_found_once(
    before: str, text: str, after: str, spell: Spelling, other: Spelling, twice: bool
) -> None:
    front, middle, end = f"{before} <", spell(text), f"> {after}"
    assume(text_folding.fold(text) not in text_folding.fold(f"{before} {after}"))
    whole = front + middle + end + (middle if twice else "")
    found = text_folding.find_once(whole, other(text))
    assert found == (None if twice else (len(front), len(front) + len(middle)))


@given(st.text(max_size=20), st.text(min_size=1, max_size=4))
def test_a_place_is_whole_characters_of_the_text(text: str, wanted: str) -> None:
    found = text_folding.find_once(text, wanted)
    if found:
        start, end = found
        assert text_folding.fold(text[start:end]).strip() == text_folding.fold(wanted).strip()


def test_a_replace_takes_what_reads_alike_and_nothing_else() -> None:
    body = "Say “hello” — it\u2019s the Cafe\u0301.\n"
    assert apply(Replace("a", 'Say "hello" - it\'s', "X"), body, "\n") == "X the Cafe\u0301.\n"
    assert apply(Replace("a", "the Café.", "X"), body, "\n") == "Say “hello” — it\u2019s X\n"
    for old in ("the cafe", "cafe\u0301", 'say "hello"'):
        assert isinstance(apply(Replace("a", old, "X"), body, "\n"), Rejected)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("emca", "a plan of EMCA", True),
        ("emca*plan", "EMCA has a\nplan", True),
        ("emca*plan", "a plan of EMCA", False),
        ("*emca*", "EMCA", True),
        ("a.c", "abc", False),
        ("[x]", "an [X]", True),
        ("straße", "STRASSE", True),
        ("cafe\u0301", "CAF\u00c9", True),
        ("ab*ba", "aba", False),
    ],
)
def test_what_a_pattern_finds(pattern: str, text: str, found: bool) -> None:
    assert TextPatterns([pattern]).match(text) is found
    assert TextPatterns(["nothing of the kind", pattern]).match(text) is found


def test_none_finds_nothing() -> None:
    assert not TextPatterns([]).match("text")
    assert not TextPatterns(["", "*"]).match("text")
    assert matches_everything(" * *")
    assert not matches_everything("*x")


def test_many_stars_take_no_longer() -> None:
    began = time.monotonic()
    assert not TextPatterns(["a*" * 500 + "b"]).match("a" * 200_000)
    assert time.monotonic() - began < 1.0
