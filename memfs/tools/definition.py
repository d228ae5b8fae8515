"""The definition of a tool: name, parameters, effect on memory, and function.

Every session of an assistant begins with the list of tools: what it needs is imported here alone.
"""

from memfs.core.errors import RejectedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal

    from memfs.core.body_edits import Edit
    from memfs.tools.tool_context import ToolContext

    Kind = Literal["string", "integer", "boolean", "strings", "integers"]
    Effect = Literal["read", "add", "change", "remove"]
    Arguments = dict[str, Any]  # checked: each has the type of its parameter
else:
    Arguments = dict

HEARTBEAT = "request_heartbeat"


class VerbatimError(RejectedError):
    """A refusal in words that the model was trained on: they are passed on unchanged."""


class Parameter:
    """One argument of a tool. `least` and `most` bound a number (or each of a list)."""

    __slots__ = ("choices", "description", "kind", "least", "most", "name", "required")

    def __init__(
        self,
        name: str,
        kind: "Kind",
        description: str,
        required: bool = False,
        choices: tuple[str, ...] = (),
        least: int | None = None,
        most: int | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.description = description
        self.required = required
        self.choices = choices
        self.least = least
        self.most = most

    def without_description(self) -> "Parameter":
        """Return the parameter with its name and type alone."""
        return Parameter(
            self.name, self.kind, "", self.required, self.choices, self.least, self.most
        )

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


class Tool:
    """One tool. `run` gets checked arguments and returns the result's text.

    It raises `MemfsError` where the call cannot be done. `plan` returns the edits that `run` would
    make, where that is all it does: they can be batched with others. `description` says when and
    why to use it; `fixed` are arguments with a constant value, which are not in the schema.
    """

    __slots__ = ("description", "effect", "fixed", "name", "parameters", "plan", "run", "title")

    def __init__(
        self,
        name: str,
        title: str,
        effect: "Effect",
        parameters: tuple[Parameter, ...],
        run: "Callable[[ToolContext, Arguments], str]",
        plan: "Callable[[ToolContext, Arguments], list[Edit]] | None" = None,
        description: str = "",
        fixed: "Mapping[str, object] | None" = None,
    ) -> None:
        self.name = name
        self.title = title
        self.effect = effect
        self.parameters = parameters
        self.run = run
        self.plan = plan
        self.description = description
        self.fixed = fixed or {}

    def with_changes(self, **changes: object) -> "Tool":
        """Return the tool with some of its fields changed."""
        fields: Any = {name: getattr(self, name) for name in self.__slots__}
        return Tool(**{**fields, **changes})

    def list_asked(self) -> list[Parameter]:
        """Return the parameters that a model gives."""
        return [each for each in self.parameters if each.name not in self.fixed]

    def schema(self) -> dict[str, object]:
        """Return the JSON schema of its arguments."""
        asked = self.list_asked()
        found: dict[str, object] = {
            "type": "object",
            "properties": {each.name: each.schema() for each in asked},
        }
        required = [each.name for each in asked if each.required]
        return {**found, "required": required} if required else found

    def define(self) -> dict[str, object]:
        """Return its definition as MCP has it. Every edit can be undone: only deleting destroys."""
        if self.effect == "read":
            hint = {"readOnlyHint": True}
        else:
            hint = {"destructiveHint": self.effect == "remove"}
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema(),
            "annotations": {"title": self.title, **hint, "openWorldHint": False},
        }
