"""`memfs team`: a member joins, sees what is to go, shares it, and takes it back."""

import json
import os
from pathlib import Path

import pytest

from memfs.store import session_outcomes
from memfs.store.blocks import Place
from memfs.store.session_outcomes import SessionOutcome
from memfs.team import membership
from memfs.team.protocol import hash_origin
from tests.cli.conftest import Run
from tests.ops.recorded_sessions import record
from tests.team.small_server import SmallServer
from tests.team.team_table import TeamTable, make_hit

TOKEN = "mft_0123456789abcdef"  # noqa: S105 - of no server
SESSION = "0a1b2c3d-1111-4222-8333-444455556666"
PORT = (("user", "which port?"), ("assistant", "Port 7741."), ("tool", "grep: 7741"))
DATE = (("user", "which day?"), ("assistant", "Monday."))


@pytest.fixture
def joined(place: Place, memfs: Run, server: SmallServer) -> Place:
    shown = memfs("team", "join", server.address, "--project", "shop", "--token-stdin", stdin=TOKEN)
    assert shown.code == 0, shown.err
    record(place.home, SESSION, *PORT, *DATE)
    record(place.home, "ffff", *DATE, host="codex")
    return place


def test_joining_tells_who_one_is_and_shares_nothing(
    place: Place, memfs: Run, server: SmallServer, table: TeamTable
) -> None:
    record(place.home, SESSION, *PORT)
    assert memfs("team", "status").err == (
        "this project has not joined a team: run memfs team join URL\n"
    )
    shown = memfs("team", "join", server.address, "--project", "shop", "--token-stdin", stdin=TOKEN)
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == (
        "✓ joined the project 'shop' of the team 'acme' as 'ada'\n"
        "  no session is shared yet; to preview, run memfs team share --dry-run --project\n"
        "  memfs now sends your prompts to the server, which does not store them; "
        "to turn off sending, set hooks.team to off\n"
    )
    assert memfs("team", "push").err == "✓ nothing to send or take back\n"
    assert table.rows == {}
    told = memfs("team", "status").out
    assert told.splitlines() == [
        f"project  shop at {server.address}, as writer",
        "member   ada of acme, until 2027-01-01",
        "shared   nothing",
        "waiting  nothing",
        "prompts  sent to the server as queries",
        "server   not contacted yet",
    ]
    assert place.user
    for path in Path(place.user.local, "team").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
    assert TOKEN not in memfs("team", "status", "--json").out


