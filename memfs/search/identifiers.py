"""Words inside of words: the parts of identifiers, and pairs of CJK characters.

`getUserName`, `src/x.py` and `E_NO_SPACE` are found whole and by their parts; a text without spaces
between its words is found by every two characters that follow each other.
"""

from __future__ import annotations

import re

# Each alternative begins where no letter or digit is before it, and takes what it can at once:
# time grows with the text, whatever it is.
_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]++(?:[_./:#@\\-]{1,3}+[A-Za-z0-9]++)++"
    r"|(?=[A-Za-z0-9]{0,99}(?:[a-z][A-Z]|[A-Z]{2}[a-z]))[A-Za-z0-9]++)"
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")  # of a name, which is short
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]++")
_LONGEST = 100  # characters of a name; longer ones are data


def parts(text: str) -> list[str]:
    """Return the words inside the words of a text, lower-cased, repeated as often as they occur."""
    found: list[str] = []
    for name in _NAME.findall(text):
        if len(name) > _LONGEST:
            continue
        found.append(name.lower())
        humps = _HUMP.findall(name)
        if len(humps) > 1:
            found += [hump.lower() for hump in humps if len(hump) > 1]
    if not text.isascii():
        for run in _CJK.findall(text):
            found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return found


def names(text: str) -> list[str]:
    """Return the identifiers, paths and codes that are named in a text, as they are written."""
    return list(dict.fromkeys(n for n in _NAME.findall(text) if len(n) <= _LONGEST))


def is_path(name: str) -> bool:
    """Tell whether an identifier looks like a file: `src/x.py`, `x.py`."""
    stem, dot, suffix = name.rpartition(".")
    return "/" in name or bool(dot and stem and 1 <= len(suffix) <= 5 and suffix.isalpha())
