"""A text is found as it reads, whichever way an editor or an assistant spells its characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from memfs.core import text_folding
from memfs.core.body_edits import Rejected, Replace, apply

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
