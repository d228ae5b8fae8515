"""A cluttered block made tidy without a model: what is said twice comes once, the newest counts.

Rules are careful where a model could judge: only what is the same but for case, spaces and marks is
a repetition, and of two values for one key (`Editor: vim`, later `Editor: helix`) the later one
stays only where both stand among keys alone, and no other key repeats: else they may be about two
people. Headings that hold nothing any more, and blank lines in a row, go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memfs.context import paging

if TYPE_CHECKING:
    from memfs.context.paging import BlockPart

_KEY = re.compile(r"[ \t]{0,3}(?:[-*+][ \t]+)?([A-Za-z][\w /-]{1,40}?)[ \t]*:[ \t]+\S")
# Keys of which there may be many.
_LABELS = frozenset({
    "todo", "fixme", "note", "notes", "decision", "rule", "tip", "hint", "warning", "important",
    "example", "question", "answer", "see", "bug", "issue", "task", "idea", "fact", "step", "item",
    "goal", "update", "change", "feature", "link", "url", "http", "https", "ref", "file",
})  # fmt: skip
_MARKS = re.compile(r"[\W_]+")
_EMPTY = re.compile(r"^#{1,6}[ \t][^\n]*\n+(?=#{1,6}[ \t]|\Z)", re.MULTILINE)
_BLANKS = re.compile(r"\n{3,}")


def consolidate_text(body: str) -> str:
    """Return a tidier body; the same one where there is nothing to do. LF line ends."""
    body = body.replace("\r\n", "\n")
    found = paging.parts(body)
    stays: dict[int, str] = {part.start: part.text for part in found}  # "" for what goes
    for section in _sections(body, found):
        _by_key(section, stays)
        _repeated(section, stays)
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


def _sections(body: str, found: list[BlockPart]) -> list[list[BlockPart]]:
    """Cut parts where a heading, code or a rule stands between them."""
    sections: list[list[BlockPart]] = []
    end = 0
    for part in found:
        if not sections or body[end : part.start].strip():
            sections.append([])
        sections[-1].append(part)
        end = part.end
    return sections


def _by_key(section: list[BlockPart], stays: dict[int, str]) -> None:
    keys = [_KEY.match(part.text) for part in section]
    names = [" ".join(key.group(1).lower().split()) if key else "" for key in keys]
    repeated = {name for name in names if names.count(name) > 1}
    if not all(names) or len(repeated) != 1 or repeated & _LABELS:
        return
    places = [n for n, name in enumerate(names) if name in repeated]
    stays[section[places[0]].start] = section[places[-1]].text
    for place in places[1:]:
        stays[section[place].start] = ""


def _repeated(section: list[BlockPart], stays: dict[int, str]) -> None:
    """Drop what stands in the same section already."""
    seen: set[str] = set()
    for part in section:
        folded = _MARKS.sub(" ", stays[part.start].lower()).strip()
        if folded and folded in seen:
            stays[part.start] = ""
        seen.add(folded)
