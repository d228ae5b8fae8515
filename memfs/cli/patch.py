"""Patches: several edits as a JSON list."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields

import click

from memfs.core import body_edits
from memfs.core.body_edits import Edit
from memfs.core.errors import MemfsError, UsageError

_OPS: dict[str, type[Edit]] = {
    "append": body_edits.Append,
    "replace": body_edits.Replace,
    "remove": body_edits.Remove,
    "insert": body_edits.Insert,
    "rethink": body_edits.Rethink,
    "create": body_edits.Create,
    "delete": body_edits.Delete,
    "rename": body_edits.Rename,
    "describe": body_edits.Describe,
}
_TYPES: dict[str, tuple[type, str]] = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "bool": (bool, "true or false"),
    "tuple[str, ...]": (list, "a list of texts"),
    "dict[str, object]": (dict, "an object"),
}


def read(path: str) -> list[Edit]:
    """Read a patch from a file or `-`. Raises `MemfsError` that names the item and its error."""
    try:
        with click.open_file(path, encoding="utf-8") as handle:
            found = json.load(handle)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise _error(path, f"it is not JSON: {error}") from error
    if not isinstance(found, list) or not found:
        raise _error(path, "a JSON list of edits was expected")
    return [_parse_edit(path, number, item) for number, item in enumerate(found, 1)]


def _parse_edit(path: str, number: int, item: object) -> Edit:
    if not isinstance(item, dict):
        raise _error(path, f"edit {number} is not an object")
    kind = _OPS.get(str(item.get("op")))
    if kind is None:
        raise _error(path, f"edit {number}: op is {item.get('op')!r}, one of {', '.join(_OPS)}")
    values = {key: value for key, value in item.items() if key != "op"}
    known = {field.name: field for field in fields(kind)}
    for key, value in values.items():
        if key not in known:
            raise _error(
                path, f"edit {number}: {item['op']} has no '{key}', but {', '.join(known)}"
            )
        expected, words = _TYPES[str(known[key].type)]
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise _error(path, f"edit {number}: {key} is {value!r}, expected {words}")
    for name, field in known.items():
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and name not in values:
            raise _error(path, f"edit {number}: {item['op']} needs '{name}'")
    if "tags" in values:
        values["tags"] = tuple(str(tag) for tag in values["tags"])
    return kind(**values)


def _error(path: str, what: str) -> MemfsError:
    return UsageError(
        f"{path} is not a patch: {what}",
        'for example: [{"op": "append", "label": "human", "text": "…"}]',
    )
