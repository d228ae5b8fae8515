"""Conversion of search hits to retrieved items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.core.records import Hit
from memfs.knowledge.kinds.protocol import Found

if TYPE_CHECKING:
    from memfs.search.engine import Engine, Mode


def convert_hit(hit: Hit, relevance: float) -> Found:
    """Convert a hit to a retrieved item; turns of one session and day have the same group."""
    own = {"why": hit.why, "tags": hit.tags, "session": hit.session, "score": hit.score}
    metadata = {**hit.metadata, **own}
    if hit.kind == "message":
        who = f"({hit.host})" if hit.host else ""
        head = " ".join(part for part in (hit.at[:10], "session", hit.session, who) if part)
        group = f"{hit.host}/{hit.session}/{hit.at[:10]}"
        return Found(hit.id, hit.kind, hit.text, relevance, hit.at, hit.who, group, head, metadata)
    name = f"{hit.kind} {hit.label}" if hit.label else f"{hit.at[:10]}, {hit.kind} {hit.id}"
    return Found(hit.id, hit.kind, hit.text, relevance, hit.at, "", hit.id, name, metadata)


def mode(engine: Engine) -> Mode:
    """Return the search mode of an engine: by words alone if it has no vectors."""
    return "text" if engine.vectors is None else "hybrid"
