"""Facts in source code: the purpose of files and names, from their comments.

Only comments at the head of a file or directly above a definition count. The number of facts of
one text is limited; those of public names come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memfs.knowledge.facts.extraction.calls import relative
from memfs.knowledge.facts.extraction.candidate import FactCandidate, build_candidate

_MOST = 10  # facts of one text
_CONSTANTS = 5
_LONGEST = 240  # characters of a sentence of a comment
_TELLING = 3  # words beyond those of the name
_CODE = re.compile(
    r"\.(?:go|tsx?|jsx?|mjs|cjs|py|rs|java|kt|swift|scala|cs|php|rb|c|h|cc|cpp|hpp|sh|bash|zsh|ps1)$"
)
_TEST = re.compile(r"(?:^|/)(?:\w*_)?tests?/|__tests__/|[._-](?:test|spec)\.|(?:^|/)test_")
_NUMBER = re.compile(r" *(\d{1,6})(?:→|\t)")
_FOUND = re.compile(r"([\w./\\@~+-]{3,200}?\.\w{1,5})[:-](\d{1,6})[:-]")
_FOUND_IN_ONE = re.compile(r"(\d{1,6})[:-]")
_SLASHES = re.compile(r"\s*//[/!]? ?(.*)")
_HASH = re.compile(r"\s*#(?!!|\[) ?(.*)")
_HASHED = (".py", ".sh", ".bash", ".zsh", ".ps1", ".rb")
_DOCSTRING = re.compile(r'[rR]?"""([^"]+)(?:"""|$)')
_NO_COMMENT = re.compile(
    r"nolint|go:|eslint|@ts-|biome|prettier|noqa|pylint|type: ignore|TODO|FIXME|XXX|region|-\*-"
    r"|=====|-----|yaml-language-server"
)
_DEFINED = re.compile(
    r"\s*(?:(?:export|default|pub(?:\([a-z]+\))?|public|protected|internal|static|final|abstract|"
    r"async|declare|open|override|unsafe)\s+)*"
    r"(?P<kind>func|function\*?|fn|def|fun|class|interface|type|struct|enum|trait|record|const|let|"
    r"var)\s+(?:\((?:\w+\s+)?\*?(?P<of>\w+)(?:\[\w+\])?\)\s*)?(?P<name>[A-Za-z_]\w{2,})"
)
_TYPES = ("class", "interface", "type", "struct", "enum", "trait", "record")
_HEAD = 30  # lines at the beginning of a file that are searched for its purpose
_PUBLIC = re.compile(r"\s*(?:export|pub|public)\b")
_TYPE = re.compile(r"type (\w+)(?:\[[^\]]*\])? (?:struct|interface)\b")
_BLOCKS = ("const (", "var (")  # of Go: names in them belong to no type
_BLOCK = "("
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_ENDS = re.compile(r"(?<=[\w)`\"'])\.(?=\s+[A-Z`]|\s*$)")
_GOES_ON = re.compile(
    r"(?:[,;:(\u2013\u2014-]|\b(?:a|an|the|of|by|for|in|on|to|and|or|with|from|at|as|is|are|that|than|via))$"
)
_VERB = re.compile(r"(?:\w+ly )?(?:[a-z]+s|are|was|were|will|can|may|must)\b")
_EMPTY = frozenset({
    "a", "an", "the", "is", "are", "of", "for", "to", "in", "on", "and", "or", "this", "that",
    "it", "its", "by", "with", "from", "as", "be", "returns", "return", "creates", "create",
    "gets", "get", "sets", "set", "new", "defines", "define", "represents", "interface", "type",
    "function", "struct", "class", "component", "icon", "helper", "official", "indicates",
    "whether", "if", "true", "false", "used", "returned", "when", "implementation", "default",
    "properly", "correctly", "given", "specified", "current", "up", "checks", "check", "contains",
    "specific", "we", "human", "readable",
})  # fmt: skip
_LICENCE = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|generated|do not edit", re.IGNORECASE
)
_PLAN = re.compile(
    r"\b(?:should be|will be|for now|temporar|deprecated|hack|maybe|probably|e\.g|i\.e|etc)\b|\?$",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r'^([A-Z][A-Z0-9_]{2,40})="?\$\{\1:-([^}$`"\n]{1,60})\}"?$', re.MULTILINE)
