"""What a text of the memory names of a project: files, functions, scripts, variables, versions.

They are found by their form alone; `ops.check` looks whether they are there.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["file", "function", "script", "tool", "variable", "version"]

_SPAN = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
_LINK = re.compile(r"\[[^\[\]]{0,200}\]\(([^()\s]{2,200})\)")
_BARE = re.compile(
    r"(?<![\w`/.:@~$%*{<>\-\\])((?:[\w@.\-]+/)+[\w@.\-]+\.[A-Za-z]\w{0,5})(?![\w/*{}<>])"
)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*(\w*)")
_SHELL = frozenset(("", "sh", "bash", "shell", "console", "zsh", "text", "powershell"))
_PLACE = re.compile(r"(?:#L?\d+(?:-L?\d+)?|:\d+(?:[-:]\d+)*|\(\)|[?#].*)$")
_PATH = re.compile(r"\.{0,2}/?(?:[\w@.+\-]+/)*[\w@.+\-]+/?")
_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,6})$")
_ENDINGS = frozenset(
    "astro bash bat c cc cfg cjs clj cpp cs css csv cts dart env ex exs fs go gradle graphql "
    "h hpp hs html ini ipynb java jl js json jsonc jsx kt kts less lock lua md mdc mdx mjs ml "
    "mts nix php pl plist prisma properties proto ps1 py pyi r rb rs rst sass scala scss sh "
    "sol sql svelte swift tf toml ts tsx txt vue xml yaml yml zig".split()
)
_FUNCTION = re.compile(r"([A-Za-z_][\w.]*?)(?:\.|::|#)([A-Za-z_]\w{2,})\(.{0,80}\)")
_VARIABLE = re.compile(r"\$?\{?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\}?(?:=\S*)?")
_VERSION = re.compile(
    r"(?<![\w./\-@])(?<!\bfor )([A-Za-z][\w.\-]*[A-Za-z]|Go)[ \t]+(>=|≥|\^|~)?[ \t]?v?"
    r"(\d{1,4}(?:\.\d{1,4}){0,2})(\+| or (?:newer|later|higher|above))?(?![\w%:/°]|\.\d|-\w| *\|\|)"
)
_RUNNERS = {
    "npm": r"(?:run|run-script) ",
    "pnpm": r"(?:run )?",
    "yarn": r"(?:run )?",
    "bun": r"run ",
    "make": "",
    "just": "",
}
_COMMAND = re.compile(r"^(?:\$ |% |> |sudo |[A-Z_]+=\S+ )*(npm|pnpm|yarn|bun|make|just) ([^\n]+)$")
_TARGET = re.compile(r"[A-Za-z][\w:.\-]*$")
_INSTALLS = re.compile(r"(?:ci|install|i|add)(?= |$)(?!.* (?:-g|--global)\b)")

# What a sentence says of the past: it is not about the project as it is.
_PAST = re.compile(
    r"\b(?:remov(?:e[sd]?|al|ing)|delet(?:ed|ion)|renam(?:ed|ing)|moved|replac(?:e[sd]?|ing)|"
    r"deprecated|former(?:ly)?|previous(?:ly)?|no longer|used to|was|were|had|obsolete|"
    r"migrat(?:ed|ion)|instead of|rather than|historical\w*|archived?|extracted|dropped|superseded|"
    r"placeholder|planned|todo|will be|would)\b"
    r"|→|->|~~|✅|\[[ xX]\] |\b20\d\d-\d\d-\d\d\b|[<{]\w[\w \-]*[>}]",
    re.IGNORECASE,
)
# Before a name that is only an example.
_EXAMPLE = re.compile(r"\b(?:e\.g|for example|examples?|such as|not in)\b", re.IGNORECASE)
# Where a version, variable or tool is named for another reason than that it holds here.
_LOOSE = re.compile(
    r"\b(?:old(?:er)?|legacy|never|avoid|without|instead|like|could|should not|might|may|if|unless|"
    r"future|plans?|new|missing|fix(?:e[sd])?|no|not|don'?t|doesn'?t|isn'?t|cannot|can't|"
    r"upgrad\w+|before|after|until|since|from|add(?:ed|s)|support(?:s|ed)?|compatible|both|or|global)\b",
    re.IGNORECASE,
)
# Beside a file that is there once somebody wrote it.
_MADE = re.compile(
    r"\b(?:append|create[sd]?|creating|generate[sd]?|generating|cloned?|save[sd]?|saving|"
    r"writ(?:es?|ten|ing)|logg?(?:s|ed)?|captures?)\b.{0,60}\b(?:to|into|in|as|at)[ *:]*$|"
    r"\b(?:create[sd]?|creating|generate[sd]?|generating|scaffold):? *$",
    re.IGNORECASE,
)
_LONGEST = 200  # letters of a path
_STRICT = ("tool", "variable", "version")
_NAMED_PLACES = ("~", "/", "$", "%", "http:", "https:", "node_modules/", "git@", "file:", "mailto:")


class Anchor(NamedTuple):
    """One thing that a text names, in line `line` (from 1), as it stands there (`text`).

    `name` is the file's path, the function's, script's or variable's name, the tool (npm) or the
    thing that has a version. `of` is the module or class of a function, the runner of a script, the
    version. `least`: that version or a newer one.
    """

    kind: Kind
    name: str
    line: int
    text: str
    of: str = ""
    least: bool = False


def find_anchors(text: str) -> list[Anchor]:
    """Return what a Markdown text names, in its order; a thing named twice in a line comes once."""
    found: dict[tuple[str, ...], Anchor] = {}
    made: set[str] = set()
    fence, language, past_level = "", "", 0
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence, language = ("", "") if fence else (mark[1], mark[2].lower())
            continue
        if fence:
            shell = language in _SHELL and "→" not in line
            anchors = _read_command(line.strip(), number) if shell else ()
        else:
            level = len(line) - len(line.lstrip("#")) if line.startswith("#") else 0
            if level and (not past_level or level <= past_level):
                past_level = level if _PAST.search(line) else 0
            anchors = () if past_level else _read_line(line, number)
            made.update(_list_made(line))
        for anchor in anchors:
            found.setdefault((anchor.kind, anchor.name, anchor.of, str(number)), anchor)
    return [each for each in found.values() if each.kind != "file" or each.name not in made]


def _list_made(line: str) -> Iterator[str]:
    """Yield the files of a line that are written by who follows the text."""
    for match in _SPAN.finditer(line):
        if _MADE.search(line, max(0, match.start() - 100), match.start()):
            yield from (each.name for each in _read_path(match[1].strip(), 0))


def _read_line(line: str, number: int) -> Iterator[Anchor]:
    prose = _blank(_LINK, _blank(_SPAN, line))
    if _PAST.search(prose):
        return
    loose = _LOOSE.search(prose) is not None
    example = _EXAMPLE.search(prose)
    end = example.end() if example else len(line)
    for match in _SPAN.finditer(line, 0, end):
        found = _read_span(match[1].strip(), number)
        yield from (each for each in found if not loose or each.kind not in _STRICT)
    for match in _LINK.finditer(_blank(_SPAN, line), 0, end):
        yield from _read_path(match[1], number)
    for match in _BARE.finditer(prose, 0, end):
        yield from _read_path(match[1], number)
    for match in _VERSION.finditer(line.replace("**", "").replace("`", "")) if not loose else ():
        least = bool(match[4]) or match[2] in (">=", "≥")
        yield Anchor("version", match[1], number, match[0].strip(), match[3], least)


def _blank(pattern: re.Pattern[str], line: str) -> str:
    """Return a line with what matches as back quotes: its words say nothing of their sentence."""
    return pattern.sub(lambda match: "`" * len(match[0]), line)


def _read_span(span: str, number: int) -> Iterator[Anchor]:
    function = _FUNCTION.fullmatch(span)
    if function:
        yield Anchor("function", function[2], number, span, function[1].replace("::", "."))
    elif (variable := _VARIABLE.fullmatch(span)) is not None:
        yield Anchor("variable", variable[1], number, span)
    elif " " in span:
        yield from _read_command(span, number)
    else:
        yield from _read_path(span, number)


def _read_command(line: str, number: int) -> Iterator[Anchor]:
    """Yield the scripts and files of a line for a shell."""
    line = line.partition(" #")[0]
    for part in re.split(r"&&|\|\||;|\|", line):
        words = part.split()
        match = _COMMAND.match(part.strip())
        if match:
            runner, rest = match[1], match[2]
            if runner in ("npm", "pnpm", "yarn") and _INSTALLS.match(rest):
                yield Anchor("tool", runner, number, part.strip())
                continue
            script = re.match(rf"{_RUNNERS[runner]}(\S+)", rest)
            if script and _TARGET.fullmatch(script[1]) and "-C" not in words:
                yield Anchor("script", script[1], number, part.strip(), runner)
        for word in words:
            if "/" in word and "=" not in word and len(word) <= _LONGEST and _ENDING.search(word):
                yield from _read_path(word.strip("\"'"), number)


def _read_path(span: str, number: int) -> Iterator[Anchor]:
    path = _PLACE.sub("", span)
    if path.startswith(_NAMED_PLACES) or not _PATH.fullmatch(path) or path.startswith("@"):
        return
    ending = _ENDING.search(path)
    known = ending is not None and ending[1].lower() in _ENDINGS
    if not known and not (path.endswith("/") and len(path) > 2):
        return
    name = posixpath.normpath(path)
    if name.startswith("..") or (ending and name == ending[0]):  # `.py` is a kind of file
        return
    yield Anchor("file", name, number, span)
