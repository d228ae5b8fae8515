"""Texts are cut as the tokenizers library cuts them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from memfs.search import modelfiles, wordpiece

THEIRS = Tokenizer.from_file(f"{modelfiles.BUNDLED}/{modelfiles.TOKENIZER}")
VOCABULARY = THEIRS.get_vocab()
UNKNOWN = VOCABULARY["[UNK]"]
LONGEST = max(map(len, VOCABULARY))
# What Unicode took in later is punctuation for one of us, and not yet for the other.
KNOWN = st.characters(exclude_categories=["Cs"]).filter(
    lambda char: unicodedata.ucd_3_2_0.category(char) != "Cn"
)
WORDS = st.sampled_from([
    "retry", "back-off", "getUserName()", "src/x.py:12", "naïve", "Straße", "ΣΑΣ", "日本語", "한국어",
    "don't", "E_NO_SPACE", "x" * 100, "x" * 101, "½", "\u200b", "\x85", "\x1c", "\x7f", "İ", "q͏̧",
])  # fmt: skip


def tokens(text: str) -> list[int]:
    return wordpiece.tokens(text, lambda token: VOCABULARY.get(token, -1), LONGEST, UNKNOWN)


@pytest.mark.parametrize(
    "text",
    [
        "Fix the retry back-off in src/x.py!", "getUserName", "", "   ", "\x00a\x01b\tc\r\nd\x7f",
        "naïve Café ΣΑΣ İstanbul", "日本語のテスト and 한국어", "x" * 101, "unaffable" * 9,
        "a\u200bb\u00adc\ufffdd", "\x85 \x1c\u2028", "∑ ½ ﬁ",
    ],
)  # fmt: skip
def test_a_text_is_cut_as_the_library_does(text: str) -> None:
    assert tokens(text) == THEIRS.encode(text, add_special_tokens=False).ids


@given(st.lists(WORDS | st.text(KNOWN, max_size=12)).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_any_text_is_cut_as_the_library_does(text: str) -> None:
    assert tokens(text) == THEIRS.encode(text, add_special_tokens=False).ids
