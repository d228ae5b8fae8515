"""The definition of a tool: name, parameters, effect on memory, and function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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
            clean = _convert(known[name], value)
            if isinstance(clean, _Wrong):
                return f"{name} of {self.name} {clean.why}"
            found[name] = clean
        missing = [each.name for each in known.values() if each.required and each.name not in found]
        if missing:
            return f"{self.name} needs {' and '.join(missing)}"
        return {**found, **self.fixed}


@dataclass(frozen=True)
class _Wrong:
    why: str


def _convert(parameter: Parameter, value: object) -> object:
    if parameter.kind in ("strings", "integers"):
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _parse_json(value)
        items = value if isinstance(value, list) else [value]
        cleaned = [_convert_item(parameter, item) for item in items]
        wrong = next((each for each in cleaned if isinstance(each, _Wrong)), None)
        return wrong or cleaned
    return _convert_item(parameter, value)


def _convert_item(parameter: Parameter, value: object) -> object:
    kind = parameter.kind.removesuffix("s")
    wrong = _Wrong(f"has to be {_NAMES[parameter.kind]}, not {_describe(value)}")
    if kind == "string":
        if not isinstance(value, str):
            return wrong
        if parameter.choices and value not in parameter.choices:
            choices = ", ".join(parameter.choices)
            return _Wrong(f"is {excerpt(value, 40)!r}, expected one of {choices}")
        return value
    if kind == "boolean":
        found = _TRUTH.get(value.strip().lower()) if isinstance(value, str) else value
        return found if isinstance(found, bool) else wrong
    return _convert_number(parameter, value, wrong)


def _convert_number(parameter: Parameter, value: object, wrong: _Wrong) -> object:
    number: object = value
    if isinstance(value, str):
        try:
            number = int(value.strip())
        except ValueError:  # also one of thousands of digits
            return wrong
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        return wrong
    if abs(number) > _LARGEST:
        return _Wrong("is a very large number")
    low, high = parameter.least, parameter.most
    if (low is not None and number < low) or (high is not None and number > high):
        bounds = f"{low} to {high}" if high is not None else f"{low} or more"
        return _Wrong(f"is {number}, expected {bounds}")
    return number


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
