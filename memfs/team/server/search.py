"""Searching what a team shares: the database finds candidates, memfs ranks them in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
import tantivy
from numpy.typing import NDArray

from memfs.core.errors import UsageError
from memfs.core.hits import Hit
from memfs.core.records import Message
from memfs.recall import prompts
from memfs.search import doc_json, encoder, identifiers, lexical, semantic, stopwords, text_vectors
from memfs.search.engine import Engine
from memfs.search.prompt_relevance import PromptHit
from memfs.search.semantic import Document, VectorIndex
from memfs.search.vector_layout import LARGEST, Extent
from memfs.team import protocol
from memfs.team.server import push_rows
from memfs.team.server.database import Ledger

_LONGEST = 20_000  # characters of a question
_MOST_SHOWN = 2000  # ids
_LATEST = 1 << 40  # seconds
_MOST_CANDIDATES = 48  # by words, and as many by vectors, over all projects
_LEAST_CANDIDATES = 15  # of each project, however many there are
_BESIDE = 2  # turns before and after each
_MOST_TERMS = 32
_MOST_KEPT = 50_000  # messages: about a kilobyte each
# By project, too: what somebody sends as a message of one project is nothing to another.
_kept: dict[tuple[int, UUID], EncodedWindows] = {}  # the first ones are the oldest


class EncodedWindows(NamedTuple):
    """A text's windows: an int8 row for each, and the token ids of each."""

    rows: NDArray[np.int8]
    tokens: list[encoder.TokenIds]


class StoredMessage(NamedTuple):
    """A message of the database. `ident` is the assistant's name for the session.

    `member` is who shared it, and whose the session is; `speaker` is who said it.
    """

    id: UUID
    at: datetime
    project: int
    role: str
    speaker: str
    text: str
    host: str
    ident: str
    branch: str
    member: str

    @property
    def time(self) -> str:
        """When it was said, in ISO 8601, "" where that is unknown."""
        if self.at == push_rows.UNDATED:
            return ""
        return self.at.astimezone(UTC).isoformat().replace("+00:00", "Z")


class WordMatch(NamedTuple):
    """A message that has some words; `counts` are the messages with each word, of `total`."""

    id: UUID
    at: datetime
    score: float
    counts: list[int]
    total: int


@dataclass(frozen=True)
class TeamQuestion:
    """What is searched: the text, and which messages may answer it."""

    text: str
    roles: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


def search(ledger: Ledger, request: protocol.TeamSearchRequest) -> protocol.SearchReply:
    """Return the hits for a question that are clearly about it, the surest first.

    Raises `UsageError` for a malformed request, and what `Ledger` does.
    """
    projects = _check(ledger, request.projects, request.query)
    most = max(1, min(request.limit, protocol.MOST_HITS))
    since, until = _parse_time(request.since), _parse_time(request.until)
    question = TeamQuestion(request.query, tuple(request.roles), since, until)
    engine = _open_engine(ledger, [*projects], question)
    graded = _rank(engine, question, 2 * most) if engine else []
    stored = _confirm(ledger, projects, [hit.id for _, hit in graded])
    hits = [
        _make_hit(margin, hit, found, projects[found.project])
        for margin, hit in graded
        if (found := stored.get(hit.id))
    ]
    return protocol.SearchReply(hits[:most])


def recall(ledger: Ledger, request: protocol.RecallRequest) -> protocol.RecallReply:
    """Return what sessions of others say to a prompt; mostly nothing.

    Raises as `search` does.
    """
    projects = _check(ledger, request.projects, request.prompt)
    me = ledger.call(lambda _, member, *__: str(member), "whoami")[0]
    session = _name_session(request.session, me) if request.session else ""
    found: list[PromptHit] = []
    if engine := _open_engine(ledger, [*projects], TeamQuestion(request.prompt)):
        shown = request.shown[-_MOST_SHOWN:]
        recalled = prompts.recall_warm(engine, request.prompt, session, shown, protocol.MOST_HITS)
        found = [each for each in recalled.found if each.kind == "message"]
    stored = _confirm(ledger, projects, [each.id for each in found])
    answers = [
        protocol.TeamAnswer(
            [*each.ids],
            each.snippet,
            each.reason,
            first.time,
            first.host,
            first.ident,
            projects[first.project],
            first.member,
        )
        for each in found
        if (first := stored.get(each.id)) and first.member != me
    ]
    return protocol.RecallReply(answers[: max(0, min(request.limit, protocol.MOST_HITS))])


