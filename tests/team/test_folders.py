"""Index folders follow the ledger, and give nothing away that is not there any more."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.team.protocol import RetractRequest
from memfs.team.server import administration, folder_worker
from memfs.team.server.database import TeamDatabase
from memfs.team.server.folder_worker import FolderWorker
from tests.team.postgres import Postgres
from tests.team.teams import Team, make_push

pytestmark = pytest.mark.parametrize("postgres", ["vectors"], indirect=True)

TALK = [
    "The checkout fails with StaleLeaseError in lease_pool.py since the update",
    "The lease is renewed after it was given back. Renew it inside the lock.",
    "That was it, thanks",
]


@pytest.fixture
def team(postgres: Postgres, tmp_path: Path) -> Iterator[Team]:
    made = Team.make(postgres, folders=str(tmp_path / "folders"))
    yield made
    made.stop()


@pytest.fixture
def worker(team: Team, tmp_path: Path) -> Iterator[FolderWorker]:
    database = TeamDatabase(team.state.workers, connections=1)
    database.open()
    yield FolderWorker(database, str(tmp_path / "folders"))
    database.close()


def catch_up(worker: FolderWorker) -> None:
    worker.complete()
    while worker.follow():
        pass


def is_searched(team: Team, tmp_path: Path) -> bool:
    """Tell whether a search of project 1 opens its folder."""
    state = folder_worker.load_state(folder_worker.get_folder(str(tmp_path / "folders"), 1))
    gone = team.read("SELECT count(*) FROM change WHERE project = 1 AND gone")[0][0]
    return state is not None and state.removals == gone


def test_a_folder_finds_what_the_database_finds(
    team: Team, worker: FolderWorker, tmp_path: Path
) -> None:
    ana, ben = team.add("ana", shop="writer"), team.add("ben", shop="reader")
    ana.push(1, TALK)
    before = ben.search([1], "StaleLeaseError in the lease pool").body
    assert not is_searched(team, tmp_path)
    catch_up(worker)
    assert is_searched(team, tmp_path)
    after = ben.search([1], "StaleLeaseError in the lease pool").body
    assert [hit["id"] for hit in after["hits"]] == [hit["id"] for hit in before["hits"]]
    asked = {"projects": [1], "prompt": "I get StaleLeaseError in lease_pool.py at checkout"}
    answers = ben.ask("POST", "/v1/recall", asked).body["answers"]
    assert "Renew it inside the lock" in answers[0]["snippet"]


def test_batches_in_any_order_give_the_session_in_order(
    team: Team, worker: FolderWorker, tmp_path: Path
) -> None:
    ana, ben = team.add("ana", shop="writer"), team.add("ben", shop="reader")
    ana.push(1, TALK[1:], first=1)
    catch_up(worker)
    ana.push(1, TALK[:1])
    catch_up(worker)
    assert is_searched(team, tmp_path)
    hit = ben.search([1], "StaleLeaseError in the lease pool").body["hits"][0]
    assert hit["text"] == TALK[0]
    assert "Renew it inside" in hit["after"]


def test_what_was_taken_back_is_found_by_no_folder(
    team: Team, worker: FolderWorker, tmp_path: Path
) -> None:
    ana, ben = team.add("ana", shop="writer"), team.add("ben", shop="reader")
    ana.push(1, TALK)
    catch_up(worker)
    gone = make_push(1, TALK).messages[1].id
    ana.ask("POST", "/v1/retract", RetractRequest(1, 2000, "claude", "s1", [gone]))
    assert not is_searched(team, tmp_path)  # it is behind: the database is asked
    for _ in range(2):
        told = ben.search([1], "StaleLeaseError in the lease pool").body
        assert "Renew it inside" not in str(told)
        assert told["hits"]
        catch_up(worker)
    assert is_searched(team, tmp_path)
    files = (tmp_path / "folders").rglob("*.jsonl")
    assert all("Renew it inside" not in path.read_text() for path in files)


def test_a_folder_that_is_removed_is_made_again_and_that_of_a_removed_project_goes(
    team: Team, worker: FolderWorker, tmp_path: Path
) -> None:
    ana = team.add("ana", shop="writer", site="writer")
    ana.push(1, TALK)
    ana.push(2, TALK, session="s2")
    catch_up(worker)
    first, second = (
        folder_worker.get_folder(str(tmp_path / "folders"), number) for number in (1, 2)
    )
    shutil.rmtree(first)
    with administration.open_administration(team.address) as admin:
        assert administration.remove_project(admin, "site") == 3
    catch_up(worker)
    assert is_searched(team, tmp_path)
    assert not Path(second).exists()
    assert ana.find_texts([1], "StaleLeaseError in the lease pool")[0] == TALK[0]
