"""What others' sessions say to a prompt: a question to the team's server.

A prompt leaves without its private parts and secrets, and not at all if it has one of the user's
patterns of what is never shared.
"""

from __future__ import annotations

import time

from memfs.ipc.team_client import TeamClient
from memfs.ipc.team_protocol import RecallRequest, TeamAnswer
from memfs.ops.team_share import make_question
from memfs.recall.answers import TeamRecollection
from memfs.search.prompt_bm25 import trim_prompt
from memfs.store import store_paths, team_membership

TIMEOUT = 2.0  # seconds for a question
_LONGEST = 64_000  # characters of a prompt: what is longer is a pasted file, and not sent
_NAME = 60  # characters of a person's or a project's name
_MOST_SHOWN = 500  # ids


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
            client.get_membership()
        return time.monotonic() - began

    def ask(self, prompt: str, session: str, shown: list[str]) -> list[TeamRecollection]:
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
        request = RecallRequest([project], trim_prompt(question), session, shown[-_MOST_SHOWN:])
        return [_make_recollection(each) for each in client.recall(request).answers if each.ids]

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()

    def _connect(self) -> tuple[TeamClient | None, int]:
        """Return the connection and the project's number; None if the project was left."""
        user = store_paths.user_store()
        found = team_membership.load_access(user, self._local) if user else None
        if found is None:
            return None, 0
        project, account = found
        access = account.address, account.token, account.ca
        if access != self._access:
            self.close()
            self._client, self._access = TeamClient(*access, TIMEOUT), access
        return self._client, project.id


def _make_recollection(answer: TeamAnswer) -> TeamRecollection:
    role = f"{answer.member[:_NAME]} in {answer.project[:_NAME]}"
    return TeamRecollection(role, answer.at, answer.ids, answer.snippet, answer.reason)
