"""Python: docstrings and comments, with the class and function that they stand in."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from typing import TypeAlias

from memfs.ingest.cutting import program_code
from memfs.ingest.cutting.content import FileContent
from memfs.ingest.cutting.program_code import Definition

_Defining: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def read(text: str, suffix: str) -> FileContent:
    """Return the sections of a module; of one that Python cannot parse, by its tokens alone."""
    try:
        with warnings.catch_warnings():  # of what stands in the file
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        comments = {token.start[0] for token in _tokenize(text) if token.type == tokenize.COMMENT}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return program_code.read(text, suffix)
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
    return FileContent(program_code.build_sections(text.split("\n"), definitions, comments, docs))


def _tokenize(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from error


def _list_docstring_lines(node: ast.Module | _Defining) -> range:
    """Return the lines of a docstring, none where there is none."""
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or ast.get_docstring(node, clean=False) is None:
        return range(0)
    return range(first.lineno, (first.end_lineno or first.lineno) + 1)
