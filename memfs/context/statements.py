"""Statements of a block by their form: which lines say the same, and which one ends another.

Two lines say the same if their words are equal but for the subject ("We use", "Uses"), the article
"the", quotes, and the case and punctuation of sentences. A line ends an earlier one only if it
says so itself: "Changed jobs to", "now", "actually". The facts of `knowledge` are no help here:
they are about whole sentences of messages, whose times are known.
"""

from __future__ import annotations

import re
from typing import NamedTuple

ITEM = re.compile(r"\A[ \t]*(?:[-*+][ \t]+)?")  # the mark of a list item, if there is one
VERBS = {
    "uses": "use", "prefers": "prefer", "likes": "like", "works": "work", "lives": "live",
    "needs": "need", "wants": "want", "runs": "run", "deploys": "deploy", "writes": "write",
    "keeps": "keep", "speaks": "speak",
}  # fmt: skip
_SUBJECTS = ("we", "i", "user")
_QUOTES = "`\"'\u2018\u2019\u201c\u201d"
_NAME = (
    r"(?!(?:a|about|all|also|always|and|as|at|because|both|but|by|for|from|if|in|it|like|me|most|"
    r"never|not|now|on|only|or|over|since|so|some|sometimes|still|than|that|this|to|too|until|us|"
    r"when|where|with|you)\b)[\w.+#&/'-]*[\w+#]"
)
_VALUE = rf"(?P<value>{_NAME}(?: {_NAME}){{0,3}})"
_WHO = r"(?P<who>(?:i|we|(?:the )?user|(?-i:[A-Z][\w-]*)) )?"
_MARK = r"(?:(?:actually|now),? )*"
_STATEMENT = re.compile(
    rf"(?P<lead>{_MARK})(?!actually|now){_WHO}(?P<middle>{_MARK})"
    r"(?P<verb>prefers?|works? (?:at|for):?|lives? in:?|employer:) "
    rf"{_VALUE}(?: \(earlier: (?P<past>[^()\n]+)\))?(?P<end> now)?[.!]?",
    re.IGNORECASE,
)
_NEW_JOB = re.compile(
    rf"{_WHO}(?:has |have )?(?:changed|switched) jobs? to {_VALUE}(?: now)?[.!]?", re.IGNORECASE
)


class Statement(NamedTuple):
    """What a line says of whom: `about` is equal for lines of which one holds.

    `value` is at `start` to `end` of the line. `changes`: it says that an earlier one holds no
    more. `corrects`: only the one right before it.
    """

    about: tuple[str, str]
    value: str
    start: int
    end: int
    past: str
    changes: bool
    corrects: bool


def fold_statement(text: str) -> tuple[str, str]:
    """Return the subject of a line, "" if it names none, and its other words, to be compared."""
    found = map(_fold_word, ITEM.sub("", text).replace("**", "").split())
    words = [word for word in found if word and word != "the"]
    if not any(map(str.isalnum, "".join(words))):
        return "", ""
    subject = ""
    if len(words) > 1 and words[0] in _SUBJECTS and is_verb(words[1]):
        subject = words.pop(0)
    words[0] = VERBS.get(words[0], words[0])
    return subject, " ".join(words)


def is_verb(word: str) -> bool:
    """Return whether a word in lower case is a verb with which statements begin."""
    return word in VERBS or word in VERBS.values()


def _fold_word(word: str) -> str:
    bare = word.strip(_QUOTES).rstrip(".,;!").rstrip(_QUOTES).replace("\u2019", "'")
    # Other capitals count: `-V`, `CI`, `camelCase`.
    return bare.lower() if bare.replace("'", "").isalpha() and bare == bare.capitalize() else bare


def read_statement(line: str) -> Statement | None:
    """Return what a line states of which only one value holds at a time, None for other lines."""
    mark = ITEM.match(line)
    text, start = line.rstrip(), mark.end() if mark else 0
    job = _NEW_JOB.fullmatch(text, start)
    match = job or _STATEMENT.fullmatch(text, start)
    if not match:
        return None
    verb = "works" if job else match["verb"].lower().replace("employer:", "works").split()[0]
    verb = VERBS.get(verb, verb)
    who = (match["who"] or "").strip().lower().removeprefix("the ")
    marks = "" if job else f"{match['lead']}{match['middle']}{match['end'] or ''}".lower()
    corrects = verb == "prefer"  # one may prefer several things
    changes = bool(job or ("actually" in marks if corrects else marks))
    past = "" if job else match["past"] or ""
    about = (verb, "" if who in {"i", "user"} else who)
    return Statement(about, match["value"], *match.span("value"), past, changes, corrects)


def replace_value(line: str, new: Statement) -> str:
    """Return a statement with a later value. What was preferred before stays, as that."""
    old = read_statement(line)
    if not old:
        return line
    after = line[old.end :]
    if new.corrects:
        after = after.removeprefix(f" (earlier: {old.past})")
        past = [each for each in (old.value, *old.past.split(", ")) if each not in {"", new.value}]
        after = f" (earlier: {', '.join(past)}){after}" if past else after
    return line[: old.start] + new.value + after