def test_the_token_comes_from_a_variable_or_is_known(
    place: Place, memfs: Run, server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = memfs("team", "join", server.address, "--project", "shop")
    assert (shown.code, shown.err.splitlines()[0]) == (2, "error: no token was given")
    assert memfs("team", "join", server.address, "--token-stdin").code == 2
    monkeypatch.setenv("MEMFS_TEAM_TOKEN", TOKEN)
    assert memfs("team", "join", server.address, "--project", "shop").code == 0
    monkeypatch.delenv("MEMFS_TEAM_TOKEN")
    assert memfs("team", "join", server.address, "--project", "shop").code == 0
    assert server.asked[-1][2]["authorization"] == f"Bearer {TOKEN}"
    assert memfs("team", "join", "http://memory.example.com", "--project", "shop").code == 2


def test_the_project_is_found_by_its_repository(
    place: Place, memfs: Run, server: SmallServer, table: TeamTable, repo: Path
) -> None:
    join = ("team", "join", server.address, "--token-stdin")
    shown = memfs(*join, stdin=TOKEN)
    assert shown.err == (
        "error: the team 'acme' has no project with this repository\n"
        "hint: add --project with one of these names: 'shop'\n"
    )
    table.member["projects"][0]["origins"] = [hash_origin("https://example.com/acme/shop")]
    with (repo / ".git/config").open("a") as handle:
        handle.write('[remote "origin"]\n\turl = git@example.com:acme/shop.git\n')
    assert memfs(*join, stdin=TOKEN).code == 0
    assert memfs(*join, "--project", "shpo", stdin=TOKEN).code == 1


def test_a_configuration_names_a_team_and_no_address(
    place: Place, memfs: Run, server: SmallServer
) -> None:
    assert place.project
    path = Path(place.project.root, "config.yaml")
    path.write_text("memfs: 1\nteam:\n  id: shops\n  address: https://evil.example\n")
    assert "team.address" in memfs("doctor").out
    assert memfs("team", "status").err.endswith(
        "the project's configuration names the team 'shops'\n"
    )
    shown = memfs("team", "join", server.address, "--project", "shop", "--token-stdin", stdin=TOKEN)
    assert "! the project's configuration names another team, 'shops'" in shown.err


def test_what_is_to_go_is_shown_and_asked_for(joined: Place, memfs: Run, table: TeamTable) -> None:
    shown = memfs("team", "share", "0a1b", "--dry-run")
    assert shown.code == 0
    assert shown.out.splitlines()[0].split() == [
        "ID", "DATE", "HOST", "MESSAGES", "SIZE", "FIRST", "PROMPT",
    ]  # fmt: skip
    assert shown.out.splitlines()[1].split()[:4] == ["0a1b2c3d", "2026-05-01", "claude", "4"]
    assert shown.out.rstrip().endswith("which port?")
    assert shown.err.startswith("left out: 1 message from tools; add --tools to share them\n")
    assert "4 messages from 1 session, " in shown.err
    refused = memfs("team", "share", "0a1b")
    assert (refused.code, refused.err.splitlines()[-2]) == (
        2,
        "error: sharing needs your confirmation",
    )
    assert table.rows == {}
    shared = memfs("team", "share", "0a1b", "--yes")
    assert shared.err.endswith("✓ sent 4 messages\n")
    assert len(table.list_rows()) == 4
    assert memfs("team", "unshare", "0a1b").err == "✓ took back 4 messages\n"
    assert table.list_rows() == []


def test_turns_the_project_and_what_was_solved(joined: Place, memfs: Run, table: TeamTable) -> None:
    assert memfs("team", "share", "0a1b", "--from", "2", "--to", "2", "-y").code == 0
    assert table.list_texts() == ["which day?", "Monday."]
    assert memfs("team", "share", "0a1b", "--from", "3", "-y").code == 2
    assert memfs("team", "share", "0a1b", "--from", "2", "--to", "1", "-y").code == 2
    assert memfs("team", "share", "--from", "2", "--project", "-y").code == 2
    assert memfs("team", "share", "--solved", "--project", "-y").code == 2
    assert memfs("team", "share", "-y").code == 2
    assert memfs("team", "unshare", "--project").code == 0
    session_outcomes.write_outcome(joined.home, SessionOutcome("ffff", True))
    assert "later sessions" not in memfs("team", "share", "--solved", "-y").err
    assert table.list_texts() == ["which day?", "Monday."]
    assert "later sessions" in memfs("team", "share", "--project", "--tools", "-y").err
    assert len(table.list_rows()) == 7
    assert "shared   all sessions with tool calls\n" in memfs("team", "status").out


def test_patterns_are_listed_added_and_removed(joined: Place, memfs: Run, table: TeamTable) -> None:
    empty = "no patterns yet; to add a pattern, run memfs team never PATTERN\n"
    assert memfs("team", "never").err == empty
    assert memfs("team", "share", "--project", "-y").code == 0
    shown = memfs("team", "never", "PORT*7741")
    assert shown.err == (
        "✓ messages that match 'PORT*7741' are never shared\n✓ took back 1 message\n"
    )
    assert "Port 7741." not in table.list_texts()
    assert memfs("team", "never").out == "PORT*7741\n"
    left_out = "left out: 1 message matching a pattern of 'memfs team never'"
    assert left_out in memfs("team", "share", "0a1b", "--dry-run").err
    assert memfs("team", "never", "* *").code == 2
    assert memfs("team", "never", "port", "--remove").code == 1
    assert memfs("team", "never", "--remove").code == 2
    assert memfs("team", "never", "PORT*7741", "--remove").code == 0
    assert "Port 7741." in table.list_texts()


def test_while_the_server_is_away_it_waits_and_that_is_said(
    joined: Place, memfs: Run, table: TeamTable
) -> None:
    table.faults = ["before"] * 9
    shown = memfs("team", "share", "0a1b", "-y")
    assert shown.code == 0
    assert "! the database is away" in shown.err
    pushed = memfs("team", "push")
    assert (pushed.code, pushed.err) == (1, "error: the database is away\nhint: try again later\n")
    told = memfs("status").out
    assert "shop, 1 session shared; the last change" in " ".join(told.split())
    assert memfs("doctor").out.count("the database is away") == 1
    table.faults = []
    assert memfs("team", "push").err == "✓ sent 4 messages\n"
    record(joined.home, SESSION, *DATE)
    assert "1 session to send or take back" in memfs("status").out
    assert json.loads(memfs("team", "status", "--json").out)["sessions_waiting"] == 1
    assert json.loads(memfs("team", "push", "--json").out)["stored"] == 2
    assert "to send or" not in memfs("status").out


def test_status_and_doctor_are_silent_where_nothing_was_joined(place: Place, memfs: Run) -> None:
    assert not [line for line in memfs("status").out.splitlines() if line.startswith("team")]
    assert "team:" not in memfs("doctor").out


def test_leaving_leaves_or_deletes_what_was_shared(
    joined: Place, memfs: Run, table: TeamTable, server: SmallServer
) -> None:
    assert joined.user
    assert memfs("team", "share", "--project", "-y").code == 0
    assert memfs("team", "leave").err == "✓ this project has left the team\n"
    assert len(table.list_rows()) == 6
    assert membership.load_account(joined.user, server.address) is None
    assert memfs("team", "push").code == 1
    join = ("team", "join", server.address, "--project", "shop", "--token-stdin")
    assert memfs(*join, stdin=TOKEN).code == 0
    assert "(6 already on the server)" in memfs("team", "share", "--project", "-y").err
    shown = memfs("team", "leave", "--purge")
    assert "deleted 6 messages in 2 sessions from the server" in shown.err
    assert table.list_rows() == []


def test_an_assistant_decides_nothing(
    joined: Place, memfs: Run, table: TeamTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s9")
    monkeypatch.setenv("MEMFS_TEAM_TOKEN", TOKEN)
    for words in (
        ("join", "https://memory.example.com"),
        ("share", "0a1b", "--yes"),
        ("share", "--project", "--yes"),
        ("unshare", "--project"),
        ("never", "port", "--remove"),
        ("leave", "--purge"),
    ):
        shown = memfs("team", *words)
        assert (shown.code, shown.err[:24]) == (1, "error: only a person can")
    assert memfs("team", "status").code == 0
    assert memfs("team", "share", "0a1b", "--dry-run").code == 0
    assert table.rows == {}


def test_a_search_for_secrets_leaves_the_token_and_the_ids_alone(
    joined: Place, memfs: Run, table: TeamTable
) -> None:
    assert joined.user
    (path,) = Path(joined.user.local, "team/servers").glob("*.json")
    path.write_text(path.read_text().replace(TOKEN, "mft_" + os.urandom(32).hex()))
    assert memfs("team", "share", "--project", "-y").code == 0
    before = {each: each.read_bytes() for each in path.parents[1].rglob("*.*")}
    assert memfs("doctor", "--secrets").code == 0
    assert memfs("doctor", "--secrets", "--purge", "-y").code == 0
    assert {each: each.read_bytes() for each in path.parents[1].rglob("*.*")} == before
    assert len(before) > 4


def test_a_reader_shares_nothing(joined: Place, memfs: Run, table: TeamTable) -> None:
    table.member["projects"][0]["role"] = "reader"
    address = json.loads(memfs("team", "status", "--json").out)["address"]
    assert "but not share sessions" in memfs("team", "join", address, "--project", "shop").err
    assert (
        "you can search the project 'shop', but not share"
        in memfs("team", "share", "0a1b", "-y").err
    )
    assert table.rows == {}


def test_a_search_shows_what_others_shared_page_by_page(
    joined: Place, memfs: Run, table: TeamTable
) -> None:
    table.hits = [make_hit("The port is 7741 since May.", before="user: the port?")]
    ask = ("search", "port", "7741", "--in", "recall", "--role", "user", "--team")
    shown = memfs(*ask, "-n", "1", "--page", "2")
    assert shown.err == ""
    assert shown.out == (
        "  2  claude user  2026-05-03  shared by ana in shop\n"
        "     … user: the port?\n"
        "     The port is 7741 since May.\n"
        "     words\n"
    )
    assert memfs(*ask, "--open", "2").out == "The port is 7741 since May.\n"
    assert json.loads(memfs(*ask, "--json").out)["total"] == 2
    refused = memfs("search", "port", "--team", "--sessions")
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "error: --team finds hits, not whole sessions",
    )
    table.faults = ["before"]
    away = memfs(*ask)
    assert away.err.startswith("! no hits from the team: the database is away\n")
    assert "which port?" in away.out


def test_a_search_without_a_team_says_so(place: Place, memfs: Run) -> None:
    record(place.home, SESSION, *PORT)
    shown = memfs("search", "port", "--team")
    assert shown.code == 0
    assert shown.err.startswith("! no hits from the team: this project has not joined a team\n")
    assert "Port 7741." in shown.out
