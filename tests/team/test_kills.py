"""Client and server killed in the middle of batches: each message is there once, or gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service import running
from tests.team.developers import Developer
from tests.team.killed_uploads import CLIENT, PUSH, SERVER, KilledUploads
from tests.team.server_process import ServerProcess
from tests.team.teams import Team

pytestmark = [pytest.mark.thorough, pytest.mark.parametrize("postgres", ["vectors"], indirect=True)]

SESSIONS = {
    f"s{number:02}": [f"message {at} of session {number} about leases" for at in range(500)]
    for number in range(20)
}
SHARE, UNSHARE = "team share --project -y", "team unshare --project"
NAMES = list(SESSIONS)
FORGOTTEN, UNSHARED, OF_BOTH = "s03", "s05", ("s00", "s01")
BATCH, REQUEST = 0.08, 0.03  # seconds: somewhat more than a push, and than a retraction, takes


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
        assert "there was nothing to send" in run(ana, *PUSH)
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