def _check(ledger: Ledger, projects: Sequence[int], query: str) -> dict[int, str]:
    """Return the names of the projects that are searched."""
    if not query.strip():
        raise UsageError("the query is empty", "enter a text to search for")
    if len(query) > _LONGEST:
        raise UsageError(
            f"the query has {len(query):,} characters, the limit is {_LONGEST:,}",
            "shorten the query",
        )
    return dict(ledger.call(lambda number, name: (number, name), "check_search", [*projects]))


def _parse_time(seconds: int | None) -> datetime | None:
    if seconds is None:
        return None
    if abs(seconds) > _LATEST:
        raise UsageError("'since' or 'until' is out of range")
    return datetime.fromtimestamp(max(0, seconds), UTC)


def _rank(engine: Engine, question: TeamQuestion, most: int) -> list[tuple[float, Hit]]:
    builder = engine.rank(question.text)
    if builder is None:
        return []
    found = []
    shown, alike = builder.found.deduplicate()
    for place in builder.locate(shown[:most]):
        margin = builder.get_margin(place)
        if margin >= 0:
            hit = builder.build(place, alike.get(place, 0))
            if _passes(hit, question):
                found.append((margin, hit))
    return sorted(found, key=lambda pair: -pair[0])


def _passes(hit: Hit, question: TeamQuestion) -> bool:
    """Tell whether a hit is what was asked for: turns beside a candidate may be anything."""
    if question.roles and hit.role not in question.roles:
        return False
    at = datetime.fromisoformat(hit.at) if hit.at else push_rows.UNDATED
    return (question.since or at) <= at <= (question.until or at)


def _confirm(
    ledger: Ledger, projects: Mapping[int, str], ids: list[str]
) -> dict[str, StoredMessage]:
    found = ledger.call(StoredMessage, "read_messages", [*projects], ids) if ids else []
    return {each.id.hex: each for each in found}


def _make_hit(margin: float, hit: Hit, stored: StoredMessage, project: str) -> protocol.TeamHit:
    return protocol.TeamHit(
        hit.id,
        stored.text,
        hit.snippet,
        [*hit.why],
        round(margin, 4),
        stored.time,
        stored.role,
        stored.host,
        stored.ident,
        project,
        stored.member,
        stored.speaker,
        hit.before,
        hit.after,
    )


