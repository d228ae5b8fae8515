"""Equal headings of one level below one heading become one section, with the lines of both.

Only sections of list items and plain lines are joined: what stands in code, tables, steps or below
a label belongs where it is. Sections that give one key two values are about two things; so are
those with a rule (`---`) between them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memfs.context import line_keys
from memfs.context.statements import fold_statement
from memfs.core import headings

_RULE = re.compile(r"^[ ]{0,3}(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"[-*+][ \t]")
_SHORT = 60  # characters of a line that nothing below it continues


@dataclass
class _Section:
    level: int
    title: str
    text: str  # its heading is no part of it
    line: str = ""
    below: list[_Section] = field(default_factory=list)

    def render(self) -> str:
        return "".join([self.line, self.text, *(each.render() for each in self.below)])


def group_headings(text: str) -> str:
    """Return a text with its equal headings joined; the same text if there are none."""
    root = _Section(0, "", "")
    above = [root]
    for each in headings.split_markdown(text if text.endswith("\n") else f"{text}\n"):
        if not each.level:
            root.text = each.body
            continue
        while above[-1].level >= each.level:
            above.pop()
        section = _Section(
            each.level, " ".join(fold_statement(each.title)).strip(), each.body, each.line
        )
        above[-1].below.append(section)
        above.append(section)
    return root.render() if _join_siblings(root) else text


def _join_siblings(parent: _Section) -> bool:
    """Join the sections of equal headings below one; return whether there were some."""
    kept: list[_Section] = []
    known: dict[tuple[int, str], _Section] = {}
    for section in parent.below:
        name = section.level, section.title
        first = known.get(name)
        if first and section.title and _is_one_thing(first, section):
            first.text = _join_texts(first.text, section.text)
            first.below += section.below
        else:
            known[name] = section
            kept.append(section)
        if _RULE.search(section.render()):
            known.clear()
    joined = len(kept) < len(parent.below)
    parent.below = kept
    return any([joined, *map(_join_siblings, kept)])


def _is_one_thing(first: _Section, second: _Section) -> bool:
    lines = [line for line in f"{first.text}\n{second.text}".split("\n") if line.strip()]
    return (
        first.title not in line_keys.LABELS
        and not second.text.lstrip("\n").startswith((" ", "\t"))
        and all(map(line_keys.is_plain, lines))
        and not line_keys.find_records(lines)
    )


def _join_texts(first: str, second: str) -> str:
    upper, lower = first.rstrip("\n"), second.strip("\n")
    if not lower.strip():
        return first
    last, following = upper.rpartition("\n")[2], lower.partition("\n")[0]
    if not last.strip():
        return second
    item = bool(_ITEM.match(last.lstrip()))
    near = item == bool(_ITEM.match(following)) and (item or len(last) < _SHORT)
    tail = first[len(upper) :] or "\n"
    return upper + ("\n" if near else "\n\n") + lower + tail
