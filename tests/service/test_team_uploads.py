"""The service sends what is shared, and is never delayed by a team's server."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.store.blocks import Place
from memfs.team import membership, verbs
from memfs.team.background import TeamUploads, UploadPace
from memfs.team.status import load_status
from memfs.team.upload import run_upload
from tests.hosts.transcript_lines import line
from tests.ops.recorded_sessions import record
from tests.service import running
from tests.service.running import until
from tests.team.small_server import SmallServer, talk
from tests.team.team_table import TeamTable

ME = Origin()
FAST = UploadPace(lull=0.05, check=30.0, least=0.05, most=0.2)
PORT = (("user", "which port?"), ("assistant", "Port 7741."))


@pytest.fixture
def joined(place: Place, server: SmallServer) -> Place:
    """A project of which all is shared."""
    verbs.join_project(place, server.address, "mft_1", ME, project="shop")
    verbs.share(place, verbs.plan_sharing(place, base="all"), ME)
    return place


@pytest.fixture
def uploads() -> Iterator[TeamUploads]:
    found = TeamUploads(FAST)
    yield found
    end(found)


def end(uploads: TeamUploads) -> None:
    uploads.stop()
    uploads._thread.join(running.LONG)
    assert not uploads._thread.is_alive()


def move_server(place: Place, address: str) -> None:
    """Have a joined project's server be elsewhere."""
    assert place.user
    (path,) = Path(place.user.local, "team/projects").glob("*.json")
    old = json.loads(path.read_text())["address"]
    path.write_text(path.read_text().replace(old, address))
    account = membership.load_account(place.user, old)
    assert account
    moved = membership.TeamAccount(address, account.token, account.team, account.member)
    membership.save_account(place.user, moved)


def test_what_waits_is_sent_at_the_start_and_what_comes_later(
    joined: Place, table: TeamTable, uploads: TeamUploads
) -> None:
    record(joined.home, "s1", *PORT)
    uploads.start()
    until(lambda: len(table.list_rows()) == 2)
    record(joined.home, "s2", *PORT)
    uploads.notify(joined.home.local)
    until(lambda: len(table.list_rows()) == 4)


def test_what_nobody_told_of_is_found_by_looking(
    joined: Place, table: TeamTable, uploads: TeamUploads
) -> None:
    uploads._pace = UploadPace(lull=0.01, check=0.1)
    uploads.start()
    record(joined.home, "s1", *PORT)
    until(lambda: len(table.list_rows()) == 2)


def test_a_server_that_was_away_is_asked_again_and_that_is_noted(
    joined: Place, table: TeamTable, uploads: TeamUploads
) -> None:
    table.faults = ["before", "after", "before"]
    record(joined.home, "s1", *PORT)
    uploads.start()
    until(lambda: len(table.list_rows()) == 2 and not table.faults)
    until(lambda: (found := load_status(joined)) and not found.waits and not found.contact.error)
    assert table.pushes == [2, 2]


def test_it_ends_at_once_while_a_server_hangs(
    joined: Place, home: Path, uploads: TeamUploads
) -> None:
    record(joined.home, "s1", *PORT)
    with talk(lambda _: time.sleep(2 * running.LONG)) as address:
        move_server(joined, address)
        uploads.start()
        until(lambda: uploads._process is not None)
        end(uploads)
    assert running.ours(home) == []


def test_one_that_never_began_can_be_ended() -> None:
    TeamUploads(FAST).stop()


def test_what_is_damaged_gone_or_not_joined_does_no_harm(
    joined: Place, table: TeamTable, uploads: TeamUploads
) -> None:
    assert joined.user
    uploads.start()
    uploads.notify("/nowhere/.agent-memory/local")
    record(joined.home, "s1", *PORT)
    path = Path(membership.get_patterns_path(joined.user))
    path.write_text("[")
    uploads.notify(joined.home.local)
    until(lambda: "is damaged" in uploads._errors.get(joined.home.local, ""))
    path.unlink()
    until(lambda: len(table.list_rows()) == 2)


def test_a_store_that_is_not_trusted_or_turned_off_sends_nothing(
    joined: Place, table: TeamTable
) -> None:
    assert joined.project
    record(joined.home, "s1", *PORT)
    config = Path(joined.project.root, "config.yaml")
    before = config.read_text()
    config.write_text("memfs: 1\nenabled: false\n")
    assert run_upload(joined.home.local) == {"error": ""}
    config.write_text(before)
    token = Path(joined.project.local, "token")
    kept = token.read_text()
    token.write_text("0" * 32)
    assert run_upload(joined.home.local) == {"error": ""}
    assert table.list_rows() == []
    token.write_text(kept)
    assert run_upload(joined.home.local) == {"error": ""}
    assert len(table.list_rows()) == 2


def test_pauses_grow_and_obey_the_server() -> None:
    pace = UploadPace(least=10.0, most=900.0)
    assert 5.0 <= pace.compute_pause(1, 0.0) <= 10.0
    assert 20.0 <= pace.compute_pause(3, 0.0) <= 40.0
    assert 450.0 <= pace.compute_pause(99, 0.0) <= 900.0
    assert pace.compute_pause(1, 3600.0) == 3600.0
    assert len({pace.compute_pause(1, 0.0) for _ in range(9)}) > 1


def test_a_service_sends_what_hooks_brought(
    joined: Place, table: TeamTable, repo: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    lines = [line(*said, f"u{n}", cwd=str(repo), sessionId="s7") for n, said in enumerate(PORT)]
    transcript.write_bytes(b"".join(lines))
    with running.inside() as server:
        server.service.team.uploads._pace = FAST
        said = {"session": "s7", "transcript_path": str(transcript)}
        running.hook(running.payload(repo, "SessionStart", **said))
        running.hook(running.payload(repo, "Stop", **said))
        until(lambda: table.list_texts("s7") == ["which port?", "Port 7741."])


def test_a_prompt_is_answered_while_a_server_hangs(joined: Place, repo: Path) -> None:
    record(joined.home, "s1", *PORT)
    with talk(lambda _: time.sleep(2 * running.LONG)) as address:
        move_server(joined, address)
        with running.inside() as server:
            prompt = running.payload(repo, "UserPromptSubmit", "hello")
            running.hook(prompt)  # the first one brings the brief
            server.service.team.uploads._pace = FAST
            server.service.team.uploads.notify(joined.home.local)
            until(lambda: server.service.team.uploads._process is not None)
            assert running.asked(prompt) is not None
