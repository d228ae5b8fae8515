"""Removes the duplicate lines of a block without a model.

Lines are duplicates if their words are equal. What stands below another heading, label or name may
be about another thing: there it is a duplicate only of a line above all of them. Labels, names,
headings, steps, tables, tags, code, and lines with others nested below them stay.
"""

import re
from collections import Counter
from collections.abc import Iterator

from memfs.context.page_scores import BlockPart, split_parts
from memfs.core import headings

_FEWEST = 3  # words of what says the same under a heading and above it
_ALONE = 7  # level of what a label, a name or a rule opens: deeper than headings
_MARK = re.compile(r"\A[-*+][ \t]+")
_LISTED = re.compile(r"\s*[-*+][ \t]")  # a list follows
_PLAIN = re.compile(r"(?!\d+[.)]\s)[\w`\"'(*\[\u2018\u201c]")
_LABEL = re.compile(r":[ \t*_]*$|^(?:\*\*|__).*(?:\*\*|__)$", re.MULTILINE)
_NAME = re.compile(  # one or two words without a verb
    r"(?!(?:Deploy|Keep|Like|Live|Need|Prefer|Run|Speak|Use|Want|Work|Write)s? )"
    r"[A-Z][^\s:]*(?: \S+)?(?<![.!])"
)
_CHANGE = re.compile(r"\b(?:actually|changed|instead|longer|now|switched)\b", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HOLDS = re.compile(r"[ \t]+\S|(?:[^\n]+\n)*? {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)")  # nested, underlined
_QUOTES = "`\"'\u2018\u2019\u201c\u201d"


def consolidate_text(body: str) -> str:
    """Return the body without its duplicate lines, or the same one if there are none."""
    out, at = [], 0
    for part in _find_duplicates(body):
        out.append(body[at : part.start])
        blank = body[: part.start].endswith("\n\n") and body.startswith("\n", part.end)
        at = part.end + blank  # of two blank lines one stays
    # What goes may make more of the rest equal.
    return consolidate_text("".join([*out, body[at:]]).rstrip("\n") + "\n") if out else body


def _find_duplicates(body: str) -> Iterator[BlockPart]:
    lines = headings.mark_code_lines(body)
    plain = "".join(re.sub(r"[^\n]", " ", line) if code else line for line, code in lines)
    found = split_parts(plain)
    folded = {_fold_words(part.text) for part in found}
    values = Counter(words.partition(": ")[0].lower() for words in folded)  # of each key
    scopes: list[tuple[int, set[str]]] = [(0, set())]  # the headings above, and what they say
    near, end = set[str](), 0
    for part in found:
        for text in filter(None, map(str.strip, plain[end : part.start].split("\n"))):
            level = len(text) - len(text.lstrip("#"))
            above = [each for each in scopes if each[0] < level] if level else scopes[:1]
            scopes = [*above, (level or _ALONE, set())]
        near = set() if body[end : part.start].strip() else near
        end = part.end
        words, listed = _fold_words(part.text), bool(_LISTED.match(body, end))
        if not words or part.text[0] in " \t":
            continue
        key, keyed, _ = words.partition(": ")
        if values[key.lower()] > 1 or _is_title(part.text, listed=listed):
            near, scopes = set(), [scopes[0], (_ALONE, set())]
            continue
        if _HOLDS.match(body, end):
            continue
        code = _FENCE.match(body, end)
        wide = scopes[-1:] if keyed or len(words.split()) < _FEWEST else scopes
        if words in near or (not code and any(words in said for _, said in wide)):
            yield part
            continue
        near.add(words)
        if not code:
            scopes[-1][1].add(words)


def _is_title(text: str, *, listed: bool) -> bool:
    """Tell whether a line is no plain one, or says what those after it (`listed`) are about."""
    line = _MARK.sub("", text).strip()
    heads = listed and line == text.strip()
    opens = _LABEL.search(line) or _CHANGE.search(line) or _NAME.fullmatch(line)
    return heads or bool(opens) or not _PLAIN.match(line)


def _fold_words(text: str) -> str:
    """Return the words of a line, to be compared: other capitals count (`-V`, `CI`)."""
    found = []
    for word in _MARK.sub("", text).replace("**", "").split():
        bare = word.strip(_QUOTES).rstrip(".,;!").rstrip(_QUOTES).replace("\u2019", "'")
        lower = bare.replace("'", "").isalpha() and bare == bare.capitalize()
        found.append(bare.lower() if lower else bare)
    return " ".join(found) if any(map(str.isalnum, "".join(found))) else ""
