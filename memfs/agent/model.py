"""What a model is to us: it is asked, and answers with text and tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memfs.core.errors import MemfsError
from memfs.tools.calls import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.tools.calls import Call
    from memfs.tools.definition import Tool


@dataclass(frozen=True)
class Usage:
    """Tokens as the model's provider counts them: what it read, and what it wrote."""

    read: int = 0
    written: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.read + other.read, self.written + other.written)


@dataclass(frozen=True)
class Prompt:
    """What the user says."""

    text: str


@dataclass(frozen=True)
class Answer:
    """What the model says, and the tool calls it wants done. Each call has an id."""

    text: str
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()


Message = Prompt | Answer | Result


class Model(Protocol):
    """Anything that can be asked."""

    def ask(self, system: str, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer:
        """Return the next answer. Raises `ModelError` where none is to be had."""


class ModelError(MemfsError):
    """The model cannot be asked, now or for anything: the run is over."""


class RefusedError(ModelError):
    """The model was reached and does not take this one conversation."""
