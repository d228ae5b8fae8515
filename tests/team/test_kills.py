"""Client and server killed in the middle of batches: each message is there once, or gone."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memfs.files.child_process import CALL
from memfs.team import membership
from tests.service import running
from tests.team.developers import Developer
from tests.team.teams import ServerProcess, Team

pytestmark = [pytest.mark.thorough, pytest.mark.parametrize("postgres", ["vectors"], indirect=True)]

SESSIONS = {
    f"s{number:02}": [f"message {at} of session {number} about leases" for at in range(500)]
    for number in range(20)
}
SHARE, UNSHARE = "team share --project -y", "team unshare --project"
NAMES = list(SESSIONS)
FORGOTTEN, UNSHARED, OF_BOTH = "s03", "s05", ("s00", "s01")
BATCH, REQUEST = 0.08, 0.03  # seconds: somewhat more than a push, and than a retraction, takes
CLIENT, SERVER = "client", "server"
PUSH = ("team", "push")
_ID = 16  # bytes
_LONG = 60.0  # seconds
_MOST_REQUESTS = 2  # of an upload, of which the last is not answered


class KilledUploads:
    """Runs uploads and kills them. The counters have the kills by victim.

    `kills`: an upload had begun, and who was killed was alive. `unanswered`: besides, it had named
    messages to the server for which no answer came. `stored`: after it the server had messages for
    which the client knows of no answer. `errors` is what clients said.
    """

    def __init__(self, developer: Developer, server: ServerProcess, team: Team, seed: int) -> None:
        self.kills: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        self.stored: Counter[str] = Counter()
        self.errors: list[str] = []
        self._developer, self._server, self._team = developer, server, team
        self._draw = random.Random(seed)  # noqa: S311 - drawn again with the same seed
        self._local = str(developer.repo / ".agent-memory/local")
        key = membership.make_key(self._local)
        self._folder = Path(developer.home, ".agent-memory/local/team/sent", key)

    def kill(self, count: int, longest: float, *commands: str) -> None:
        """Let uploads begin, and kill `count` of them, each within `longest` seconds.

        The first is that of the first command; the next command comes when nothing is left to do.
        """
        begun = self.kills.total()
        waiting = [each.split() for each in commands]
        has_begun = False
        while self.kills.total() - begun < count:
            words = waiting.pop(0) if not has_begun and waiting else []
            has_begun = self._run(self._draw.choice((CLIENT, SERVER)), longest, words)
            assert has_begun or waiting, f"there is nothing left to do after {self.kills}"

    def list_unanswered(self) -> set[str]:
        """Return the ids that went to the server, as the client knows, and got no answer."""
        sent = self._load_flight()["sent"]
        return {each for *_, ids in sent for each in ids} - self._list_answered()

    def _list_answered(self) -> set[str]:
        found: set[str] = set()
        for path in self._folder.glob("sessions/*/*.ids"):
            data = path.read_bytes()
            found.update(data[at : at + _ID].hex() for at in range(0, len(data) - _ID + 1, _ID))
        return found

    def _run(self, victim: str, longest: float, words: list[str]) -> bool:
        """Kill who uploads, or the server; tell whether there was something to do."""
        answered, waiting = self._list_answered(), self.list_unanswered()
        process = self._begin(words)
        try:
            has_begun = self._wait_for_request(process, self._draw.randint(1, _MOST_REQUESTS))
            time.sleep(self._draw.uniform(0, longest))
            was_alive = process.poll() is None and self._server.is_alive
            if victim == SERVER:
                self._server.kill()
            else:
                process.kill()
            told = process.communicate(timeout=_LONG)
        finally:
            process.kill()
            process.communicate()
        self.errors += [each for each in told if each.strip()]
        if has_begun and was_alive:
            self.kills[victim] += 1
            self._count(victim, answered, waiting)
        if victim == SERVER:
            self._server.start()
        return has_begun

    def _wait_for_request(self, process: subprocess.Popen[str], count: int) -> bool:
        """Wait until a client is at its request `count`; tell whether it had one at all."""
        stamp = self._read_stamp()
        begun = 0
        while begun < count and process.poll() is None:
            time.sleep(0.001)
            now = self._read_stamp()
            begun, stamp = begun + (now != stamp), now
        return begun > 0

    def _count(self, victim: str, answered: set[str], waiting: set[str]) -> None:
        """Count what a kill left behind, given what was answered and what was not before it."""
        now = self.list_unanswered()
        was_answered = bool(self._list_answered() - answered)
        self.unanswered[victim] += bool(now - waiting if was_answered else now)
        statement = "SELECT count(*) FROM message WHERE client_id = ANY (%s::uuid[])"
        self.stored[victim] += self._team.read(statement, sorted(now))[0][0] > 0

    def _begin(self, words: list[str]) -> subprocess.Popen[str]:
        """Start a command, or what uploads: the worker of the service, or `memfs team push`."""
        is_worker = not words and self._draw.random() < 0.5
        started = ["-m", "memfs", *(words or PUSH)]
        if is_worker:
            started = ["-I", "-S", "-c", CALL, "memfs.team.upload", "10", *sys.path]
        process = subprocess.Popen(
            [sys.executable, *started],
            cwd=self._developer.repo,
            env=self._developer.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if is_worker:
            assert process.stdin
            process.stdin.write(json.dumps({"local": self._local}) + "\n")
            process.stdin.flush()
        return process

    def _read_stamp(self) -> int:
        return int(self._load_flight()["stamp"])

    def _load_flight(self) -> dict[str, Any]:
        path = self._folder / "flight.json"
        return dict(json.loads(path.read_text())) if path.exists() else {"stamp": 0, "sent": []}


def read_rows(team: Team) -> list[tuple[str, str]]:
    return sorted(
        team.read(
            "SELECT DISTINCT s.ident, m.text FROM message m JOIN session s ON s.id = m.session"
        )
    )


def list_messages(*left_out: str) -> list[tuple[str, str]]:
    found = [(name, text) for name, texts in SESSIONS.items() for text in texts]
    return sorted(each for each in found if each[0] not in left_out)


def read_sharers(team: Team) -> dict[str, set[int]]:
    """Return who shares messages of each session, by the numbers of the members."""
    rows = team.read(
        "SELECT s.ident, array_agg(DISTINCT m.member)"
        " FROM message m JOIN session s ON s.id = m.session GROUP BY s.ident"
    )
    return {name: {*members} for name, members in rows}


def run(developer: Developer, *words: str) -> str:
    done = developer.run(*words)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_killed_fifty_times_each_message_is_there_once(team: Team, tmp_path: Path) -> None:
    ana, ben = Developer(tmp_path, "ana"), Developer(tmp_path, "ben")
    tokens = [team.add(name, shop="writer").token for name in ("ana", "ben")]
    ana.ingest({name: texts[:250] for name, texts in SESSIONS.items()})
    ben.ingest({name: SESSIONS[name] for name in OF_BOTH})
    before = len(team.list_connections())
    with ServerProcess(team.state.service, tmp_path / "log") as server:
        for developer, token in zip((ana, ben), tokens, strict=True):
            assert developer.join(server.url, token).returncode == 0
        uploads = KilledUploads(ana, server, team, seed=11)
        uploads.kill(10, BATCH, SHARE)
        ana.ingest(SESSIONS)
        assert "sent 1,000" in run(ben, *SHARE.split())
        run(ana, "session", "forget", FORGOTTEN, "-y")
        uploads.kill(10, BATCH)
        uploads.kill(5, BATCH, f"team unshare {UNSHARED}")
        run(ana, *PUSH)
        assert read_rows(team) == list_messages(FORGOTTEN, UNSHARED)
        assert read_sharers(team) == {
            name: {1, 2} if name in OF_BOTH else {1}
            for name in NAMES
            if name not in (FORGOTTEN, UNSHARED)
        }
        team.check_books()

        uploads.kill(25, REQUEST, UNSHARE, SHARE)
        run(ana, *UNSHARE.split())
        assert read_rows(team) == list_messages(*(set(NAMES) - {*OF_BOTH}))
        assert read_sharers(team) == {name: {2} for name in OF_BOTH}
        team.check_books()
        titles = team.read("SELECT ident FROM session WHERE title <> '' ORDER BY 1")
        assert titles == [(name,) for name in OF_BOTH]

        run(ana, *SHARE.split())
        assert read_rows(team) == list_messages(FORGOTTEN)
        team.check_books()
        assert "nothing to send" in run(ana, *PUSH)
        assert uploads.list_unanswered() == set()
        assert server.stop() == 0
    check_kills(uploads)
    assert "Traceback" not in server.read_log()
    running.until(lambda: len(team.list_connections()) == before)
    assert [running.ours(each.home) for each in (ana, ben)] == [[], []]


def check_kills(uploads: KilledUploads) -> None:
    """Check that the kills did what they are for: most of them left messages without an answer."""
    assert uploads.kills.total() == 50
    assert uploads.unanswered.total() >= 25
    assert min(uploads.unanswered[CLIENT], uploads.unanswered[SERVER]) >= 5
    assert min(uploads.stored[CLIENT], uploads.stored[SERVER]) >= 3
    for said in uploads.errors:
        assert "Traceback" not in said
        assert "a bug in memfs" not in said
