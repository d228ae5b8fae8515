"""Searching what a team shares: candidates come from the database or from index folders.

Both give engines, and the ranking is that of memfs everywhere. What is given away is read from the
ledger at the end, with the token of who asks: an index that is behind, or that is not a member's,
gives nothing away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol

from memfs.core.errors import UsageError
from memfs.core.records import Hit
from memfs.recall import prompts
from memfs.recall.answers import Recollection
from memfs.search.engine import Engine
from memfs.team.protocol import (
    MOST_HITS,
    MOST_PROJECTS,
    RecallReply,
    RecallRequest,
    SearchReply,
    TeamAnswer,
    TeamHit,
    TeamSearchRequest,
)
from memfs.team.server import candidate_search
from memfs.team.server.candidate_search import TeamQuestion
from memfs.team.server.ledger import Ledger, SearchedProject, StoredMessage

_LONGEST = 20_000  # characters of a question
_MOST_SHOWN = 2000  # ids
_LATEST = 1 << 40  # seconds


class EngineSource(Protocol):
    """Where the engines for a question come from."""

    def __call__(
        self, ledger: Ledger, projects: Mapping[int, SearchedProject], question: TeamQuestion
    ) -> AbstractContextManager[list[Engine]]:
        """Open engines that hold what may answer a question."""


def search(ledger: Ledger, request: TeamSearchRequest, source: EngineSource) -> SearchReply:
    """Return the hits for a question that are clearly about it, the surest first.

    Raises `UsageError` for a malformed request, and what `Ledger` does.
    """
    _check(request.projects, request.query)
    projects = ledger.check_search(request.projects)
    most = max(1, min(request.limit, MOST_HITS))
    question = TeamQuestion(
        request.query, tuple(request.roles), _parse_time(request.since), _parse_time(request.until)
    )
    graded: list[tuple[float, Hit]] = []
    with source(ledger, projects, question) as engines:
        for engine in engines:
            graded += _rank(engine, question, 2 * most)
    graded.sort(key=lambda pair: -pair[0])
    graded = graded[: 2 * most]
    stored = _confirm(ledger, projects, [hit.id for _, hit in graded])
    hits = [
        _make_hit(margin, hit, found, projects[found.project].name)
        for margin, hit in graded
        if (found := stored.get(hit.id))
    ]
    return SearchReply(hits[:most])


def recall(ledger: Ledger, request: RecallRequest, source: EngineSource) -> RecallReply:
    """Return what sessions of others say to a prompt; mostly nothing.

    Raises as `search` does.
    """
    _check(request.projects, request.prompt)
    projects = ledger.check_search(request.projects)
    shown = request.shown[-_MOST_SHOWN:]
    me = ledger.get_membership().member
    session = candidate_search.name_session(request.session, me) if request.session else ""
    found: list[Recollection] = []
    with source(ledger, projects, TeamQuestion(request.prompt)) as engines:
        for engine in engines:
            brought = prompts.recall_warm(engine, request.prompt, session, shown, MOST_HITS)
            found += [each for each in brought.found if isinstance(each, Recollection)]
    stored = _confirm(ledger, projects, [each.id for each in found])
    answers = [
        _make_answer(each, first, projects[first.project].name)
        for each in found
        if (first := stored.get(each.id)) and first.member != me
    ]
    return RecallReply(answers[: max(0, min(request.limit, MOST_HITS))])


def _rank(engine: Engine, question: TeamQuestion, most: int) -> list[tuple[float, Hit]]:
    """Return the hits above the floor of an engine, each with how far it is above."""
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
    return found


def _passes(hit: Hit, question: TeamQuestion) -> bool:
    """Tell whether a hit is what was asked for: turns beside a candidate may be anything."""
    if question.roles and hit.role not in question.roles:
        return False
    if question.since is None and question.until is None:
        return True
    at = datetime.fromisoformat(hit.at) if hit.at else datetime.fromtimestamp(0, UTC)
    return (question.since or at) <= at <= (question.until or at)


def _confirm(
    ledger: Ledger, projects: Mapping[int, SearchedProject], ids: list[str]
) -> dict[str, StoredMessage]:
    """Return the messages that are in the ledger still, by their ids."""
    return {each.id.hex: each for each in ledger.read_messages([*projects], ids)} if ids else {}


def _make_hit(margin: float, hit: Hit, stored: StoredMessage, project: str) -> TeamHit:
    return TeamHit(
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


def _make_answer(found: Recollection, first: StoredMessage, project: str) -> TeamAnswer:
    return TeamAnswer(
        [*found.ids],
        found.snippet,
        found.reason,
        first.time,
        first.host,
        first.ident,
        project,
        first.member,
    )


def _check(projects: Sequence[int], query: str) -> None:
    if not 1 <= len(projects) <= MOST_PROJECTS:
        raise UsageError(f"there are {len(projects)} projects, expected 1 to {MOST_PROJECTS}")
    if not query.strip():
        raise UsageError("the query is empty", "say what to look for")
    if len(query) > _LONGEST:
        raise UsageError(f"the query has {len(query):,} characters, at most {_LONGEST:,} are taken")


def _parse_time(seconds: int | None) -> datetime | None:
    if seconds is None:
        return None
    if abs(seconds) > _LATEST:
        raise UsageError("a time is out of range")
    return datetime.fromtimestamp(max(0, seconds), UTC)
