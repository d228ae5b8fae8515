"""Candidates from the database: the messages that memfs then ranks (see `candidate_index`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from memfs.search import identifiers, lexical, stopwords, text_vectors
from memfs.search.engine import Engine
from memfs.team import candidate_index, push_rows, word_keys
from memfs.team.ledger import Ledger, StoredMessage

MOST = 48  # candidates by words, and as many by vectors, over all projects
_LEAST = 15  # of each project, however many there are
_BESIDE = 2  # turns before and after each
_MOST_TERMS = 32
_MOST_CHARACTERS = 20_000  # of a question


@dataclass(frozen=True)
class TeamQuestion:
    """What is searched: the text, and which messages may answer it."""

    text: str
    roles: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@contextmanager
def open_engines(
    ledger: Ledger, projects: Collection[int], question: TeamQuestion
) -> Iterator[list[Engine]]:
    """Yield an engine over the candidates of all projects, in a list; none without candidates.

    It weighs words as they are in all messages of these projects.
    """
    terms = list_terms(question.text)
    vector = _embed(question.text)
    most = max(_LEAST, MOST // max(1, len(projects)))
    messages: list[StoredMessage] = []
    total, frequencies = 0, dict.fromkeys(terms, 0)
    limits = (question.roles, question.since, question.until, most)
    for project in projects:
        keys = word_keys.map_terms(project, terms)
        matches = ledger.find_words(project, [*keys.values()], *limits)
        near = ledger.find_near(project, vector, *limits) if vector else []
        named = dict.fromkeys([*((each.id, each.at) for each in matches.found), *near])
        if named:
            messages += ledger.read_around(project, [*named], _BESIDE)
        total += matches.total
        for term, count in zip(terms, matches.counts, strict=True):
            frequencies[term] += count
    if not messages:
        yield []
        return
    engine = candidate_index.index_candidates(messages)
    engine.text.stands_for = total, frequencies
    yield [engine]


def list_terms(text: str) -> list[str]:
    """Return the stems and word parts of a question, without stop words unless it has no others."""
    head = text[:_MOST_CHARACTERS]
    stems = sorted(lexical.stems(head))
    stop = lexical.stems(" ".join(stopwords.STOP))
    rare = [stem for stem in stems if stem not in stop]
    return list(dict.fromkeys([*(rare or stems), *identifiers.extract_parts(head)]))[:_MOST_TERMS]


def _embed(text: str) -> str:
    """Return the vector of a question for the database, "" for one without words."""
    vector = text_vectors.embed_texts([text[:_MOST_CHARACTERS]])[0]
    return push_rows.format_vector(vector.tolist()) if vector.any() else ""
