"""Programs in any language: their comments, with the class and function that they stand in."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pygments import lexers, token

from memfs.core.headings import Section
from memfs.ingest.cutting.text_forms import FileContent, TimeLimit
from memfs.search.catalog import LeftOutError

if TYPE_CHECKING:
    from pygments.lexer import Lexer


_Defining: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

GENERATED = "generated code (a line has more than 5,000 characters)"
_LONGEST_LINE = 5000  # characters
_LONGEST_TITLE = 100  # characters
_DEFINES = re.compile(  # lexers do not know all of them
    r"\s*(?:[a-z]+(?:\([a-z]+\))?\s+){0,4}"
    r"(?:class|def|enum|fn|func|function|impl|interface|module|namespace|protocol|struct|trait|type)"
    r"\s+[\w(<]|\s*[\w-]+\(\)\s*\{"
)
_FAR = 1 << 30  # beyond every line


class Definition(NamedTuple):
    """A class or function: its first and last line (from 1), its level, and the line to show."""

    first: int
    last: int
    level: int
    line: int


def read_program(text: str, suffix: str) -> FileContent:
    """Return the sections of a program. Raises `LeftOutError` for what no person wrote."""
    lines = text.split("\n")
    if max(map(len, lines)) > _LONGEST_LINE:
        raise LeftOutError(GENERATED)
    comments: set[int] = set()
    docs: set[int] = set()
    named: set[int] = set()
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    limit = TimeLimit()
    for start, kind, value in _make_lexer(suffix).get_tokens_unprocessed(text):
        limit.check()
        first = bisect_right(starts, start)
        if kind in token.Comment and kind not in token.Comment.Preproc:
            comments.update(range(first, first + value.rstrip("\n").count("\n") + 1))
        elif kind in token.String.Doc:
            is_string = value.rstrip().endswith(("'", '"'))
            told = docs if is_string else comments
            told.update(range(first, first + value.rstrip("\n").count("\n") + 1))
        elif kind in token.Name.Function or kind in token.Name.Class:
            named.add(first)
    code = set(range(1, len(lines) + 1)) - comments - docs
    named.update(n for n in code if _DEFINES.match(lines[n - 1]))
    return FileContent(build_sections(lines, _nest(lines, sorted(named)), comments, docs))


def build_sections(
    lines: list[str], definitions: list[Definition], comments: set[int], docs: set[int]
) -> list[Section]:
    """Return a section for each definition, and for what stands between others inside of one.

    Of code, the lines of definitions stay; comments and docstrings stay on their lines. A comment
    right above a definition belongs to it.
    """
    starts: dict[int, Definition] = {}
    for each in sorted(definitions):
        start = each.first
        while start - 1 in comments:
            start -= 1
        starts.setdefault(start, each)
    ends = {min(each.last, len(lines)) + 1 for each in definitions}
    cuts = sorted({1, *starts, *ends, len(lines) + 1})
    shown = comments | docs
    inside: list[Definition] = []
    found = []
    for first, end in pairwise(cuts):
        begun = starts.get(first)
        while inside and (inside[-1].last < first or (begun and inside[-1].level >= begun.level)):
            inside.pop()
        if begun:
            inside.append(begun)
        told = shown.intersection(range(first, end))
        if not begun and not told:
            continue
        level, title = 0, ""
        if inside:
            level, title = inside[-1].level, lines[inside[-1].line - 1].strip()[:_LONGEST_TITLE]
        head = f"{lines[first - 1]}\n" if begun and first not in told else ""
        if begun and told:
            told.add(begun.line)
        body = [lines[n - 1] if n in told else "" for n in range(first + bool(head), end)]
        found.append(Section(level, title.rstrip(" {:"), head, "\n".join([*body, ""]), first))
    return found


def _nest(lines: list[str], named: list[int]) -> list[Definition]:
    """Return definitions by the lines that name them: how far they are indented is their level."""
    found = []
    depths: list[int] = []
    for line in named:
        text = lines[line - 1]
        depth = len(text) - len(text.lstrip())
        while depths and depths[-1] >= depth:
            depths.pop()
        depths.append(depth)
        found.append(Definition(line, _FAR, len(depths), line))
    return found


@functools.lru_cache(64)
def _make_lexer(suffix: str) -> Lexer:
    return lexers.get_lexer_for_filename(f"x{suffix}")


def read_python(text: str, suffix: str) -> FileContent:
    """Return the sections of a module; of one that Python cannot parse, by its tokens alone."""
    try:
        with warnings.catch_warnings():  # of what stands in the file
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        comments = {token.start[0] for token in _tokenize(text) if token.type == tokenize.COMMENT}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return read_program(text, suffix)
    docs: set[int] = set()
    definitions: list[Definition] = []
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, _Defining | ast.Module):
            docs.update(_list_docstring_lines(node))
        if isinstance(node, _Defining):
            level += 1
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            end = node.end_lineno or node.lineno
            definitions.append(Definition(first, end, level, node.lineno))
        waiting += [(child, level) for child in ast.iter_child_nodes(node)]
    return FileContent(build_sections(text.split("\n"), definitions, comments, docs))


def _tokenize(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from error


def _list_docstring_lines(node: ast.Module | _Defining) -> range:
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or ast.get_docstring(node, clean=False) is None:
        return range(0)
    return range(first.lineno, (first.end_lineno or first.lineno) + 1)
