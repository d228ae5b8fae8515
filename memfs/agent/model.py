"""The interface of a model: requests, messages, and answers with text and tool calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from memfs.core.errors import MemfsError
from memfs.tools.calls import Result, ToolCall
from memfs.tools.definition import Tool

Tell: TypeAlias = Callable[[str], object]  # gets the text of an answer, piece by piece


@dataclass(frozen=True)
class TokenUsage:
    """Token counts of the model's provider: input and output."""

    read: int = 0
    written: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(self.read + other.read, self.written + other.written)


@dataclass(frozen=True)
class UserPrompt:
    """A message of the user."""

    text: str


@dataclass(frozen=True)
class ModelAnswer:
    """The model's text and tool calls. Each call has an id."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage = TokenUsage()


@dataclass(frozen=True)
class SystemNote:
    """A message of our own to the model: a summary of earlier messages, or a warning."""

    text: str


Message = UserPrompt | ModelAnswer | Result | SystemNote


@dataclass(frozen=True)
class ModelRequest:
    """A request. `most` limits the answer's tokens; 0 leaves the limit to the model."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    most: int = 0


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The name to show."""

    def ask(self, request: ModelRequest, tell: Tell | None = None) -> ModelAnswer:
        """Return the next answer. Raises `ModelError`.

        `tell` gets its text piece by piece, where the model can stream.
        """

    def close(self) -> None:
        """End the connection."""


class ModelError(MemfsError):
    """The model cannot be asked, now or for anything: the run is over."""


class RefusedError(ModelError):
    """The model was reached and does not take this one conversation."""
