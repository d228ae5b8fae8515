"""What people said of how a session came out: lines that are only added, the latest counts."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from memfs.store import clock, files, layout

if TYPE_CHECKING:
    from memfs.store.layout import Store

FILE = "outcomes.jsonl"


@dataclass(frozen=True)
class Outcome:
    """How a session, or one turn of it (from 1; 0: all of them), came out, and why.

    `gone`: it was taken out of the graph instead.
    """

    session: str
    worked: bool = False
    why: str = ""
    turn: int = 0
    at: str = ""
    gone: bool = False


def add(store: Store, outcome: Outcome) -> Outcome:
    """Write down how a session came out, durably."""
    outcome = replace(outcome, at=clock.now())
    layout.make_local(store)
    line = json.dumps(asdict(outcome), ensure_ascii=False) + "\n"
    files.append(f"{store.local}/{FILE}", files.encode(line))
    return outcome


def every(store: Store) -> list[Outcome]:
    """Return what was said, the latest last; damaged lines are left out."""
    path = f"{store.local}/{FILE}"
    found = []
    for line in (files.read(path) or "").splitlines() if os.path.exists(path) else []:
        try:
            found.append(Outcome(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
