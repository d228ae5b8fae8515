"""A search of the own memory and of what others shared: one ranked list, page by page."""

import time
from typing import Any

import pytest
from msgspec.structs import replace

from memfs.core.hits import Hit
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store.blocks import Place
from memfs.team import membership, search
from tests.ops.recorded_sessions import record
from tests.ops.test_purge import SECRET
from tests.team.small_server import talk
from tests.team.team_table import TeamTable, make_hit

LEASES = [f"The lease {word} is stale in the pool" for word in ("alpha", "beta", "gamma", "delta")]
THEIRS = [make_hit(f"The lease of worker {number} is stale in the pool") for number in range(3)]
QUERY = "stale lease pool"


def find(place: Place, query: str = QUERY, **given: Any) -> tuple[list[Hit], str]:
    """Return the hits of a search, and the note on it."""
    index = OpenStore(place)
    wanted = {"mode": "text", "only": Filter(), "limit": 10, "page": 1, **given}
    return search.run(index, query, **wanted).hits, index.note


def say(place: Place, *texts: str) -> None:
    record(place.home, "s-1", *(("user", text) for text in texts))


def test_both_are_ranked_together_the_own_one_first(joined: Place, table: TeamTable) -> None:
    say(joined, *LEASES[:2])
    table.hits = THEIRS
    found, note = find(joined)
    assert [bool(hit.sharer) for hit in found] == [0, 1, 0, 1, 1]
    assert found[1].sharer == "shared by ana in shop"
    assert (found[1].text, found[1].at, note) == (THEIRS[0].text, "2026-05-03T10:00:00Z", "")


def test_pages_are_of_one_list(joined: Place, table: TeamTable) -> None:
    say(joined, *LEASES)
    table.hits = THEIRS
    whole, _ = find(joined)
    pages = [find(joined, limit=2, page=page)[0] for page in range(1, 6)]
    assert [len(page) for page in pages] == [2, 2, 2, 1, 0]
    assert [hit for page in pages for hit in page] == whole
    assert find(joined, limit=50, page=9999)[0] == []


def test_what_i_shared_is_not_found_twice(joined: Place, table: TeamTable) -> None:
    say(joined, LEASES[0])
    table.hits = [make_hit(LEASES[0], "ada")]
    assert [hit.session for hit in find(joined)[0]] == ["s-1"]


def test_own_hits_that_are_not_clear_yield(joined: Place, table: TeamTable) -> None:
    say(joined, "Chose Postgres for the queue: concurrent writers.")
    query = "which hiking boots keep dry in the snow of queue mountain"
    wanted = {"mode": None, "only": Filter(kinds=("message",))}
    assert len(find(joined, query, **wanted)[0]) == 1
    table.hits = [make_hit("These boots keep dry")]
    assert [hit.text for hit in find(joined, query, **wanted)[0]] == ["These boots keep dry"]
    assert len(find(joined, query, **wanted, nearest=True)[0]) == 2


def test_half_a_character_is_no_failure(joined: Place, table: TeamTable) -> None:
    table.hits = THEIRS
    found, note = find(joined, "stale lease \ud83d")
    assert (len(found), note) == (len(THEIRS), "")


def test_no_secret_is_sent(joined: Place, table: TeamTable) -> None:
    find(joined, f"where is {SECRET} used")
    assert SECRET not in str(table.searches)
    assert table.searches[0]["query"].startswith("where is [redacted")


def test_a_question_with_what_is_never_shared_stays_here(joined: Place, table: TeamTable) -> None:
    table.hits = THEIRS
    membership.save_patterns(joined.store("user"), ["stale*emca"])
    found, note = find(joined, "a stale lease at Emca")
    assert found == []
    assert note == "no hits from the team: the question matches a pattern of 'memfs team never'"
    assert table.searches == []


@pytest.mark.parametrize(
    "only",
    [{"kinds": ("passage",)}, {"tags": ("ops",)}, {"projects": ("/w",)}, {"branches": ("main",)}],
)
def test_what_a_server_knows_nothing_of_is_not_asked(
    joined: Place, table: TeamTable, only: dict[str, tuple[str, ...]]
) -> None:
    table.hits = THEIRS
    assert find(joined, only=Filter(**only)) == ([], "")  # type: ignore[arg-type]
    assert table.searches == []


def test_filters_hold_for_others_too(joined: Place, table: TeamTable) -> None:
    table.hits = [replace(THEIRS[0], host="codex"), replace(THEIRS[1], speaker="planner")]
    assert [hit.host for hit in find(joined, only=Filter(hosts=("codex",)))[0]] == ["codex"]
    assert [hit.who for hit in find(joined, only=Filter(speakers=("planner",)))[0]] == ["planner"]
    find(joined, only=Filter(roles=("user",), since=5, until=7))
    told = table.searches[-1]
    assert (told["roles"], told["since"], told["until"]) == (["user"], 5, 7)


def test_a_server_that_hangs_is_not_waited_for(
    joined: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "TIME", 0.3)  # seconds
    say(joined, LEASES[0])
    project = membership.load_project(joined.store("user"), joined.home.local)
    assert project
    with talk(lambda _: time.sleep(60)) as address:
        account = membership.TeamAccount(address, "mft_1", "acme", "ada")
        membership.save_account(joined.store("user"), account)
        membership.save_project(joined.store("user"), replace(project, address=address))
        found, note = find(joined)
    assert [hit.text for hit in found] == LEASES[:1]
    assert note.startswith("no hits from the team: ")
    assert "answer" in note
