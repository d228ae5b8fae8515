"""What a model is to us: it is asked, and answers with text and tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memfs.core.errors import MemfsError
from memfs.tools.calls import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from memfs.tools.calls import ToolCall
    from memfs.tools.definition import Tool

    Tell: TypeAlias = Callable[[str], object]  # is given the text of an answer, piece by piece


@dataclass(frozen=True)
class TokenUsage:
    """Tokens as the model's provider counts them: what it read, and what it wrote."""

    read: int = 0
    written: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(self.read + other.read, self.written + other.written)


@dataclass(frozen=True)
class UserPrompt:
    """What the user says."""

    text: str


@dataclass(frozen=True)
class ModelAnswer:
    """What the model says, and the tool calls it wants done. Each call has an id."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage = TokenUsage()


@dataclass(frozen=True)
class SystemNote:
    """What we tell the model ourselves: a summary of what went before, a warning."""

    text: str


Message = UserPrompt | ModelAnswer | Result | SystemNote


@dataclass(frozen=True)
class ModelRequest:
    """What a model is asked. `most` is how many tokens it may answer, 0 if it is to know itself."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    most: int = 0


class Model(Protocol):
    """Anything that can be asked."""

    @property
    def name(self) -> str:
        """What it is called, for people."""

    def ask(self, request: ModelRequest, tell: Tell | None = None) -> ModelAnswer:
        """Return the next answer. Raises `ModelError` where none is to be had.

        With `tell`, its text is told while it comes, where the model can do that.
        """

    def close(self) -> None:
        """End the connection."""


class ModelError(MemfsError):
    """The model cannot be asked, now or for anything: the run is over."""


class RefusedError(ModelError):
    """The model was reached and does not take this one conversation."""
