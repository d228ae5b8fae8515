"""Facts in what was said, by rules and without a model.

A sentence is a fact where its form says that somebody states something that lasts: a preference, a
rule, a decision, a name, an environment, a version, a correction; and in an assistant's words what
it found out: where something is, what it does, why it failed, what was changed. Questions, plans,
wishes and guesses are none. Code, quotations and what tools printed are not looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memfs.memory import forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.core.records import Message

CATEGORIES = (
    "preference", "rule", "decision", "identity", "environment", "version", "correction", "cause",
    "technical", "change",
)  # fmt: skip
_LONGEST, _SHORTEST = 320, 12  # characters of a sentence that can be one
_FEWEST = 3  # words
_PERSONAL = ("identity", "preference")
_ABOUT_ME = re.compile(  # or an address, or a telephone number
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself)\b|[\w.+-]+@[\w-]+\.\w|(?:\d[ -]?){7,}",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_SPLIT = re.compile(r"(?<=[a-zA-Z0-9`)\"'*\]][.!?])\s+(?=[A-Z`\"'(*])|\n+")
_LEAD = re.compile(
    r"^[ \t]*(?:[-*+•]|\d+[.)]|#{1,6})[ \t]+|^\*\*[^*]{1,40}(?:\*\*:|:\*\*)[ \t]*(?=\S)"
)
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_ENTITY = re.compile(
    r"`([^`\n]{1,80})`|((?<![\w/.])(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.(?:py|ts|tsx|js|go|rs|md|json|"
    r"ya?ml|toml|sh|java|rb|c|h|cpp|css|html)\b)|(?<![.!?]\s)(?<!^)\b([A-Z][a-z]+[A-Z]\w+|[A-Z]{2,}"
    r"[\w-]*|[A-Z][a-z]{2,})\b"
)
_RELATION = re.compile(
    rf"({forms.SPAN}) (?:\w+ )?(is|are|uses?|requires?|returns?|contains?|includes?|calls?|"
    rf"comes? from|(?:is|are) (?:defined|implemented|configured|set|stored) in|replaces?)\b"
    rf"[^`]{{0,40}}({forms.SPAN})"
)


@dataclass(frozen=True)
class Stated:
    """One fact as it was stated.

    `key` is what it tells of ("" where nobody can say): of two facts with the same key the later
    one counts. `over` are words that it speaks against.
    `personal`: it is about the person who said it.
    """

    statement: str
    confidence: float
    category: str
    entities: tuple[str, ...]
    relations: tuple[tuple[str, str, str], ...] = ()
    key: str = ""
    over: tuple[str, ...] = ()
    personal: bool = False


def facts(message: Message) -> list[Stated]:
    """Return the facts in a message, each once."""
    if message.role not in ("user", "assistant"):
        return _commands(message.text) if message.role == "tool" else []
    rules = forms.SAID if message.role == "user" else forms.FOUND
    found: dict[str, Stated] = {}
    for sentence in sentences(message.text):
        stated = _stated(sentence, rules, person=message.role == "user")
        if stated is not None:
            mine = message.role == "user" and bool(
                stated.category in _PERSONAL or _ABOUT_ME.search(stated.statement)
            )
            stated = replace(stated, personal=mine)
            found.setdefault(stated.statement.casefold(), stated)
    return list(found.values())


def _commands(text: str) -> list[Stated]:
    """Return how this project is built, tested and linted, as the commands that were run tell."""
    match = _CALLED.search(text)
    found: dict[str, Stated] = {}
    for part in _AND.split(match[1][:_LONGEST_COMMAND]) if match else ():
        words = part.split()
        while words and ("=" in words[0] or words[0] in _BEFORE_IT):
            words = words[1:]
        if len(words) < 2 or words[0] not in _RUNNERS:
            continue
        kept = words[:1]
        for word in words[1:4]:
            if not _PLAIN.fullmatch(word):
                break
            kept.append(word)
        command = " ".join(kept)
        purpose = next((said for mark, said in _PURPOSES if mark in command), "")
        if len(kept) > 1 and purpose:
            statement = f"{purpose} with `{command}`"
            found[statement] = Stated(statement, 0.8, "technical", (command,), (), "", ())
    return list(found.values())


_CALLED = re.compile(r"^command: (.+)", re.MULTILINE)
_AND = re.compile(r"&&|\|\||;|\|")
_LONGEST_COMMAND = 2000  # characters of it that are looked at
_BEFORE_IT = frozenset({"rtk", "sudo", "time", "npx", "env", "command"})
_RUNNERS = frozenset({
    "npm", "pnpm", "yarn", "bun", "deno", "make", "mise", "just", "task", "cargo", "go", "pytest",
    "python", "python3", "uv", "poetry", "tox", "nox", "gradle", "./gradlew", "mvn", "dotnet",
    "rake", "bundle", "mix", "composer", "golangci-lint", "ruff", "eslint", "tsc", "cmake", "ctest",
    "bazel",
})  # fmt: skip
_PLAIN = re.compile(r"-m|[a-z][\w:.-]*")
_PURPOSES = (
    ("test", "Tests are run"), ("lint", "The code is linted"), ("fmt", "The code is formatted"),
    ("format", "The code is formatted"), ("typecheck", "Types are checked"),
    ("tsc", "Types are checked"), ("vet", "The code is vetted"), ("build", "The project is built"),
    ("dev", "The project is run for development"), ("install", "Dependencies are installed"),
)  # fmt: skip


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text that could be facts, without list marks and emphasis."""
    plain = _QUOTED.sub("", _CODE.sub("\n", text))
    for part in _SPLIT.split(plain):
        clean = _MARKS.sub("", _LEAD.sub("", _LEAD.sub("", part))).strip(" \t-\u2013\u2014")
        words = clean.split()
        odd = "|" in clean or clean.count("`") > 8 or clean.endswith("?)")
        if _SHORTEST <= len(clean) <= _LONGEST and len(words) >= _FEWEST and not odd:
            yield " ".join(words)


