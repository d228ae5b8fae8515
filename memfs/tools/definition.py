"""The definition of a tool: name, parameters, effect on memory, and function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from memfs.core.errors import RejectedError
from memfs.core.privacy import excerpt
from memfs.tools.tool_context import ToolContext

if TYPE_CHECKING:
    from memfs.core.body_edits import Edit

Kind = Literal["string", "integer", "boolean", "strings", "integers"]
Effect = Literal["read", "add", "change", "remove"]
Arguments = dict[str, Any]  # checked: each has the type of its parameter
HEARTBEAT = "request_heartbeat"
_LARGEST = 10**9
_TRUTH = {"true": True, "false": False}
_TYPES = {"string": str, "integer": int, "boolean": bool}
_NAMES = {
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "strings": "a list of strings",
    "integers": "a list of whole numbers",
}


class VerbatimError(RejectedError):
    """A refusal in words that the model was trained on: they are passed on unchanged."""


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool. `least` and `most` bound a number (or each of a list)."""

    name: str
    kind: Kind
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None

    def schema(self) -> dict[str, object]:
        """Return its JSON schema."""
        item: dict[str, object] = {"type": self.kind.removesuffix("s")}
        if self.choices:
            item["enum"] = list(self.choices)
        if self.least is not None:
            item["minimum"] = self.least
        if self.most is not None:
            item["maximum"] = self.most
        whole = {"type": "array", "items": item} if self.kind.endswith("s") else item
        return {**whole, **({"description": self.description} if self.description else {})}


@dataclass(frozen=True)
class Tool:
    """One tool. `run` gets checked arguments and returns the result's text.

    It raises `MemfsError` where the call cannot be done. `plan` returns the edits that `run` would
    make, where that is all it does: they can be batched with others. `description` says when and
    why to use it; `fixed` are arguments with a constant value, which are not in the schema.
    """

    name: str
    title: str
    effect: Effect
    parameters: tuple[Parameter, ...]
    run: Callable[[ToolContext, Arguments], str]
    plan: Callable[[ToolContext, Arguments], list[Edit]] | None = None
    description: str = ""
    fixed: Mapping[str, object] = field(default_factory=dict)

    def schema(self) -> dict[str, object]:
        """Return the JSON schema of its arguments."""
        asked = [each for each in self.parameters if each.name not in self.fixed]
        found: dict[str, object] = {
            "type": "object",
            "properties": {each.name: each.schema() for each in asked},
            "additionalProperties": False,
        }
        required = [each.name for each in asked if each.required]
        return {**found, "required": required} if required else found

    def check(self, given: object) -> Arguments | str:
        """Return the arguments converted for `run`, or an error message.

        Numbers and truth values may be written as strings, and a list as one string: models do.
        """
        if not isinstance(given, dict):
            return f"the arguments of {self.name} have to be an object, not {_describe(given)}"
        known = {each.name: each for each in self.parameters if each.name not in self.fixed}
        found: Arguments = {}
        for name, value in given.items():
            if name not in known:
                wrong, takes = excerpt(str(name), 80), ", ".join(known) or "none"
                return f"{self.name} has no argument {wrong!r}; it takes {takes}"
            if value is None:
                continue  # the same as a missing argument
            try:
                found[name] = _convert(known[name], value)
            except ValueError as error:
                return f"{name} of {self.name} {error}"
        missing = [each.name for each in known.values() if each.required and each.name not in found]
        if missing:
            return f"{self.name} needs {' and '.join(missing)}"
        return {**found, **self.fixed}


def _convert(parameter: Parameter, value: object) -> object:
    """Return a value of the parameter's kind. Raises `ValueError` that completes a sentence."""
    if not parameter.kind.endswith("s"):
        return _convert_item(parameter, value)
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _parse_json(value)
    return [
        _convert_item(parameter, item) for item in (value if isinstance(value, list) else [value])
    ]


def _convert_item(parameter: Parameter, value: object) -> object:
    kind = parameter.kind.removesuffix("s")
    found = value
    if isinstance(value, str) and kind == "boolean":
        found = _TRUTH.get(value.strip().lower())
    elif isinstance(value, str) and kind == "integer":
        with suppress(ValueError):  # also of thousands of digits
            found = int(value.strip())
    elif isinstance(value, float) and kind == "integer" and value.is_integer():
        found = int(value)
    if not isinstance(found, _TYPES[kind]) or isinstance(found, bool) != (kind == "boolean"):
        raise ValueError(f"has to be {_NAMES[parameter.kind]}, not {_describe(value)}")
    if isinstance(found, str) and parameter.choices and found not in parameter.choices:
        choices = ", ".join(parameter.choices)
        raise ValueError(f"is {excerpt(found, 40)!r}, expected one of {choices}")
    if kind == "integer":
        _check_bounds(parameter, found)
    return found


def _check_bounds(parameter: Parameter, number: Any) -> None:
    if abs(number) > _LARGEST:
        raise ValueError("is a very large number")
    low, high = parameter.least, parameter.most
    if (low is not None and number < low) or (high is not None and number > high):
        bounds = f"{low} to {high}" if high is not None else f"{low} or more"
        raise ValueError(f"is {number}, expected {bounds}")


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _describe(value: object) -> str:
    kinds = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if abs(value) <= _LARGEST else "a very large number"
    return kinds.get(type(value), repr(excerpt(str(value), 40)))
