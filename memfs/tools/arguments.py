"""Checks the arguments of a call against a tool's parameters, and converts them."""

import json
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec

from memfs.core.privacy import excerpt
from memfs.tools.definition import Arguments, Parameter, Tool

_LARGEST = 10**9
_TYPES: dict[str, tuple[Any, str]] = {  # and what they are called
    "string": (str, "a string"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
}
# Names that MemGPT and its descendants have for arguments, and models know.
_ALIASES = {
    "block": "label",
    "name": "label",
    "k": "limit",
    "start": "start_date",
    "end": "end_date",
}
_LISTS = {"string": "a list of strings", "integer": "a list of whole numbers"}


def check_arguments(tool: Tool, given: object) -> Arguments | str:
    """Return the arguments converted for the tool, or an error message.

    Numbers and truth values may be written as strings, numbers stand for a string, a list may be
    one string, and a string the one argument that is required: models do.
    """
    if isinstance(given, str) and given.strip()[:1] not in ("", "{", "["):
        needed = [each for each in tool.list_asked() if each.required]
        if len(needed) == 1 and needed[0].kind == "string":
            given = {needed[0].name: given}
    if not isinstance(given, dict):
        return f"the arguments of {tool.name} must be an object, not {_describe(given)}"
    known = {each.name: each for each in tool.list_asked()}
    found: Arguments = {}
    for written, value in given.items():
        alias = _ALIASES.get(written, "")
        is_free = written not in known and alias in known and alias not in {**given, **found}
        name = alias if is_free else written
        if name not in known:
            wrong, takes = excerpt(str(name), 80), ", ".join(known) or "no arguments"
            return f"{tool.name} has no argument {wrong!r}; it takes {takes}"
        if value is None:
            continue  # the same as a missing argument
        try:
            found[name] = _convert(known[name], value)
        except ValueError as error:
            return f"'{name}' of {tool.name} {error}"
    missing = [each.name for each in known.values() if each.required and each.name not in found]
    if missing:
        return f"{tool.name} needs {' and '.join(map(repr, missing))}"
    return {**found, **tool.fixed}


def _convert(parameter: Parameter, value: object) -> object:
    """Return a value of the parameter's kind. Raises `ValueError` that completes a sentence."""
    kind, several = parameter.kind.removesuffix("s"), parameter.kind.endswith("s")
    if several and isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    low, high = parameter.least, parameter.most
    item, what = _TYPES[kind]
    if parameter.choices:
        item, what = Literal[parameter.choices], f"one of {', '.join(parameter.choices)}"
    elif kind == "integer":
        bounds = msgspec.Meta(
            ge=-_LARGEST if low is None else low, le=_LARGEST if high is None else high
        )
        item = Annotated[int, bounds]
        what += f" from {low} to {high}" if high is not None else ""
        what += f", {low} or more" if high is None and low is not None else ""
    found = []
    for each in value if several and isinstance(value, list) else [value]:
        bare = each.strip() if isinstance(each, str) and kind != "string" else each
        if kind == "string" and isinstance(each, int | float) and not isinstance(each, bool):
            bare = str(each) if abs(each) <= _LARGEST else each
        try:
            found.append(msgspec.convert(bare, item, strict=False))
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            wanted = _LISTS[kind] if several else what
            raise ValueError(f"must be {wanted}, not {_describe(each)}") from error
    return found if several else found[0]


def _describe(value: object) -> str:
    kinds = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if abs(value) <= _LARGEST else "a very large number"
    return kinds.get(type(value), repr(excerpt(str(value), 40)))
