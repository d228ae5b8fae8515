"""Search what others shared of this project, beside the local search and within a time of its own.

The local answer never waits for longer than that. Secrets are taken out of a question before it
leaves.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from memfs.core.errors import MemfsError, StoreError
from memfs.core.privacy import storable
from memfs.core.records import Hit
from memfs.ipc.team_client import TeamClient
from memfs.ipc.team_protocol import MOST_HITS, TeamSearchRequest
from memfs.store import team_membership

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.ipc.team_protocol import TeamHit
    from memfs.search.engine import Filter
    from memfs.store.blocks import Place
    from memfs.store.team_membership import JoinedProject, TeamAccount

TIME = 2.0  # seconds that a team's server has, from the start of a search on
MEMBER = "member"  # in the metadata of a hit: who shared it
_MESSAGE = "message"


@dataclass(frozen=True)
class TeamFindings:
    """What a team's server found. `note` says why there is nothing of it, "" where it answered."""

    hits: list[Hit]
    note: str = ""


class TeamSearch:
    """A search that runs beside the local one: it starts when it is made.

    Raises `StoreError` where the project has joined no team.
    """

    def __init__(self, place: Place, query: str, only: Filter, limit: int) -> None:
        user, store = place.store("user"), place.store("project")
        project = team_membership.load_project(user, store.local)
        account = project and team_membership.load_account(user, project.address)
        if project is None or account is None:
            raise StoreError("this project has joined no team", "memfs team join URL")
        self._until = time.monotonic() + TIME
        self._found = TeamFindings([], "the team's server does not answer")
        arguments = (project, account, storable(query), only, limit)
        self._thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self._thread.start()

    def wait(self) -> TeamFindings:
        """Return what was found; at the latest when its time is over."""
        self._thread.join(max(0.0, self._until - time.monotonic()))
        return self._found

    def _run(
        self, project: JoinedProject, account: TeamAccount, query: str, only: Filter, limit: int
    ) -> None:
        try:
            self._found = TeamFindings(_ask(project, account, query, only, limit))
        except MemfsError as error:
            self._found = TeamFindings([], error.message)


def merge_hits(own: Sequence[Hit], others: Sequence[Hit], most: int) -> list[Hit]:
    """Return the hits of both by their ranks, each own one before that of others.

    The scores of two indexes mean nothing to each other.
    """
    pairs = zip_longest(own, others)
    return [hit for pair in pairs for hit in pair if hit is not None][:most]


def _ask(
    project: JoinedProject, account: TeamAccount, query: str, only: Filter, limit: int
) -> list[Hit]:
    if not query or (only.kinds and _MESSAGE not in only.kinds) or only.tags or only.any_tags:
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
        metadata={MEMBER: found.member, "team": team, "project": found.project},
    )