_READ_OUT = re.compile(
    r"(?:os\.Getenv\(|os\.LookupEnv\(|os\.getenv\(|os\.environ(?:\.get\(|\[)|env::var\(|"
    r"System\.getenv\(|ENV\[|ENV\.fetch\()[\"']([A-Z][A-Z0-9_]{3,40})[\"']"
    r"|(?:process\.env|Bun\.env|import\.meta\.env)\.([A-Z][A-Z0-9_]{3,40})\b"
)


_CONSTANT = re.compile(
    r"(?P<sign>\t|export const |const |(?:public |private )?static final \w+ |)"
    r"(?P<name>[A-Z]\w{4,50})(?: ?: ?\w+| string| int)? *= *"
    r"(?P<value>\"[^\"`\n%]{2,60}\"|'[^'`\n%]{2,60}'|\d[\d_.]*(?: \* time\.\w+)?),?;?(?:\s+(?://|#).*)?"
)
_HIDDEN = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)


class SourceLine(NamedTuple):
    """A line of a file; `number` is 0 if it is unknown."""

    number: int
    text: str


def facts(path: str, text: str, *, code: bool = False) -> list[FactCandidate]:
    """Return the facts in a file, or in a part of it, about the file and its definitions.

    `code`: it is source code whatever its name.
    """
    if code or _CODE.search(path):
        return _extract(path, list(lines(text)), head=not code)
    return []


def extract_matches(text: str, path: str = "", project: str = "") -> list[FactCandidate]:
    """Return the facts in the output of a search; `path` is that of all lines, if it is known."""
    files: dict[str, list[SourceLine]] = {}
    for line in text.split("\n"):
        match = _FOUND.match(line)
        if match:
            rest = SourceLine(int(match[2]), line[match.end() :])
            files.setdefault(relative(match[1], project), []).append(rest)
        elif path and (match := _FOUND_IN_ONE.match(line)):
            files.setdefault(path, []).append(SourceLine(int(match[1]), line[match.end() :]))
    code = {name: read for name, read in files.items() if _CODE.search(name)}
    found = [each for name, read in code.items() for each in _extract(name, read)]
    seen = {name for each in found for name in each.entities}
    places = [each for name, read in code.items() for each in _find_definitions(name, read, seen)]
    return [*found[:_MOST], *places[:_MOST]]


def _find_definitions(path: str, read: list[SourceLine], seen: set[str]) -> Iterator[FactCandidate]:
    """Yield the files of type definitions in search results, but for the `seen` names."""
    for line in read:
        match = _DEFINED.match(line.text)
        if not match or _TEST.search(path) or match["kind"] not in _TYPES:
            continue
        if match["name"] not in seen and line.text[:1] not in " \t":
            yield build_candidate(f"`{match['name']}` is defined in `{path}`", "technical", 0.8)


def _extract(path: str, read: list[SourceLine], *, head: bool = True) -> list[FactCandidate]:
    found: dict[str, FactCandidate] = {}
    behind: dict[str, FactCandidate] = {}
    top = _parse_head(path, read) if head else None
    if top:
        found[top.statement] = top
    for public, candidate in () if _TEST.search(path) else _find_comments(path, read, methods=head):
        (found if public else behind)[candidate.statement] = candidate
    for candidate in () if _TEST.search(path) else list(_find_constants(path, read))[:_CONSTANTS]:
        found.setdefault(candidate.statement, candidate)
    for candidate in _find_settings(path, "\n".join(line.text for line in read)):
        found.setdefault(candidate.statement, candidate)
    return [*found.values(), *behind.values()][:_MOST]


def lines(text: str) -> Iterator[SourceLine]:
    """Yield the lines of a text; of a numbered text only those with a number."""
    every = text.split("\n")
    numbered = [_NUMBER.match(line) for line in every]
    if sum(map(bool, numbered)) * 2 < len(every):
        yield from (SourceLine(0, line) for line in every)
        return
    for match, line in zip(numbered, every, strict=True):
        if match:
            yield SourceLine(int(match[1]), line[match.end() :])


