"""What a prompt brings to mind, by words and meaning, in a process that keeps its index open."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memfs.search import relevance

if TYPE_CHECKING:
    from memfs.search.engine import Engine
    from memfs.search.reasons import Told
    from memfs.search.relevance import Asked

_RERANKED = 12  # at most 8 are read; on LoCoMo and devmembench 25 bring up the same


class Looked(NamedTuple):
    """What a prompt is about, and what the index has that is near to it."""

    asked: Asked
    told: Told


def look(engine: Engine, prompt: str, session: str) -> Looked | None:
    """Look a prompt of a session up; None if there is nothing that it could bring up."""
    asked = relevance.asked(engine.text, prompt, session)
    told = engine.told(asked.prompt, terms=asked.terms, reranked=_RERANKED) if asked else None
    return Looked(asked, told) if asked and told else None
