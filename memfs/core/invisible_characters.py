"""Makes invisible characters, and those that reverse text, visible for people."""

from __future__ import annotations

import re

# Format characters, blank letters, tags, and repeated variation selectors. A joiner between two
# emoji, and one selector behind a character, are ordinary text.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)


def reveal_hidden(text: str) -> str:
    r"""Return a text with invisible characters replaced by escapes such as `\u202e`."""
    if text.isascii():
        return text
    return _UNSEEN.sub(lambda found: ascii(found.group())[1:-1], text)
