"""The ledger of a team: what the functions of the database do, with values in place of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime  # messages are read back from JSON by their types
from typing import TYPE_CHECKING, cast
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from memfs.ipc.client import VERSION
from memfs.team.protocol import (
    Membership,
    PurgeReply,
    PushReply,
    RetractReply,
    RetractRequest,
    TeamProject,
)
from memfs.team.server.push_rows import UNDATED, PushRows

if TYPE_CHECKING:
    from memfs.team.server.database import TeamDatabase


@dataclass(frozen=True)
class StoredMessage:
    """A message of the ledger. `session` is its number there, `ident` the assistant's name for it.

    `member` is who shared it, and whose the session is; `speaker` is who said it.
    """

    id: UUID
    at: datetime
    project: int
    session: int
    ordinal: int
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
        if self.at == UNDATED:
            return ""
        return self.at.astimezone(UTC).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True)
class SearchedProject:
    """A project that is searched; `removals` counts the changes that took something away."""

    name: str
    removals: int


@dataclass(frozen=True)
class WordMatch:
    """A message that has some of the searched words; `score` is the sum of their weights."""

    id: UUID
    at: datetime
    score: float


@dataclass(frozen=True)
class WordMatches:
    """The matches, the best first; in how many messages each term is, and how many there are."""

    found: list[WordMatch]
    counts: list[int]
    total: int


class Ledger:
    """What one member, whose token it is, may do with the ledger.

    Each method raises `TokenError`, `NoAccessError` or `DatabaseAwayError`.
    """

    def __init__(self, database: TeamDatabase, token: str) -> None:
        self._database = database
        self._token = hashlib.sha256(token.encode("utf-8", "replace")).digest()

    def get_membership(self) -> Membership:
        """Return who the member is, and what it may see."""
        team, member, scopes, expires, projects = self._call("whoami")[0]
        return Membership(
            str(team),
            str(member),
            [str(scope) for scope in cast("list[object]", scopes)],
            cast("datetime", expires).astimezone(UTC).isoformat()[:19] + "Z",
            VERSION,
            msgspec.convert(projects, list[TeamProject]),
        )

    def check_scope(self, scope: str) -> None:
        """Raise an error unless the token has a scope."""
        self._call("check_scope", scope)

    def push(self, rows: PushRows) -> PushReply:
        """Store messages; what is there already stays."""
        stored, known, retracted = self._call(
            "push", rows.project, rows.stamp, rows.redactor, Jsonb(rows.sessions), Jsonb(rows.rows)
        )[0]
        return PushReply(_int(stored), _int(known), _int(retracted), rows.refused)

    def retract(self, request: RetractRequest) -> RetractReply:
        """Take messages of the member back."""
        named = request.ids or None
        rows = self._call(
            "retract", request.project, request.stamp, request.host, request.session, named
        )
        return RetractReply(_int(rows[0][0]))

    def purge(self, project: int) -> PurgeReply:
        """Remove everything of the member's from a project, or from all (0)."""
        sessions, messages = self._call("purge", project)[0]
        return PurgeReply(_int(sessions), _int(messages))

    def check_search(self, projects: Sequence[int]) -> dict[int, SearchedProject]:
        """Return the projects that the member is about to search, by their numbers."""
        rows = self._call("check_search", [*projects])
        return {_int(id_): SearchedProject(str(name), _int(count)) for id_, name, count in rows}

    def find_words(
        self,
        project: int,
        keys: Sequence[int],
        roles: Sequence[str],
        since: datetime | None,
        until: datetime | None,
        most: int,
    ) -> WordMatches:
        """Return the messages that have the most of some words, the rarest counting most."""
        rows = self._call("find_words", project, [*keys], [*roles], since, until, most)
        found = [
            WordMatch(cast("UUID", id_), cast("datetime", at), float(cast("float", score)))
            for id_, at, score, _, _ in rows
        ]
        counts = cast("list[int]", rows[0][3]) if rows else [0] * len(keys)
        return WordMatches(found, counts, _int(rows[0][4]) if rows else 0)

    def find_near(
        self,
        project: int,
        vector: str,
        roles: Sequence[str],
        since: datetime | None,
        until: datetime | None,
        most: int,
    ) -> list[tuple[UUID, datetime]]:
        """Return the messages with the nearest vectors; none without pgvector."""
        rows = self._call("find_near", project, vector, [*roles], since, until, most)
        return [(cast("UUID", id_), cast("datetime", at)) for id_, at, _ in rows]

    def read_messages(self, projects: Sequence[int], ids: Sequence[str]) -> list[StoredMessage]:
        """Return messages by their ids, as far as they are there."""
        return read_rows(self._call("read_messages", [*projects], [*ids]))

    def read_around(
        self, project: int, named: Sequence[tuple[UUID, datetime]], beside: int
    ) -> list[StoredMessage]:
        """Return messages with those right before and after them, session by session in order."""
        ids, ats = [each for each, _ in named], [at for _, at in named]
        return read_rows(self._call("read_around", project, ids, ats, beside))

    def _call(self, function: str, *values: object) -> list[tuple[object, ...]]:
        return self._database.call(function, self._token, *values)


def read_rows(rows: list[tuple[object, ...]]) -> list[StoredMessage]:
    """Return the messages of rows of the type `found_message`."""
    return [StoredMessage(*cast("tuple[UUID]", row)) for row in rows]  # type: ignore[call-arg]


def _int(value: object) -> int:
    return int(cast("int", value))
