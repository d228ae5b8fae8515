"""Candidates for facts: statements with a category and names, and the facts made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memfs.core import body_edits
from memfs.core.records import Fact, Message, make_id
from memfs.knowledge.facts.extraction import patterns
from memfs.store import archive

CATEGORIES = (
    *("preference", "rule", "decision", "identity", "environment"),
    *("version", "correction", "cause", "technical", "change"),
)
_ENTITY = re.compile(
    r"`([^`\n]{1,80})`|((?<![\w/.])(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.(?:py|ts|tsx|js|go|rs|md|json|"
    r"ya?ml|toml|sh|java|rb|c|h|cpp|css|html)\b)|(?<![.!?]\s)(?<!^)\b([A-Z][a-z]+[A-Z]\w+|[A-Z]{2,}"
    r"[\w-]*|[A-Z][a-z]{2,})\b"
)
_RELATION = re.compile(
    rf"({patterns.SPAN}) (?:\w+ )?(is|are|uses?|requires?|returns?|contains?|includes?|calls?|"
    rf"runs?|comes? from|(?:is|are) (?:defined|implemented|configured|set|stored) in|replaces?)\b"
    rf"[^`]{{0,40}}({patterns.SPAN})"
)


@dataclass(frozen=True)
class FactCandidate:
    """One candidate for a fact.

    `key` is its subject ("" if unknown): of two facts with the same key the later one supersedes
    the other. `over` has words that it rejects, as Y in "X instead of Y".
    `personal`: it is about the person who said it.
    """

    statement: str
    confidence: float
    category: str
    entities: tuple[str, ...]
    relations: tuple[tuple[str, str, str], ...] = ()
    key: str = ""
    over: tuple[str, ...] = ()
    personal: bool = False


def build_candidate(
    sentence: str, category: str, confidence: float, key: str = "", over: tuple[str, ...] = ()
) -> FactCandidate:
    """Make a candidate of a sentence, with the names and relations in it."""
    names = clean_names(next(filter(None, match.groups())) for match in _ENTITY.finditer(sentence))
    relations = tuple(
        (clean_name(match[1].strip("`")), match[2].lower(), clean_name(match[3].strip("`")))
        for match in _RELATION.finditer(sentence)
    )
    text = sentence.rstrip(".!")
    return FactCandidate(text, confidence, category, names, relations, key, over)


def clean_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct names, without the punctuation of the sentence that they end."""
    return tuple(dict.fromkeys(filter(None, map(clean_name, names))))


def clean_name(name: str) -> str:
    """Return a name without the punctuation of the sentence that it ends."""
    return " ".join(name.split()).rstrip(".,;")


def make_fact(message: Message, candidate: FactCandidate, found_by: str) -> Fact:
    """Make a fact of a candidate and its message. The id is deterministic."""
    folded = archive.merge_passages(candidate.statement)
    return Fact(
        make_id(message.host, message.session, message.id, folded),
        candidate.statement,
        candidate.confidence,
        candidate.category,
        candidate.entities,
        candidate.relations,
        candidate.key,
        candidate.over,
        message.host,
        message.session,
        message.id,
        message.at,
        personal=candidate.personal,
        extractor=found_by,
    )


def drop_secrets(found: Iterable[Fact]) -> list[Fact]:
    """Return the facts that hold no secret."""
    return [fact for fact in found if not body_edits.check_secret("keep", "a fact", fact.statement)]