def _stated(
    sentence: str, rules: tuple[tuple[str, float, re.Pattern[str]], ...], *, person: bool
) -> Stated | None:  # fmt: skip
    if sentence.endswith(":") or (forms.NONE_SAID if person else forms.NONE).search(sentence):
        return None
    for category, confidence, form in rules:
        match = form.search(sentence)
        if match:
            key, over = _key(sentence, category, match)
            return _made(sentence, category, confidence, key, over)
    if _is_about(sentence):
        return _made(sentence, "technical", 0.7, "", ())
    version = forms.VERSION.search(sentence)
    if version and version["tool"] not in forms.NO_TOOL:
        tool = version["tool"].rstrip("@").lower()
        return _made(sentence, "version", 0.75, f"version of {tool}", ())
    return None


def _is_about(sentence: str) -> bool:
    """Tell whether a sentence states something of what has a name, whoever says it."""
    wrong = (
        forms.ORDER.search(sentence)
        or forms.PERSONAL.search(sentence)
        or forms.NONE.search(sentence)
    )
    outside = re.sub(forms.SPAN, "x", sentence)
    return not wrong and bool(forms.NAMED.search(sentence) and forms.STATES.search(outside))


def _made(
    sentence: str, category: str, confidence: float, key: str, over: tuple[str, ...]
) -> Stated:  # fmt: skip
    text = sentence.rstrip(".!")
    names = dict.fromkeys(
        next(filter(None, match.groups())) for match in _ENTITY.finditer(sentence)
    )
    relations = tuple(
        (match[1].strip("`"), match[2].lower(), match[3].strip("`"))
        for match in _RELATION.finditer(sentence)
    )
    return Stated(text, confidence, category, tuple(names), relations, key, over)


_FOR = re.compile(
    r"\b(?:use|using|prefer|choose|chose|go with)\s+[\w.+#`-]+(?: \w+)? for (?P<for>[\w `-]{3,30})",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b[\w.+#`-]+\s+(?:over|instead of|rather than|not)\s+(?P<old>[\w.+#`-]+)"
    r"|\bprefer\s+[\w.+#`-]+\s+to\s+(?P<older>[\w.+#`-]+)",
    re.IGNORECASE,
)
_SWITCH = re.compile(
    r"\bswitch(?:ed)? (?:from (?P<old>[\w.+#`-]+) )?to (?P<new>[\w.+#`-]+)", re.IGNORECASE
)
_LEXICAL = frozenset(
    {"it", "that", "this", "the", "a", "an", "them", "you", "be", "do", "have", "use"}
)


def _key(
    sentence: str, category: str, match: re.Match[str]
) -> tuple[str, tuple[str, ...]]:  # fmt: skip
    """Return what a fact tells of, and the words it speaks against."""
    for name, value in match.groupdict().items():
        if value:
            return f"the user's {name}", ()
    if category not in ("preference", "decision", "environment", "rule", "correction"):
        return "", ()
    purpose = _FOR.search(sentence)
    over = _SWITCH.search(sentence) or _OVER.search(sentence)
    said = over.groupdict() if over else {}
    against = (said.get("old") or said.get("older") or "").strip("`.,").lower()
    words = (against,) if len(against) > 1 and against not in _LEXICAL else ()
    return (f"for {purpose['for'].strip().lower()}" if purpose else ""), words
