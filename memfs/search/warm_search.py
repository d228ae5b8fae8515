"""Recall for a prompt by words and meaning, in a process that keeps its index open."""

from __future__ import annotations

from typing import NamedTuple

from memfs.search import prompt_relevance
from memfs.search.engine import Engine
from memfs.search.hit_builder import HitBuilder
from memfs.search.prompt_relevance import PromptQuery

_RERANKED = 12  # at most 8 are read; on LoCoMo and devmembench 25 give the same hits


class WarmLookup(NamedTuple):
    """The subject of a prompt, and a builder with the ranking for it."""

    query: PromptQuery
    builder: HitBuilder


def look_up(engine: Engine, prompt: str, session: str) -> WarmLookup | None:
    """Search the index for a prompt of a session; None if there is nothing to recall."""
    query = prompt_relevance.parse_prompt(engine.text, prompt, session)
    builder = engine.rank(query.prompt, terms=query.terms, reranked=_RERANKED) if query else None
    return WarmLookup(query, builder) if query and builder else None
