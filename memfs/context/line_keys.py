"""Lines of a block by their place in it: keys with a value, labels of what follows, plain lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memfs.context.statements import ITEM, fold_statement, is_verb

_KEY = re.compile(r"[ \t]{0,3}(?:[-*+][ \t]+)?([A-Za-z][\w /-]{1,40}?)[ \t]*:[ \t]+\S")
# Keys of which there may be many.
LABELS = frozenset({
    "todo", "fixme", "note", "notes", "decision", "rule", "tip", "hint", "warning", "important",
    "example", "examples", "question", "answer", "see", "bug", "issue", "task", "idea", "fact",
    "step", "item", "goal", "update", "change", "feature", "link", "url", "http", "https", "ref",
    "file",
})  # fmt: skip
_LABEL = re.compile(r"[^\n]*:[\s*_]*|\*\*[^\n]+\*\*\s*|__[^\n]+__\s*")
_PLAIN = re.compile(r"(?!```)[\w`\"'(*\[\u2018\u201c]")
_STEP = re.compile(r"\d+[.)][ \t]")
_NAME = 2  # words: a line of no more, without a verb, may be the name of what follows


def read_key(text: str) -> str:
    """Return the key of a line, in lower case, as "editor" of "Editor: vim"; "" if it has none."""
    key = _KEY.match(text)
    return " ".join(key.group(1).lower().split()) if key else ""


def find_records(texts: Iterable[str]) -> set[str]:
    """Return the keys that have several values in some lines: these are about several things."""
    values: dict[str, set[str]] = {}
    for text in texts:
        if key := read_key(text):
            values.setdefault(key, set()).add(fold_statement(text)[1])
    return {key for key, some in values.items() if len(some) > 1} - LABELS


def is_label(text: str) -> bool:
    """Return whether a line names what follows it: it ends with a colon, is bold, or is a name."""
    lines = ITEM.sub("", text).strip().split("\n")
    return (
        bool(_LABEL.fullmatch(lines[0]))
        or lines[-1].endswith(":")
        or (is_name(text) and ITEM.sub("", text) == text)
    )


def is_name(text: str) -> bool:
    """Return whether a line or list item may be a name alone, to which what follows belongs."""
    line = ITEM.sub("", text).strip()
    words = line.split()
    return (
        len(words) <= _NAME
        and line[:1].isupper()
        and not line.endswith((".", "!"))
        and not read_key(text)
        and not is_verb(words[0].lower())
    )


def is_plain(text: str) -> bool:
    """Return whether a line means the same elsewhere: no step, tag, row, quotation or label."""
    line = text.strip()
    plain = _PLAIN.match(ITEM.sub("", line)) and not _STEP.match(line)
    return bool(plain) and not is_label(text)
