"""A context, and what is in it, as values: light, for a command that the service answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Compression = Literal["smart", "aggressive"]


@dataclass(frozen=True)
class Found:
    """Something retrieved. `relevance` is 0 to 1.

    `group` is the same for related items, `head` is its title; `who` is the speaker or "".
    `type` is one of message, passage, fact, static, flow.
    """

    id: str
    type: str
    text: str
    relevance: float
    at: str = ""
    who: str = ""
    group: str = ""
    head: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """A search result. Pieces of one `group` belong together; `head` is the group's title.

    `kind` selects a share of the limit; `who` is the speaker or ""; `score` compares in one kind.
    """

    id: str
    kind: str
    text: str
    score: float
    group: str
    head: str
    at: str = ""
    who: str = ""


@dataclass(frozen=True)
class Context:
    """One context: its text, and what is in it, by kind.

    `tokens` are those of the text, `left_out` counts the items without room, `compressed` the
    shortened ones. `steps` usually come next, `summaries` are by kind, `problems` are errors of
    kinds. `sure` is False where nothing in it is clearly about the task.
    """

    text: str
    tokens: int
    found: Mapping[str, tuple[Found, ...]]
    left_out: int
    compressed: int
    steps: tuple[str, ...] = ()
    summaries: Mapping[str, str] | None = None
    problems: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = ()
    sure: bool = True

    def __repr__(self) -> str:
        counts = f"{len(self.pieces)} pieces, {self.left_out} left out"
        return f"<Context of {self.tokens:,} tokens: {counts}>"
