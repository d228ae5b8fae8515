"""The fact: a statement with its source and status."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from memfs.core.snippet import snippet

ACTIVE, SUPERSEDED, ACCEPTED, REJECTED = "active", "superseded", "accepted", "rejected"
ARCHIVED = "archived"  # removed for lack of capacity: archive search finds it
STATUSES = (ACTIVE, SUPERSEDED, ACCEPTED, REJECTED, ARCHIVED)
HOLDS = (ACTIVE, ACCEPTED)
RULES = "rules"  # the extractor that is no model


@dataclass(frozen=True)
class Fact:
    """One fact. `host`, `session` and `message` name its source, `at` its time.

    `confidence` is 0 to 1. `key` names its subject: of two facts with one key the later one
    counts. `over` are words it speaks against. `by` is the fact that superseded it; `revision`
    counts the changes of its status. `personal`: it is about the user, and not for the project.
    `extractor` is what found it: `RULES`, or the name of a model; "" if that is unknown.
    """

    id: str
    statement: str
    confidence: float
    category: str
    entities: tuple[str, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    key: str = ""
    over: tuple[str, ...] = ()
    host: str = ""
    session: str = ""
    message: str = ""
    at: str = ""
    status: str = ACTIVE
    by: str = ""
    personal: bool = False
    revision: int = 0
    extractor: str = ""

    def __repr__(self) -> str:
        head = f"{self.id[:8]} {self.category} {self.confidence:.2f} {self.status}"
        return f"<Fact {head}: {snippet(self.statement, (), 60)!r}>"

    @property
    def holds(self) -> bool:
        """Whether it is valid: neither superseded, rejected nor archived."""
        return self.status in HOLDS

    def revise(self, status: str, by: str = "") -> Fact:
        """Return the next revision, with another status; `by` is the fact that superseded it."""
        return replace(self, status=status, by=by or self.by, revision=self.revision + 1)


def make_id(*parts: str) -> str:
    """Return an id: 16 hex digits, the same for the same parts."""
    return hashlib.sha256("|".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
