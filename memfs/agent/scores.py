"""The result of an evaluation as rows: conversations of a kind that passed, and the target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfs.agent.conversations import Kind


@dataclass(frozen=True)
class ScoreRow:
    """One kind of conversation. `counted` of `total`, which is `share` percent; `target` likewise.

    `fewer`: what is counted went wrong, and its share has to be below the target.
    """

    kind: Kind
    name: str
    counted: int
    total: int
    target: int
    fewer: bool = False

    @property
    def share(self) -> float:
        return 100 * self.counted / self.total

    @property
    def ok(self) -> bool:
        return self.share < self.target if self.fewer else self.share >= self.target

    def record(self) -> dict[str, object]:
        """Return the JSON record."""
        return {
            "kind": self.kind,
            "name": self.name,
            "counted": self.counted,
            "total": self.total,
            "percent": round(self.share, 1),
            "target": self.target,
            "fewer": self.fewer,
            "ok": self.ok,
        }

    @property
    def aim(self) -> str:
        return f"{'<' if self.fewer else '≥'} {self.target} %"


# The targets of the first design of active memory; forbidden things must always be kept out.
_ROWS: tuple[tuple[Kind, str, int, bool], ...] = (
    ("personal", "personal facts saved", 70, False),
    ("preference", "changed preferences updated", 50, False),
    ("decision", "decisions saved", 70, False),
    ("detail", "details archived", 30, False),
    ("topic", "blocks created", 60, False),
    ("trivia", "false saves", 20, True),
    ("forbidden", "forbidden things kept out", 100, False),
)


def build_rows(results: Iterable[tuple[Kind, bool]]) -> list[ScoreRow]:
    """Return a row for each kind in `results`, which are (kind, passed)."""
    passed: dict[Kind, list[bool]] = {}
    for kind, ok in results:
        passed.setdefault(kind, []).append(ok)
    return [
        ScoreRow(kind, name, passed[kind].count(not fewer), len(passed[kind]), target, fewer)
        for kind, name, target, fewer in _ROWS
        if kind in passed
    ]