def _open_engine(ledger: Ledger, projects: Sequence[int], question: TeamQuestion) -> Engine | None:
    """Return an engine over the candidates of all projects, None without candidates.

    It weighs words as they are in all messages of these projects.
    """
    terms = _list_terms(question.text)
    vector = text_vectors.embed_texts([question.text])[0]
    point = push_rows.format_vector(vector.tolist()) if vector.any() else ""
    most = max(_LEAST_CANDIDATES, _MOST_CANDIDATES // max(1, len(projects)))
    limits = ([*question.roles], question.since, question.until, most)
    messages: list[StoredMessage] = []
    total, frequencies = 0, dict.fromkeys(terms, 0)
    for project in projects:
        keys = [*push_rows.map_terms(project, terms).values()]
        matches = ledger.call(WordMatch, "find_words", project, keys, *limits)
        named = [(match.id, match.at) for match in matches]
        if point:
            near = ledger.call(lambda *row: row[:2], "find_near", project, point, *limits)
            named += near
        if named:
            ids, ats = zip(*dict.fromkeys(named), strict=True)
            around = (project, [*ids], [*ats], _BESIDE)
            messages += ledger.call(StoredMessage, "read_around", *around)
        for match in matches[:1]:
            total += match.total
            for term, count in zip(terms, match.counts, strict=True):
                frequencies[term] += count
    if not messages:
        return None
    engine = _index_candidates(messages)
    engine.text.stands_for = total, frequencies
    return engine


def _list_terms(text: str) -> list[str]:
    """Return the stems and word parts of a question, without stop words unless it has no others."""
    stems = sorted(lexical.stems(text))
    stop = lexical.stems(" ".join(stopwords.STOP))
    rare = [stem for stem in stems if stem not in stop]
    return list(dict.fromkeys([*(rare or stems), *identifiers.extract_parts(text)]))[:_MOST_TERMS]


def _index_candidates(messages: Sequence[StoredMessage]) -> Engine:
    """Return an engine that searches some messages, given session by session in order."""
    model = encoder.load_bundled()
    keys = [(each.project, each.id) for each in messages]
    known = {key: _kept.get(key) for key in keys}
    new = {key: m.text for key, m in zip(keys, messages, strict=True) if known[key] is None}
    encoded = dict(zip(new, encode_windows([*new.values()], model), strict=True))
    _keep(encoded)
    windows = [known[key] or encoded[key] for key in keys]
    return make_engine([_make_document(each) for each in messages], windows, model)


def _keep(encoded: dict[tuple[int, UUID], EncodedWindows]) -> None:
    _kept.update(encoded)
    while len(_kept) > _MOST_KEPT:
        try:
            del _kept[next(iter(_kept))]
        except (KeyError, RuntimeError, StopIteration):  # another thread does it, too
            return


def _name_session(ident: str, member: str) -> str:
    """Return the name of a member's session: two members may have one of the same name."""
    return f"{member} {ident}"


def _make_document(stored: StoredMessage) -> dict[str, object]:
    message = Message(
        stored.id.hex,
        _name_session(stored.ident, stored.member),
        stored.host,
        str(stored.project),
        stored.branch,
        stored.time,
        stored.role,
        stored.text,
        speaker=stored.speaker,
    )
    return doc_json.document(message) | {"id": stored.id.hex}


def encode_windows(texts: Sequence[str], model: encoder.Encoder) -> list[EncodedWindows]:
    """Return the windows of each text by a model."""
    pieces = [semantic.split_windows(text) for text in texts]
    encoded = model.encode([piece for each in pieces for piece in each])
    rows = np.rint(encoded.vectors * LARGEST).astype(np.int8)
    found, begin = [], 0
    for each in pieces:
        end = begin + len(each)
        found.append(EncodedWindows(rows[begin:end], encoded.tokens[begin:end]))
        begin = end
    return found


def make_engine(
    documents: Sequence[dict[str, object]],
    windows: Sequence[EncodedWindows],
    model: encoder.Encoder,
) -> Engine:
    """Return an engine of documents with text, turn by turn in order, and their windows."""
    text = lexical.TextIndex(tantivy.Index(doc_json.schema(lexical.EXACT)))
    lines: list[str] = []
    found: list[Document] = []
    for number, document in enumerate(documents, 1):
        clean = {name: stopwords.replace_surrogates(value) for name, value in document.items()}
        lines.append(doc_json.add_number(doc_json.encode(clean), number, '""'))
        values = (int(str(clean[name])) for name in ("said", "at", "weight"))
        found.append(Document(number, int(str(clean["group"])), str(clean["text"]), *values))
    text.add_json(lines)
    text.commit()
    return Engine(text, MemoryVectors(found, windows, model))


class MemoryVectors(VectorIndex):
    """The rows of documents in memory. Nothing can be added."""

    def __init__(
        self, documents: list[Document], windows: Sequence[EncodedWindows], model: encoder.Encoder
    ) -> None:
        self.encoder, self.graph = model, None
        self.extent = Extent(model.name, source=model.folder)
        self._latest, self._after = {}, {}
        counts = [len(each.tokens) for each in windows]
        numbers = [document.number for document in documents]
        self.owners = np.array(numbers, np.uint32).repeat(counts)
        end = max(numbers, default=0) + 1
        self.documents = self._build_records(end, self.owners.astype(np.uint32), documents)
        none = np.zeros((0, model.dims), np.int8)
        self.vectors = np.concatenate([none, *(each.rows for each in windows)])
        tokens = [row for each in windows for row in each.tokens]
        self.tokens = np.concatenate([np.zeros(0, model.ids), *tokens])
        self.ends = np.cumsum([len(row) for row in tokens], dtype=np.uint64)
        self.frequencies = np.bincount(self.tokens, minlength=model.size).astype(np.uint32)
        self.extent = Extent(
            model.name, len(self.owners), len(self.tokens), len(self.documents), model.folder
        )
