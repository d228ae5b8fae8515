"""Makes invisible characters, and those that reverse text, visible for people."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Format characters, blank letters, tags, and repeated variation selectors. A joiner between two
# emoji, and one selector behind a character, are ordinary text.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
_DOUBTFUL = re.compile(r"([^\n\t -~])\1*")
_MOST = 64  # of one character in a row, above which their number stands
# What Unicode counts as printable, and nobody sees: joiners, blank letters, variation selectors.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def reveal_hidden(text: str) -> str:
    r"""Return a text with invisible characters replaced by escapes such as `\u202e`."""
    if text.isascii():
        return text
    return _UNSEEN.sub(lambda found: ascii(found.group())[1:-1], text)


def split_visible(text: str) -> Iterator[tuple[str, bool]]:
    r"""Yield the pieces of a text of which nothing may stay unseen: (piece, is it an escape).

    Control characters, every space but the common one, bytes that are no UTF-8 (`\udc80`), marks
    without a look: each is an escape, so that somebody can decide on the text; of very many in a
    row, one with their number. Line ends and tabs stay.
    """
    start = 0
    for found in _DOUBTFUL.finditer(text):
        char, many = found[1], len(found[0])
        if char.isprintable() and not _BLANK.match(char):
            continue
        if start < found.start():
            yield text[start : found.start()], False
        shown = ascii(char)[1:-1]
        yield shown * many if many <= _MOST else f"{shown}{{{many}}}", True
        start = found.end()
    if start < len(text):
        yield text[start:], False
