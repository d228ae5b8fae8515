"""Candidates from the database: messages that an index in memory then ranks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memfs.core.records import Message
from memfs.search import (
    doc_json,
    encoder,
    identifiers,
    lexical,
    memory_index,
    stopwords,
    text_vectors,
)
from memfs.search.engine import Engine
from memfs.search.memory_index import EncodedWindows
from memfs.team.server import push_rows
from memfs.team.server.ledger import Ledger, StoredMessage

_MOST_KEPT = 50_000  # messages: about a kilobyte each
# By project, too: what somebody sends as a message of one project is nothing to another.
_kept: dict[tuple[int, UUID], EncodedWindows] = {}  # the first ones are the oldest

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
        keys = push_rows.map_terms(project, terms)
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
    engine = index_candidates(messages)
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


def index_candidates(messages: Sequence[StoredMessage]) -> Engine:
    """Return an engine that searches some messages, given session by session in order."""
    model = encoder.load_bundled()
    keys = [(each.project, each.id) for each in messages]
    known = {key: _kept.get(key) for key in keys}
    new = {key: m.text for key, m in zip(keys, messages, strict=True) if known[key] is None}
    encoded = dict(zip(new, memory_index.encode_windows([*new.values()], model), strict=True))
    _keep(encoded)
    windows = [known[key] or encoded[key] for key in keys]
    return memory_index.make_engine([make_document(each) for each in messages], windows, model)


def _keep(encoded: dict[tuple[int, UUID], EncodedWindows]) -> None:
    _kept.update(encoded)
    while len(_kept) > _MOST_KEPT:
        try:
            del _kept[next(iter(_kept))]
        except (KeyError, RuntimeError, StopIteration):  # another thread does it, too
            return


def name_session(ident: str, member: str) -> str:
    """Return the name of a member's session: two members may have one of the same name."""
    return f"{member} {ident}"


def make_document(stored: StoredMessage) -> dict[str, object]:
    """Return the document of a shared message: the ledger's id, and a session of its member."""
    message = Message(
        stored.id.hex,
        name_session(stored.ident, stored.member),
        stored.host,
        str(stored.project),
        stored.branch,
        stored.time,
        stored.role,
        stored.text,
        speaker=stored.speaker,
    )
    return doc_json.document(message) | {"id": stored.id.hex}
