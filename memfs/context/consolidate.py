"""A cluttered block made tidy without a model: what is said twice comes once, the newest counts.

Of parts with the same key (`Editor: vim`, later `Editor: helix`) the last one stays, where the
first one stood; of two that say nearly the same, the longer one. Headings that hold nothing any
more, and blank lines in a row, go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memfs.context import paging

if TYPE_CHECKING:
    from memfs.context.paging import Part

_ALIKE = 0.93  # cosine from which on two parts say the same
_KEY = re.compile(r"[ \t]{0,3}(?:[-*+][ \t]+)?([A-Za-z][\w /-]{1,40}?)[ \t]*:[ \t]+\S")
_NUMBERS = re.compile(r"\d+")
_EMPTY = re.compile(r"^#{1,6}[ \t][^\n]*\n+(?=#{1,6}[ \t]|\Z)", re.MULTILINE)
_BLANKS = re.compile(r"\n{3,}")


def consolidated(body: str) -> str:
    """Return a tidier body; the same one where there is nothing to do. LF line ends."""
    body = body.replace("\r\n", "\n")
    found = paging.parts(body)
    stays: dict[int, str] = {part.start: part.text for part in found}  # "" for what goes
    _by_key(found, stays)
    _by_meaning(found, stays)
    out, at = [], 0
    for part in found:
        out += [body[at : part.start], stays[part.start]]
        at = part.end
    text = "".join([*out, body[at:]])
    if text == body:
        return body
    previous = ""
    while previous != text:  # a heading may have held nothing but headings
        previous, text = text, _EMPTY.sub(_kept_if_last_level, text)
    return _BLANKS.sub("\n\n", text).strip("\n") + "\n" if text.strip() else ""


def _kept_if_last_level(match: re.Match[str]) -> str:
    """Drop an empty heading, unless what follows it is below it."""
    level = len(match.group(0)) - len(match.group(0).lstrip("#"))
    rest = match.string[match.end() :]
    below = len(rest) - len(rest.lstrip("#"))
    return match.group(0) if below > level else ""


def _by_key(found: list[Part], stays: dict[int, str]) -> None:
    first: dict[str, int] = {}
    for part in found:
        key = _KEY.match(part.text)
        if key is None:
            continue
        name = " ".join(key.group(1).lower().split())
        if name in first:
            stays[first[name]] = part.text
            stays[part.start] = ""
        else:
            first[name] = part.start


def _by_meaning(found: list[Part], stays: dict[int, str]) -> None:
    left = [part.start for part in found if stays[part.start]]
    texts = [stays[start] for start in left]
    if len(texts) < 2:
        return
    from memfs.search.encoder import bundled

    vectors = bundled().encode(texts).vectors
    near = vectors @ vectors.T
    for later in range(len(left)):
        for earlier in range(later):
            one, other = stays[left[earlier]], stays[left[later]]
            if one and other and near[earlier, later] >= _ALIKE and _same_numbers(one, other):
                stays[left[earlier]] = max(one, other, key=len)
                stays[left[later]] = ""


def _same_numbers(one: str, other: str) -> bool:
    return _NUMBERS.findall(one) == _NUMBERS.findall(other)
