"""Phrases of words that open wallets (BIP-39), where the text announces them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfs.secrets.prefilter import TextFeatures

_SIZES = (12, 15, 18, 21, 24)  # words
_AHEAD = 120  # characters from what announces a phrase to its first word
# No list of words for wallets has these, and hardly a sentence of twelve words does without them.
_PROSE = frozenset(
    """
the and for are was were been had has his her its our your their not but did does who why which
would should could these those here while him she out via per let get got set says said yes don
der die das und ist ein mit für auf les des une est pas que qui los las una por con del che non
sono uma com não
""".split()
)
# What stands right before a phrase.
_OPENING = re.compile(
    r"(?:[:=\"'`\[(|>\n-]|(?<![a-z])(?:is|are|ist|lautet|est|es|son|sono|è|é|são|phrase|frase|words|seed"
    r"|mnemonic|bip-?39)[ ])[\s\"'`]{0,8}(?:[0-9]{1,2}[.):]?\s{0,4})?\Z"
)
_WORD = re.compile(r"[^\W_]+")
_GAP = re.compile(r"[\s,;\"'`]{0,12}(?:[0-9]{1,2}[.):]?[\s\"'`]{0,4})?\Z")
_NUMBER = re.compile(r"[0-9]{1,2}\Z")


def mnemonics(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the phrases that open wallets."""
    done = 0
    for at in places.at.get("mnemonic", ()):
        if at < done or places.lower.endswith("pass", 0, at):  # a passphrase is none
            continue
        run: list[re.Match[str]] = []
        for word in _WORD.finditer(text, at):
            done = word.end()
            if run and _NUMBER.match(word[0]):
                continue  # of the next word
            if run and not _goes_on(text, run, word):
                yield from _find_phrases(text, run)
                run = []
            if _may_open(word[0]):
                run.append(word)
            elif done - at > _AHEAD:
                break
        yield from _find_phrases(text, run)


def _may_open(word: str) -> bool:
    return 3 <= len(word) <= 8 and word.isalpha() and word.islower() and word not in _PROSE


def _goes_on(text: str, run: list[re.Match[str]], word: re.Match[str]) -> bool:
    return _may_open(word[0]) and bool(_GAP.match(text[run[-1].end() : word.start()]))


def _find_phrases(text: str, run: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """Yield the phrase that a run of words is, or those that lines of it are."""
    lines: list[list[re.Match[str]]] = [[]]
    for before, word in zip([None, *run], run, strict=False):
        if before and "\n" in text[before.end() : word.start()]:
            lines.append([])
        lines[-1].append(word)
    for words in [run] if len(run) in _SIZES else lines:
        # An example repeats its words: abandon abandon … about.
        if len(words) not in _SIZES or len({word[0] for word in words}) * 6 < len(words) * 5:
            continue
        start = words[0].start()
        if _OPENING.search(text[max(0, start - 40) : start].lower()):
            yield "mnemonic", start, words[-1].end()
