"""Search what others shared of this project: beside a local search, and at prompts."""

from __future__ import annotations

import threading
import time
from itertools import zip_longest
from queue import Empty, Queue
from typing import TYPE_CHECKING, Self

from memfs.core.errors import MemfsError, StoreError
from memfs.core.hits import MEMBER, Hit
from memfs.ops import search
from memfs.search.prompt_relevance import PromptHit, trim_prompt
from memfs.search.request import Filter, HitPage, Mode
from memfs.store import store_paths
from memfs.store.blocks import Place
from memfs.team import membership, protocol
from memfs.team.client import TeamClient
from memfs.team.membership import JoinedProject, TeamAccount
from memfs.team.sharing import make_question

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

TIME = 2.0  # seconds that a team's server has, from the start of a search or a question on
_LONGEST = 64_000  # characters of a prompt: what is longer is a pasted file, and not sent
_NAME = 60  # characters of a person's or a project's name
_MOST_SHOWN = 500  # ids


def run(
    index: OpenStore,
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
    answers: Queue[tuple[list[Hit], str]] = Queue()
    until = time.monotonic() + TIME
    asked = (index.place, query, only, most, answers)
    threading.Thread(target=_search_team, args=asked, daemon=True).start()
    own = search.run(index, query, mode=mode, only=only, limit=most, page=1)
    try:
        others, note = answers.get(timeout=max(0.0, until - time.monotonic()))
    except Empty:
        others, note = [], "the team server did not answer in time"
    if note:
        index.note = "; ".join(filter(None, (index.note, f"no hits from the team: {note}")))
    if others and not own.sure and not nearest:
        own = HitPage([], 0)
    # By their ranks, each own one first: the scores of two indexes mean nothing to each other.
    merged = [hit for pair in zip_longest(own.hits, others) for hit in pair if hit is not None]
    hits = merged[limit * (page - 1) : most]
    return HitPage(hits, own.total + len(others), own.sure)


def _search_team(
    place: Place, query: str, only: Filter, limit: int, answers: Queue[tuple[list[Hit], str]]
) -> None:
    """Put what others shared into `answers`, and why there is none."""
    try:
        user = place.store("user")
        access = membership.load_access(user, place.store("project").local)
        if access is None:
            raise StoreError("this project has not joined a team", "run memfs team join URL")
        question = make_question(user, query)
        if question is None:
            answers.put(([], "the question matches a pattern of 'memfs team never'"))
        else:
            answers.put((_ask(*access, question, only, limit), ""))
    except MemfsError as error:
        answers.put(([], error.message))


def _ask(
    project: JoinedProject, account: TeamAccount, query: str, only: Filter, limit: int
) -> list[Hit]:
    unknown = only.tags or only.any_tags or only.projects or only.branches  # to a server
    if not query.strip() or (only.kinds and "message" not in only.kinds) or unknown:
        return []
    request = protocol.TeamSearchRequest(
        [project.id], query, min(limit, protocol.MOST_HITS), [*only.roles], only.since, only.until
    )
    with TeamClient(account.address, account.token, account.ca, TIME) as client:
        found = client.ask(protocol.SearchReply, request).hits
    return [
        _make_hit(each, account.team)
        for each in found
        if each.member != account.member and _passes(each, only)
    ]


def _passes(found: protocol.TeamHit, only: Filter) -> bool:
    """Tell whether a hit passes what the server does not know of a filter."""
    return (
        (not only.hosts or found.host in only.hosts)
        and (not only.sessions or found.session in only.sessions)
        and (not only.speakers or bool({found.speaker, found.role} & {*only.speakers}))
    )


def _make_hit(found: protocol.TeamHit, team: str) -> Hit:
    return Hit(
        found.id,
        "message",
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


class TeamRecall:
    """Asks the server of a joined project, over a connection that stays open. One thread uses it.

    `local` is the local folder of the project's store.
    """

    def __init__(self, local: str) -> None:
        self._local = local
        self._client: TeamClient | None = None
        self._access: tuple[str, str, str] | None = None  # what the connection was made with

    def warm(self) -> float:
        """Open the connection; return the seconds that the server took. Raises `MemfsError`."""
        client, _ = self._connect()
        began = time.monotonic()
        if client is not None:
            client.ask(protocol.Membership)
        return time.monotonic() - began

    def ask(self, prompt: str, session: str, shown: list[str]) -> list[PromptHit]:
        """Return what others' sessions say to a prompt; mostly nothing. Raises `MemfsError`.

        What is in `shown`, and what the running session said, is not given again.
        """
        client, project = self._connect()
        user = store_paths.user_store()
        if client is None or user is None or len(prompt) > _LONGEST:
            return []
        question = make_question(user, prompt)
        if not question:
            return []
        request = protocol.RecallRequest(
            [project], trim_prompt(question), session, shown[-_MOST_SHOWN:]
        )
        found = []
        for answer in client.ask(protocol.RecallReply, request).answers:
            if answer.ids:
                role = f"{answer.member[:_NAME]} in {answer.project[:_NAME]}"
                found.append(PromptHit("team", role, answer.at, answer.ids, answer.reason))
                found[-1].snippet = answer.snippet
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _connect(self) -> tuple[TeamClient | None, int]:
        """Return the connection and the project's number; None if the project was left."""
        user = store_paths.user_store()
        found = membership.load_access(user, self._local) if user else None
        if found is None:
            return None, 0
        project, account = found
        access = account.address, account.token, account.ca
        if access != self._access:
            self._close()
            self._client, self._access = TeamClient(*access, TIME), access
        return self._client, project.id