def _is_next(line: SourceLine, last: SourceLine | None) -> bool:
    return last is None or not line.number or line.number == last.number + 1


def _get_comment_pattern(path: str) -> re.Pattern[str]:
    return _HASH if path.endswith(_HASHED) else _SLASHES


def _find_comments(
    path: str, lines: list[SourceLine], *, methods: bool = True
) -> Iterator[tuple[bool, FactCandidate]]:
    """Yield (is public, fact) for comments above definitions, and for docstrings.

    `methods`: also for the methods of interfaces.
    """
    sign = _get_comment_pattern(path)
    comment: list[str] = []
    last: SourceLine | None = None
    owner = header = ""
    block = cut = False  # inside of /** and */; the beginning of the comment is missing
    for line in lines:
        if not _is_next(line, last):
            comment, owner, header, block = [], "", "", False
        text = line.text.strip()
        first = line.number > 1 and not (last and _is_next(line, last))
        last = line
        if block or text.startswith("/**"):
            block = "*/" not in text
            inner = text.removeprefix("/**").partition("*/")[0].strip().lstrip("*").strip()
            comment = [*comment, inner] if inner or comment else comment
            continue
        match = sign.fullmatch(line.text)
        if match:
            cut = first or (cut and bool(comment))
            comment = comment if _NO_COMMENT.search(match[1]) else [*comment, match[1].strip()]
            continue
        found: tuple[bool, FactCandidate] | None = None
        if header.endswith(":") and (inside := _DOCSTRING.match(text)):
            found = _parse_comment(path, header, [inside[1].strip()], "")
        opened = _TYPE.match(line.text)
        if opened and not methods and "interface" in line.text:
            opened = None
        if opened or line.text.startswith(("}", ")")):
            owner = opened[1] if opened else ""
        elif line.text in _BLOCKS:
            owner = _BLOCK
        if comment and text and not text.startswith(("@", "#[", "[")):
            found = _parse_comment(path, line.text, comment, "" if opened else owner, cut=cut)
        if found:
            yield found
        if not text.startswith(("@", "#[")):
            comment = []
            header = _join_header(header, line.text)


def _join_header(above: str, line: str) -> str:
    """Return the beginning of a definition in Python, up to the colon that ends it."""
    if above and not above.endswith(":"):
        return f"{above} {line.strip()}" if len(above) < _LONGEST else ""
    return line.rstrip() if line.startswith(("def ", "class ", "async def ")) else ""


def _parse_comment(
    path: str, line: str, comment: list[str], owner: str, *, cut: bool = False
) -> tuple[bool, FactCandidate] | None:
    """Return (is public, fact) for the comment of a definition; `cut`: its beginning is missing."""
    match = _DEFINED.match(line)
    first = comment[0].split(" ", 1)[0] if comment[0] else ""
    name = match["name"] if match else ""
    if not name and first and owner and re.match(rf"\s*{re.escape(first)}\b", line):
        name = first  # a field, or a method of an interface
    if (
        not name
        or name.startswith(("Test", "test_"))
        or (match and line[:1] in " \t" and not owner)
    ):
        return None
    if owner == _BLOCK and not name[:1].isupper():
        return None
    of = (match["of"] if match else "") or (owner if not match and owner != _BLOCK else "")
    whole = f"{of}.{name}" if of else name
    sentence = _first_sentence(comment)
    named = sentence.startswith(f"{name} ")
    rest = sentence[len(name) :].strip() if named else sentence
    exported = name[:1].isupper() if path.endswith(".go") else path.endswith(".py")
    public = bool(_PUBLIC.match(line)) or (exported and name[0] != "_")
    if not is_informative(rest, f"{path} {whole}") or (cut and not named):
        return None
    if named and _VERB.match(rest):
        statement = f"`{whole}` {rest} (`{path}`)"
    else:
        statement = f"`{whole}` in `{path}`: {rest}"
    return public, build_candidate(statement, "technical", 0.7, f"what {whole} in {path} is for")


