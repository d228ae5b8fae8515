"""Developers and their team, from the first command on: real processes, a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.team.developers import Developer
from tests.team.teams import Team

PROBLEM = "The checkout fails with StaleLeaseError in lease_pool.py since the update"
ANSWER = "The lease is renewed after it was given back. Renew it inside the lock."


@pytest.mark.parametrize("postgres", ["vectors"], indirect=True)
def test_what_one_solved_and_shared_the_other_finds_and_a_third_never(
    team: Team, tmp_path: Path
) -> None:
    tokens = {
        "ana": team.add("ana", shop="writer").token,
        "ben": team.add("ben", shop="reader").token,
        "cleo": team.add("cleo", bank="writer").token,
    }
    ana, ben, cleo = (Developer(tmp_path, name) for name in tokens)
    ana.say(PROBLEM, ANSWER, "That was it, thanks")
    assert ana.join(team.url, tokens["ana"]).returncode == 0
    assert ben.join(team.url, tokens["ben"]).returncode == 0
    refused = cleo.join(team.url, tokens["cleo"])
    assert refused.returncode != 0
    assert team.count() == 0  # joining shares nothing

    assert "sent 3 messages" in ana.run("team", "share", "--project", "-y").stderr
    found = ben.run("search", "StaleLeaseError in the lease pool", "--team")
    assert "shared by ana in shop" in found.stdout
    assert ANSWER.partition(".")[0] in found.stdout
    assert ben.run("search", "StaleLeaseError").stdout == ""  # it is not in his own memory
    assert "StaleLeaseError" not in cleo.run("search", "StaleLeaseError", "--team").stdout

    ana.run("team", "unshare", "--project")
    assert team.count() == 0
    assert "shared by" not in ben.run("search", "StaleLeaseError", "--team").stdout


@pytest.mark.parametrize("postgres", ["vectors"], indirect=True)
def test_without_the_server_the_own_memory_is_searched_all_the_same(
    own_team: Team, tmp_path: Path
) -> None:
    ben = Developer(tmp_path, "ben")
    ben.say("Our invoices are rounded half to even", "Noted.")
    assert ben.join(own_team.url, own_team.add("ben", shop="reader").token).returncode == 0
    own_team.server.stop()
    own_team.thread.join(20)
    found = ben.run("search", "how are invoices rounded", "--team")
    assert "rounded half to even" in found.stdout
    assert "no hits from the team" in found.stderr


@pytest.mark.parametrize("postgres", ["vectors"], indirect=True)
def test_an_assistant_finds_what_others_shared(own_team: Team, tmp_path: Path) -> None:
    ana, ben = Developer(tmp_path, "ana"), Developer(tmp_path, "ben")
    ana.say(PROBLEM, ANSWER)
    assert ana.join(own_team.url, own_team.add("ana", shop="writer").token).returncode == 0
    assert ben.join(own_team.url, own_team.add("ben", shop="reader").token).returncode == 0
    assert ana.run("team", "share", "--project", "-y").returncode == 0

    def ask(**given: object) -> str:
        asked = {"query": "StaleLeaseError in the lease pool", **given}
        call = {"name": "conversation_search", "arguments": asked}
        done = ben.run("apply", stdin=json.dumps(call))
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["result"])

    assert ask() == "nothing found"
    found = ask(team=True)
    assert "2026-05-03T10:00Z user, shared by ana in shop (claude)" in found
    assert f"\n   {PROBLEM}\n" in found
    own_team.server.stop()
    own_team.thread.join(20)
    away = ask(team=True).splitlines()
    assert away[0].startswith("no hits from the team: http://127.0.0.1:")
    assert away[1] == "nothing found"
