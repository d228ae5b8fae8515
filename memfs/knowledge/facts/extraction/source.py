"""Facts in source code that was read: what files and names are for, as their comments say.

Comments are taken at their word only where they stand at the head of a file, or right above what
they name. Of one text only so many are kept, those of what is public first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memfs.knowledge.facts.extraction.calls import relative
from memfs.knowledge.facts.extraction.candidate import build_candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memfs.knowledge.facts.extraction.candidate import FactCandidate

_MOST = 10  # facts of one text
_CONSTANTS = 5
_LONGEST = 240  # characters of what a comment says
_TELLING = 3  # words that are not in the name already
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
_HEAD = 30  # lines at the beginning of a file that can say what it is for
_PUBLIC = re.compile(r"\s*(?:export|pub|public)\b")
_TYPE = re.compile(r"type (\w+)(?:\[[^\]]*\])? (?:struct|interface)\b")
_BLOCKS = ("const (", "var (")  # of Go: what is named in them belongs to no type
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
    """A line of a file; `number` 0 where nobody knows it."""

    number: int
    text: str


def facts(path: str, text: str, *, code: bool = False) -> list[FactCandidate]:
    """Return what a text, all or a part of a file, says of the file and of what it defines.

    `code`: it is source code, whatever the path is called.
    """
    if code or _CODE.search(path):
        return _facts(path, list(lines(text)), head=not code)
    return []


def extract_matches(text: str, path: str = "", project: str = "") -> list[FactCandidate]:
    """Return what lines that a search found say; `path` is that of all, where it was given."""
    files: dict[str, list[SourceLine]] = {}
    for line in text.split("\n"):
        match = _FOUND.match(line)
        if match:
            rest = SourceLine(int(match[2]), line[match.end() :])
            files.setdefault(relative(match[1], project), []).append(rest)
        elif path and (match := _FOUND_IN_ONE.match(line)):
            files.setdefault(path, []).append(SourceLine(int(match[1]), line[match.end() :]))
    code = {name: read for name, read in files.items() if _CODE.search(name)}
    found = [each for name, read in code.items() for each in _facts(name, read)]
    told = {name for each in found for name in each.entities}
    places = [each for name, read in code.items() for each in _defined(name, read, told)]
    return [*found[:_MOST], *places[:_MOST]]


def _defined(path: str, read: list[SourceLine], told: set[str]) -> Iterator[FactCandidate]:
    """Yield where types are defined, of lines that a search found."""
    for line in read:
        match = _DEFINED.match(line.text)
        if not match or _TEST.search(path) or match["kind"] not in _TYPES:
            continue
        if match["name"] not in told and line.text[:1] not in " \t":
            yield build_candidate(f"`{match['name']}` is defined in `{path}`", "technical", 0.8)


def _facts(path: str, read: list[SourceLine], *, head: bool = True) -> list[FactCandidate]:
    found: dict[str, FactCandidate] = {}
    behind: dict[str, FactCandidate] = {}
    top = _head(path, read) if head else None
    if top:
        found[top.statement] = top
    for public, stated in () if _TEST.search(path) else _documented(path, read, asked=head):
        (found if public else behind)[stated.statement] = stated
    for stated in () if _TEST.search(path) else list(_constants(path, read))[:_CONSTANTS]:
        found.setdefault(stated.statement, stated)
    for stated in _settings(path, "\n".join(line.text for line in read)):
        found.setdefault(stated.statement, stated)
    return [*found.values(), *behind.values()][:_MOST]


def lines(text: str) -> Iterator[SourceLine]:
    """Yield the lines of a text that may be numbered: of one that is, those that have a number."""
    every = text.split("\n")
    numbered = [_NUMBER.match(line) for line in every]
    if sum(map(bool, numbered)) * 2 < len(every):
        yield from (SourceLine(0, line) for line in every)
        return
    for match, line in zip(numbered, every, strict=True):
        if match:
            yield SourceLine(int(match[1]), line[match.end() :])


def _follows(line: SourceLine, last: SourceLine | None) -> bool:
    return last is None or not line.number or line.number == last.number + 1


def _comments(path: str) -> re.Pattern[str]:
    return _HASH if path.endswith(_HASHED) else _SLASHES


def _documented(
    path: str, lines: list[SourceLine], *, asked: bool = True
) -> Iterator[tuple[bool, FactCandidate]]:
    """Yield what comments say of the names below them, with whether these are public.

    `asked`: with those of the methods that an interface asks for.
    """
    sign = _comments(path)
    comment: list[str] = []
    last: SourceLine | None = None
    owner = header = ""
    block = cut = False  # inside of /** and */; the beginning of the comment was not read
    for line in lines:
        if not _follows(line, last):
            comment, owner, header, block = [], "", "", False
        text = line.text.strip()
        first = line.number > 1 and not (last and _follows(line, last))
        last = line
        if block or text.startswith("/**"):
            block = "*/" not in text
            inner = text.removeprefix("/**").partition("*/")[0].strip().lstrip("*").strip()
            comment = [*comment, inner] if inner or comment else comment
            continue
        said = sign.fullmatch(line.text)
        if said:
            cut = first or (cut and bool(comment))
            comment = comment if _NO_COMMENT.search(said[1]) else [*comment, said[1].strip()]
            continue
        found: tuple[bool, FactCandidate] | None = None
        if header.endswith(":") and (inside := _DOCSTRING.match(text)):
            found = _said(path, header, [inside[1].strip()], "")
        opened = _TYPE.match(line.text)
        if opened and not asked and "interface" in line.text:
            opened = None
        if opened or line.text.startswith(("}", ")")):
            owner = opened[1] if opened else ""
        elif line.text in _BLOCKS:
            owner = _BLOCK
        if comment and text and not text.startswith(("@", "#[", "[")):
            found = _said(path, line.text, comment, "" if opened else owner, cut=cut)
        if found:
            yield found
        if not text.startswith(("@", "#[")):
            comment = []
            header = _header(header, line.text)


def _header(above: str, line: str) -> str:
    """Return the beginning of a definition in Python, up to the colon that ends it."""
    if above and not above.endswith(":"):
        return f"{above} {line.strip()}" if len(above) < _LONGEST else ""
    return line.rstrip() if line.startswith(("def ", "class ", "async def ")) else ""


def _said(
    path: str, line: str, comment: list[str], owner: str, *, cut: bool = False
) -> tuple[bool, FactCandidate] | None:
    """Return what a comment says of the name that a line defines; `cut`: it began before."""
    match = _DEFINED.match(line)
    first = comment[0].split(" ", 1)[0] if comment[0] else ""
    name = match["name"] if match else ""
    if not name and first and owner and re.match(rf"\s*{re.escape(first)}\b", line):
        name = first  # a field, or a method that an interface asks for
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
    sentence = _first(comment)
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


def _first(comment: Iterable[str]) -> str:
    """Return the first sentence of a comment; "" for one that is none, or is cut off."""
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


def is_informative(said: str, name: str, least: int = _TELLING) -> bool:
    """Tell whether something is said that the name itself does not say."""
    known = {word.lower()[:4] for word in _WORD.findall(name)}
    words = [word.lower() for word in _WORD.findall(said)]
    fresh = {
        word for word in words if word not in _EMPTY and len(word) > 1 and word[:4] not in known
    }
    return len(fresh) >= least and len(said.split()) >= _TELLING


def _head(path: str, lines: list[SourceLine]) -> FactCandidate | None:
    """Return what the comment at the head of a file says that it is for."""
    if not lines or lines[0].number > 1 or (not lines[0].number and not lines[0].text.strip()):
        return None
    sign = _comments(path)
    comment: list[str] = []
    for line in lines[:_HEAD]:
        text = line.text.strip()
        if text.startswith("#!") or (not comment and not text):
            continue
        said = sign.fullmatch(line.text)
        if said or text.startswith(("/*", "*", '"""')):
            inner = said[1] if said else text.strip('/*" ')
            if _NO_COMMENT.search(inner) and not comment:
                continue
            comment.append(inner.strip())
            if text.endswith("*/") or (text.count('"""') == 2):
                break
            continue
        if text and _DEFINED.match(line.text) and not path.endswith(".go"):
            return None  # the comment is that of a name
        break
    while comment and not comment[0]:
        del comment[0]
    if not comment or _LICENCE.search(comment[0]):
        return None
    sentence = _first(comment)
    package = re.match(r"Package (\w+) ", sentence)
    if not package and not is_informative(sentence, path, 2):  # the name of the file, once more
        sentence = _first(comment[1:])
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


def _constants(path: str, read: list[SourceLine]) -> Iterator[FactCandidate]:
    """Yield the values of constants: those of a module, or of a block of them in Go."""
    block = ""  # what the block that lines are in begins with, where that was read
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
            said = f"`{match['name']}` is `{match['value']}` in `{path}`"
            yield build_candidate(said, "technical", 0.75, f"value of {match['name']} in {path}")


def _settings(path: str, text: str) -> Iterator[FactCandidate]:
    """Yield the variables of the environment that a file reads."""
    for match in _DEFAULT.finditer(text):
        statement = f"`{match[1]}` is `{match[2]}` by default in `{path}`"
        yield build_candidate(statement, "technical", 0.75, f"default of {match[1]} in {path}")
    for match in _READ_OUT.finditer(text):
        name = match[1] or match[2]
        yield build_candidate(
            f"The environment variable `{name}` is read in `{path}`", "technical", 0.75
        )
