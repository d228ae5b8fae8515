"""The definition of a tool: name, parameters, effect on memory, and function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

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
_TYPES: dict[str, tuple[Any, str]] = {  # and what they are called
    "string": (str, "a string"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
}
_LISTS = {"string": "a list of strings", "integer": "a list of whole numbers"}


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
        try:
            found.append(msgspec.convert(bare, item, strict=False))
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            wanted = _LISTS[kind] if several else what
            raise ValueError(f"has to be {wanted}, not {_describe(each)}") from error
    return found if several else found[0]


def _describe(value: object) -> str:
    kinds = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if abs(value) <= _LARGEST else "a very large number"
    return kinds.get(type(value), repr(excerpt(str(value), 40)))
