"""Consolidates a cluttered block without a model: duplicates go, the latest value of a key stays.

Sections with the same heading become one. A line that a later one takes back in words is put into
one with it. Only texts that are equal but for case, spaces, punctuation, articles and the s of a
word are duplicates; the first one stays.
Under different headings a text may be about two things: there it is a duplicate only where it
stands under a heading above as well, and is a statement rather than a key or a word or two. Of two
values for one key (`Editor: vim`, later `Editor: helix`) the later one stays only where the section
holds nothing but keys and no other key repeats: else they may be about two people. Headings that
become empty, and repeated blank lines, are removed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memfs.context import page_scores, repeated_headings, superseded_lines

if TYPE_CHECKING:
    from memfs.context.page_scores import BlockPart

_KEY = re.compile(r"[ \t]{0,3}(?:[-*+][ \t]+)?([A-Za-z][\w /-]{1,40}?)[ \t]*:[ \t]+\S")
# Keys of which there may be many.
_LABELS = frozenset({
    "todo", "fixme", "note", "notes", "decision", "rule", "tip", "hint", "warning", "important",
    "example", "question", "answer", "see", "bug", "issue", "task", "idea", "fact", "step", "item",
    "goal", "update", "change", "feature", "link", "url", "http", "https", "ref", "file",
})  # fmt: skip
_MARKS = re.compile(r"[\W_]+")
_SMALL = frozenset(("a", "an", "the", "we", "i", "our", "my"))  # they do not change what is said
_ENDING = re.compile(r"(?<=\w\w[^\Ws])s\Z")
_FEWEST = 3  # words of what says the same under a heading and under one below it
_EMPTY = re.compile(r"^#{1,6}[ \t][^\n]*\n+(?=#{1,6}[ \t]|\Z)", re.MULTILINE)
_CODE = re.compile(r"\s*(?:```|~~~)")
_BLANKS = re.compile(r"\n{3,}")


def consolidate_text(body: str) -> str:
    """Return the consolidated body, or the same one if nothing is to be done. LF line ends."""
    given = body
    body = repeated_headings.join_sections(body.replace("\r\n", "\n"))
    found = page_scores.split_parts(body)
    stays: dict[int, str] = {part.start: part.text for part in found}  # "" for what goes
    sections = _split_sections(body, found)
    for section in sections:
        _keep_latest(section, stays)
        _take_back(section, stays)
    _drop_repetitions(sections, _list_scopes(body, found), stays)
    out, at = [], 0
    for part in found:
        out += [body[at : part.start], stays[part.start]]
        at = part.end
    text = "".join([*out, body[at:]])
    if text == body:
        return given if body == given.replace("\r\n", "\n") else body
    previous = ""
    while previous != text:  # a heading may have held nothing but headings
        previous, text = text, _EMPTY.sub(_drop_empty, text)
    return _BLANKS.sub("\n\n", text).strip("\n") + "\n" if text.strip() else ""


def _drop_empty(match: re.Match[str]) -> str:
    """Return "" for an empty heading; one with a heading of a lower level below it is kept."""
    level = len(match.group(0)) - len(match.group(0).lstrip("#"))
    rest = match.string[match.end() :]
    below = len(rest) - len(rest.lstrip("#"))
    return match.group(0) if below > level else ""


def _split_sections(body: str, found: list[BlockPart]) -> list[list[BlockPart]]:
    """Group parts into sections, separated by a heading, code or a rule."""
    sections: list[list[BlockPart]] = []
    end = 0
    for part in found:
        if not sections or body[end : part.start].strip():
            sections.append([])
        sections[-1].append(part)
        end = part.end
    return sections


def _keep_latest(section: list[BlockPart], stays: dict[int, str]) -> None:
    keys = [_KEY.match(part.text) for part in section]
    names = [" ".join(key.group(1).lower().split()) if key else "" for key in keys]
    repeated = {name for name in names if names.count(name) > 1}
    if not all(names) or len(repeated) != 1 or repeated & _LABELS:
        return
    places = [n for n, name in enumerate(names) if name in repeated]
    stays[section[places[0]].start] = section[places[-1]].text
    for place in places[1:]:
        stays[section[place].start] = ""


def _take_back(section: list[BlockPart], stays: dict[int, str]) -> None:
    """Put what a later part takes back into one part with it."""
    texts = [stays[part.start].rstrip("\n") for part in section]
    for place, text in superseded_lines.find_superseded(texts).items():
        ending = section[place].text[len(section[place].text.rstrip("\n")) :]
        stays[section[place].start] = text + ending if text else ""


def _list_scopes(body: str, found: list[BlockPart]) -> dict[int, tuple[str, ...]]:
    """Map the start of each part to the headings above it, the highest first.

    What follows a rule, or a line that ends with a colon, has a scope of its own, and so has what
    comes before code: it says what the code is.
    """
    scopes: dict[int, tuple[str, ...]] = {}
    above: list[tuple[int, str]] = []
    own, end = "", 0
    for part in found:
        fenced = False
        for line in body[end : part.start].split("\n"):
            text = line.strip()
            level = len(text) - len(text.lstrip("#"))
            if text.startswith(("```", "~~~")):
                fenced = not fenced
            elif text and not fenced and not level:
                own = f"{text} {part.start}"
            elif text and not fenced:
                above = [each for each in above if each[0] < level] + [(level, _fold(text))]
                own = ""
        alone = str(part.start) if _CODE.match(body, part.end) else own
        scopes[part.start] = (alone,) if alone else tuple(text for _, text in above)
        end = part.end
    return scopes


def _drop_repetitions(
    sections: list[list[BlockPart]], scopes: dict[int, tuple[str, ...]], stays: dict[int, str]
) -> None:
    """Drop the parts that repeat an earlier one of their section, or of their scope."""
    seen: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for number, section in enumerate(sections):
        for part in section:
            folded, scope = _fold_statement(stays[part.start]), scopes[part.start]
            before = seen.setdefault(folded, [])
            near = any(number == other for other, _ in before)
            if folded and (near or any(_is_covered(part, scope, wide) for _, wide in before)):
                stays[part.start] = ""
            before.append((number, scope))


def _is_covered(part: BlockPart, scope: tuple[str, ...], wide: tuple[str, ...]) -> bool:
    """Tell whether a part that was said in the scope `wide` needs not be said in `scope`."""
    if _KEY.match(part.text):
        return False
    return scope == wide or (
        scope[: len(wide)] == wide and len(_fold(part.text).split()) >= _FEWEST
    )


def _fold(text: str) -> str:
    return _MARKS.sub(" ", text.lower()).strip()


def _fold_statement(text: str) -> str:
    """Fold a text; of a statement of some words also articles, pronouns and the s of its words."""
    words = _fold(text).split()
    kept = [_ENDING.sub("", word) for word in words if word not in _SMALL]
    return " ".join(kept if len(kept) >= _FEWEST else words)
