"""What a prompt brings to mind, by words and meaning, in a process that keeps its index open."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memfs.search import prompt_relevance

if TYPE_CHECKING:
    from memfs.search.engine import Engine
    from memfs.search.hit_builder import HitBuilder
    from memfs.search.prompt_relevance import PromptQuery

_RERANKED = 12  # at most 8 are read; on LoCoMo and devmembench 25 bring up the same


class WarmLookup(NamedTuple):
    """What a prompt is about, and what the index has that is near to it."""

    asked: PromptQuery
    told: HitBuilder


def look_up(engine: Engine, prompt: str, session: str) -> WarmLookup | None:
    """Look a prompt of a session up; None if there is nothing that it could bring up."""
    asked = prompt_relevance.parse_prompt(engine.text, prompt, session)
    told = engine.told(asked.prompt, terms=asked.terms, reranked=_RERANKED) if asked else None
    return WarmLookup(asked, told) if asked and told else None
