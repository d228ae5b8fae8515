"""Facts in commands: how a project is built and tested, and the messages of commits."""

from __future__ import annotations

import re

from memfs.knowledge.facts.extraction.candidate import FactCandidate, build_candidate

_CALLED = re.compile(r"^(?:command|cmd): (.+)", re.MULTILINE)
_AND = re.compile(r"&&|\|\||;|\|")
_LONGEST = 2000  # characters of a command that are searched
_BEFORE_IT = frozenset({"rtk", "sudo", "time", "npx", "env", "command"})
_RUNNERS = frozenset({
    "npm", "pnpm", "yarn", "bun", "deno", "make", "mise", "just", "task", "cargo", "go", "pytest",
    "python", "python3", "uv", "poetry", "tox", "nox", "gradle", "./gradlew", "mvn", "dotnet",
    "rake", "bundle", "mix", "composer", "golangci-lint", "ruff", "eslint", "tsc", "cmake", "ctest",
    "bazel",
})  # fmt: skip
_PLAIN = re.compile(r"-m|[a-z][\w:.-]*")
_PURPOSES = (
    ("lint:fix", "What the linter finds is fixed"),
    ("test", "Tests are run"),
    ("lint", "The code is linted"),
    ("fmt", "The code is formatted"),
    ("format", "The code is formatted"),
    ("typecheck", "Types are checked"),
    ("tsc", "Types are checked"),
    ("vet", "The code is vetted"),
    ("build", "The project is built"),
    ("dev", "The project is run for development"),
    ("install", "Dependencies are installed"),
)
_COMMIT = re.compile(r"\bgit commit\b[^\n]*?-[a-z]*m[= ]?")
_HERE = re.compile(r"<<-?['\"]?(\w+)['\"]?\n")
_TRAILER = re.compile(r"^[A-Z][a-z]+-[\w-]+: |^\W*Generated with", re.MULTILINE)
_ITEM = re.compile(r"^[-*+•] +")
_SIGNS = re.compile(r"^(?:wip|fixup!|squash!|merge|revert|bump|tmp|test)\b", re.IGNORECASE)
_DOES = re.compile(
    r"[A-Z]|[a-z]+(?:\([^)\s]{1,40}\))?!?: \w|(?:add|allow|drop|fix|implement|improve|make|"
    r"move|prevent|refactor|remove|rename|replace|support|update|use)\b"
)
_FEWEST = 4  # words of an item of a commit message
_SUBJECT = 100  # characters
_MOST = 8  # items of one message


def facts(text: str) -> list[FactCandidate]:
    """Return facts about how this project is built, tested and linted."""
    match = _CALLED.search(text)
    found: dict[str, FactCandidate] = {}
    for part in _AND.split(match[1][:_LONGEST]) if match else ():
        words = part.split()
        while words and ("=" in words[0] or words[0] in _BEFORE_IT):
            words = words[1:]
        if len(words) < 2 or words[0] not in _RUNNERS:
            continue
        parts = words[:1]
        for word in words[1:4]:
            if not _PLAIN.fullmatch(word):
                break
            parts.append(word)
        command = " ".join(parts)
        purpose = next((purpose for mark, purpose in _PURPOSES if mark in command), "")
        if len(parts) > 1 and purpose:
            statement = f"{purpose} with `{command}`"
            found[statement] = build_candidate(statement, "technical", 0.8)
    return list(found.values())


def split_message(message: str) -> list[FactCandidate]:
    """Return a fact for the subject of a commit message, and for each list item below it."""
    lines = _TRAILER.split(message)[0].strip().splitlines()
    if not lines or len(lines[0]) > _SUBJECT:
        return []
    if _SIGNS.match(lines[0]) or not _DOES.match(lines[0]):
        return []
    items: list[str] = [lines[0].strip()]
    inside = False
    for line in lines[1:]:
        text = line.strip()
        if _ITEM.match(text):
            items.append(_ITEM.sub("", text))
            inside = True
        elif text and inside:
            items[-1] += f" {text}"
        else:
            inside = False
    whole = [item for item in items if len(item.split()) >= _FEWEST]
    whole = [item for item in whole if not item.endswith((":", "…", "..."))]
    return [build_candidate(f"Committed: {item}", "change", 0.75) for item in whole[:_MOST]]


def find_commit_subject(command: str) -> list[FactCandidate]:
    """Return a fact for the subject of the commit that a command makes."""
    start = _COMMIT.search(command)
    if not start:
        return []
    rest = command[start.end() :]
    here = _HERE.search(rest, 0, 40)
    if here:
        body, closed, _ = rest[here.end() :].partition(f"\n{here[1]}")
    elif rest[:1] in ("'", '"'):
        body, closed, _ = rest[1:].partition(rest[0])
    else:
        return []
    subject = body.strip().split("\n")[0]
    return split_message(subject) if closed and "\\" not in subject else []
