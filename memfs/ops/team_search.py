"""Search what others shared of this project, beside the local search and within a time of its own.

The local answer never waits for longer than that. Secrets are taken out of a question before it
leaves, and one with a pattern of what is never shared stays here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from memfs.core.errors import MemfsError, StoreError
from memfs.core.records import Hit
from memfs.ipc.team_client import TeamClient
from memfs.ipc.team_protocol import MOST_HITS, TeamHit, TeamSearchRequest
from memfs.ops import search
from memfs.ops.team_share import make_question
from memfs.search.engine import Filter, HitPage, Mode
from memfs.store import team_membership
from memfs.store.blocks import Place
from memfs.store.team_membership import JoinedProject, TeamAccount

if TYPE_CHECKING:
    from memfs.recall.index_session import IndexSession

TIME = 2.0  # seconds that a team's server has, from the start of a search on
_MEMBER = "member"  # in the metadata of a hit: who shared it
_MESSAGE = "message"


@dataclass(frozen=True)
class TeamFindings:
    """What a team's server found. `note` says why there is nothing of it, "" where it answered."""

    hits: list[Hit]
    note: str = ""


class TeamSearch:
    """A search that runs beside the local one: it starts when it is made."""

    def __init__(self, place: Place, query: str, only: Filter, limit: int) -> None:
        self._until = time.monotonic() + TIME
        self._found = TeamFindings([], "the team's server does not answer")
        arguments = (place, query, only, limit)
        self._thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self._thread.start()

    def wait(self) -> TeamFindings:
        """Return what was found; at the latest when its time is over."""
        self._thread.join(max(0.0, self._until - time.monotonic()))
        return self._found

    def _run(self, place: Place, query: str, only: Filter, limit: int) -> None:
        try:
            project, account = _load(place)
            question = make_question(place.store("user"), query)
            if question is None:
                self._found = TeamFindings([], "the question has what memfs team never names")
                return
            self._found = TeamFindings(_ask(project, account, question, only, limit))
        except MemfsError as error:
            self._found = TeamFindings([], error.message)


def run(
    index: IndexSession,
    query: str,
    *,
    mode: Mode | None,
    only: Filter,
    limit: int,
    page: int,
    nearest: bool = False,
) -> HitPage[Hit]:
    """Return one page (from 1) of own hits and of those that others shared, ranked together.

    As `search.run`, but `index.note` says also why there is nothing of the team. Beside what others
    shared, own hits that are not clearly relevant are left out unless `nearest`.
    """
    most = min(limit * page, search.MOST)
    asked = TeamSearch(index.place, query, only, most)
    own = search.run(index, query, mode=mode, only=only, limit=most, page=1)
    others = asked.wait()
    if others.note:
        index.note = "; ".join(filter(None, (index.note, f"nothing of the team: {others.note}")))
    if others.hits and not own.sure and not nearest:
        own = HitPage([], 0)
    hits = merge_hits(own.hits, others.hits)[limit * (page - 1) : most]
    return HitPage(hits, own.total + len(others.hits), own.sure)


def describe_sharer(hit: Hit) -> str:
    """Return who shared a hit and in which project, "" for an own one."""
    member = hit.metadata.get(_MEMBER) if hit.kind == _MESSAGE else None
    return f"shared by {member} in {hit.project}" if member else ""


def has_joined(place: Place) -> bool:
    """Tell whether the project of a place has joined a team."""
    try:
        return bool(_load(place))
    except StoreError:
        return False


def merge_hits(own: Sequence[Hit], others: Sequence[Hit]) -> list[Hit]:
    """Return the hits of both by their ranks, each own one before that of others.

    The scores of two indexes mean nothing to each other.
    """
    pairs = zip_longest(own, others)
    return [hit for pair in pairs for hit in pair if hit is not None]


def _load(place: Place) -> tuple[JoinedProject, TeamAccount]:
    """Return what the project of a place has joined. Raises `StoreError` for nothing."""
    access = team_membership.load_access(place.store("user"), place.store("project").local)
    if access is None:
        raise StoreError("this project has joined no team", "memfs team join URL")
    return access


def _ask(
    project: JoinedProject, account: TeamAccount, query: str, only: Filter, limit: int
) -> list[Hit]:
    unknown = only.tags or only.any_tags or only.projects or only.branches  # to a server
    if not query.strip() or (only.kinds and _MESSAGE not in only.kinds) or unknown:
        return []
    request = TeamSearchRequest(
        [project.id], query, min(limit, MOST_HITS), [*only.roles], only.since, only.until
    )
    with TeamClient(account.address, account.token, account.ca, TIME) as client:
        found = client.search(request).hits
    return [
        _make_hit(each, account.team)
        for each in found
        if each.member != account.member and _passes(each, only)
    ]


def _passes(found: TeamHit, only: Filter) -> bool:
    """Tell whether a hit passes what the server does not know of a filter."""
    return (
        (not only.hosts or found.host in only.hosts)
        and (not only.sessions or found.session in only.sessions)
        and (not only.speakers or bool({found.speaker, found.role} & {*only.speakers}))
    )


def _make_hit(found: TeamHit, team: str) -> Hit:
    return Hit(
        found.id,
        _MESSAGE,
        found.text,
        found.snippet,
        tuple(found.why),
        found.margin,
        found.at,
        found.role,
        found.host,
        found.session,
        found.project,
        before=found.before,
        after=found.after,
        speaker=found.speaker,
        metadata={_MEMBER: found.member, "team": team, "project": found.project},
    )