def _first_sentence(comment: Iterable[str]) -> str:
    """Return the first sentence of a comment; "" if it is incomplete or no statement."""
    kept: list[str] = []
    for line in comment:
        if not line or line.startswith(("@", "-", "*", "•", "1.")):
            break
        if kept and line[:1].isupper() and not _GOES_ON.search(kept[-1]):
            break  # a line of its own
        kept.append(line)
        if _ENDS.search(line):
            break
    text = " ".join(kept)
    end = _ENDS.search(text)
    text = (text[: end.start()] if end else text).strip()
    wrong = len(text) > _LONGEST or text.endswith((":", ",")) or _PLAN.search(text) or "{@" in text
    return "" if wrong or text.count("`") % 2 or text.count("(") != text.count(")") else text


def is_informative(text: str, name: str, least: int = _TELLING) -> bool:
    """Return whether a text has at least `least` words beyond those of the name."""
    known = {word.lower()[:4] for word in _WORD.findall(name)}
    words = [word.lower() for word in _WORD.findall(text)]
    fresh = {
        word for word in words if word not in _EMPTY and len(word) > 1 and word[:4] not in known
    }
    return len(fresh) >= least and len(text.split()) >= _TELLING


def _parse_head(path: str, lines: list[SourceLine]) -> FactCandidate | None:
    """Return the fact about the purpose of a file, from the comment at its head."""
    if not lines or lines[0].number > 1 or (not lines[0].number and not lines[0].text.strip()):
        return None
    sign = _get_comment_pattern(path)
    comment: list[str] = []
    for line in lines[:_HEAD]:
        text = line.text.strip()
        if text.startswith("#!") or (not comment and not text):
            continue
        match = sign.fullmatch(line.text)
        if match or text.startswith(("/*", "*", '"""')):
            inner = match[1] if match else text.strip('/*" ')
            if _NO_COMMENT.search(inner) and not comment:
                continue
            comment.append(inner.strip())
            if text.endswith("*/") or (text.count('"""') == 2):
                break
            continue
        if text and _DEFINED.match(line.text) and not path.endswith(".go"):
            return None  # the comment is that of a definition
        break
    while comment and not comment[0]:
        del comment[0]
    if not comment or _LICENCE.search(comment[0]):
        return None
    sentence = _first_sentence(comment)
    package = re.match(r"Package (\w+) ", sentence)
    if not package and not is_informative(sentence, path, 2):  # the file's name again
        sentence = _first_sentence(comment[1:])
    if package:
        folder = path.rpartition("/")[0] or "."
        rest = sentence[package.end() :]
        statement = f"The package `{package[1]}` (`{folder}`) {rest}"
    else:
        name = path.rpartition("/")[2]
        rest = sentence.removeprefix(f"{name} ").removeprefix("Description: ")
        statement = f"`{path}`: {rest}"
    if not is_informative(rest, package[1] if package else path, 2):
        return None
    return build_candidate(statement, "technical", 0.75, f"what {path} is for")


def _find_constants(path: str, read: list[SourceLine]) -> Iterator[FactCandidate]:
    """Yield the values of constants: at the top of a module, or in a block of Go."""
    block = ""  # the first line of the current block, if it was read
    for line in read:
        if line.text[:1] not in ("", " ", "\t"):
            block = line.text
        match = _CONSTANT.fullmatch(line.text)
        if not match or _HIDDEN.search(match["name"]):
            continue
        if not match["sign"] and not path.endswith(".py"):
            continue
        if match["sign"] == "\t" and not (path.endswith(".go") and block in ("", "const (")):
            continue
        if match["value"][0].isdigit() or is_informative(f"{match['value']} . .", match["name"], 1):
            fact = f"`{match['name']}` is `{match['value']}` in `{path}`"
            yield build_candidate(fact, "technical", 0.75, f"value of {match['name']} in {path}")


def _find_settings(path: str, text: str) -> Iterator[FactCandidate]:
    """Yield the environment variables that a file reads, and their defaults."""
    for match in _DEFAULT.finditer(text):
        statement = f"`{match[1]}` is `{match[2]}` by default in `{path}`"
        yield build_candidate(statement, "technical", 0.75, f"default of {match[1]} in {path}")
    for match in _READ_OUT.finditer(text):
        name = match[1] or match[2]
        yield build_candidate(
            f"The environment variable `{name}` is read in `{path}`", "technical", 0.75
        )
