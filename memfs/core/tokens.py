"""Token counts without a tokenizer: a text is cut about where OpenAI's o200k does it.

Each kind of piece costs its average in 537 real files (docs/contributing/benchmarks.md).
"""

import re
from collections import Counter
from functools import lru_cache
from itertools import groupby
from math import ceil

_PIECES = re.compile(
    "[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+[A-Za-z]*|[ \t]{2,}|[\r\n]+|[!-/:-@\\[-`{-~]+|[^\x00-\x7f]+"
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_WORDS = ((5, 0.97), (8, 1.12), (16, 1.45))  # a word of so many letters at most, and its tokens
_LONG = 0.25  # each letter more


def estimate(text: str) -> int:
    """Estimate the tokens of `text`."""
    return ceil(sum(count * _count(piece) for piece, count in Counter(_split(text)).items()))


def _split(text: str) -> list[str]:
    found = _PIECES.findall(text)
    if text.isascii():
        return found
    parts: list[str] = []
    for piece in found:
        if len(piece) == 1 or piece.isascii():
            parts.append(piece)
            continue
        for script, run in groupby(piece, _get_script):
            chars = list(run)
            parts += ["".join(chars)] if script else chars
    return parts


def _get_script(char: str) -> str:
    """Return to which writing a character belongs that is no ASCII; "" for a symbol."""
    if char < "\u0250" or "\u0370" <= char < "\u2000":
        return "letters"
    is_east_asian = (
        "\u3040" <= char < "\u3100"
        or "\u3400" <= char < "\ua000"
        or "\uac00" <= char < "\ud7b0"
        or "\uff00" <= char < "\ufff0"
    )
    return "syllables" if is_east_asian else ""


@lru_cache(4096)
def _count(piece: str) -> float:
    first, length = piece[0], len(piece)
    if not first.isascii():
        if first < "\u2000":
            return 0.35 + 0.22 * length
        return 0.86 * length if "\u3040" <= first <= "\uffef" else 1.03
    if first.isalpha():
        if first.isupper() and not piece[1:].islower():  # A, HTTP
            return 1.43 + 0.08 * max(0, length - 2) + _LONG * max(0, length - _WORDS[-1][0])
        return next(
            (tokens for longest, tokens in _WORDS if length <= longest),
            _WORDS[-1][1] + _LONG * (length - _WORDS[-1][0]),
        )
    if first.isdigit():
        digits = len(piece.rstrip(_LETTERS))
        return 1.03 * ((digits + 2) // 3) + 0.76 * (length - digits)
    if first.isspace():
        return 0.83
    return 0.7 + 0.49 * max(0, length - 2)
