"""Joining and leaving a team's project, and the rules of what is shared."""

from pathlib import Path

import pytest

from memfs.core.errors import NotFoundError, RejectedError, StoreError, UsageError
from memfs.core.records import Origin
from memfs.store import blocks, recall
from memfs.store.blocks import Place
from memfs.team import membership, verbs
from memfs.team.client import TeamError
from memfs.team.membership import NamedSession, SharedTurns, SharingRules
from memfs.team.protocol import hash_origin
from memfs.team.status import load_status
from tests.ops.clones import commit, git
from tests.ops.recorded_sessions import record
from tests.ops.team_steps import ME, outbox, send, share
from tests.team.small_server import SmallServer, serve
from tests.team.team_table import TeamTable

TALK = (("user", "which port?"), ("assistant", "7741."), ("user", "thanks"))


def rules(place: Place) -> SharingRules:
    found = membership.load_project(place.store("user"), place.home.local)
    assert found
    return found.rules


def test_a_project_is_known_by_any_way_to_write_its_repository(
    place: Place, server: SmallServer, table: TeamTable, repo: Path
) -> None:
    table.member["projects"].append({"id": 8, "name": "docs", "role": "reader", "origins": []})
    table.member["projects"][0]["origins"] = [hash_origin("https://example.com/acme/shop.git")]
    git(repo, "remote", "add", "fork", "git@example.com:ada/shop.git")
    with pytest.raises(NotFoundError, match="'acme' has no project with this repository"):
        verbs.join_project(place, server.address, "mft_1", ME)
    git(repo, "remote", "add", "origin", "ssh://git@example.com/acme/shop")
    assert verbs.join_project(place, server.address, "mft_1", ME).project.name == "shop"
    table.member["projects"][1]["origins"] = [hash_origin("git@example.com:ada/shop")]
    with pytest.raises(NotFoundError, match="'acme' has several projects with this repository"):
        verbs.join_project(place, server.address, "mft_1", ME)
    for path, body, headers in server.asked:  # no address goes out
        assert "example.com" not in f"{path}{body}{headers}"


def test_a_linked_worktree_is_the_same_project(joined: Place, table: TeamTable, repo: Path) -> None:
    record(joined.home, "s1", *TALK)
    commit(repo)
    git(repo, "worktree", "add", "-q", "../tree")
    linked = blocks.find_place(str(repo.parent / "tree"))
    assert share(linked, session="s1").report.stored == 3
    assert len(table.list_rows()) == 3
    assert not send(joined).stored


def test_joining_again_keeps_the_rules_and_another_project_is_refused(
    joined: Place, server: SmallServer, table: TeamTable
) -> None:
    record(joined.home, "s1", *TALK)
    share(joined, session="s1")
    before = rules(joined)
    verbs.join_project(joined, server.address, "mft_2", ME, project="shop")
    assert rules(joined) == before
    table.member["projects"].append({"id": 8, "name": "docs", "role": "reader", "origins": []})
    with pytest.raises(RejectedError, match="has already joined 'shop'"):
        verbs.join_project(joined, server.address, "mft_2", ME, project="docs")
    with (
        serve(table.answer) as other,
        pytest.raises(RejectedError, match="has already joined 'shop'"),
    ):
        verbs.join_project(joined, other.address, "mft_2", ME, project="shop")


def test_joining_mends_what_is_damaged(joined: Place, server: SmallServer) -> None:
    for folder in ("projects", "servers"):
        (path,) = Path(joined.store("user").local, "team", folder).glob("*.json")
        path.write_text("{")
    with pytest.raises(StoreError, match="is damaged"):
        verbs.push(joined)
    verbs.join_project(joined, server.address, "mft_1", ME, project="shop")
    assert rules(joined) == SharingRules()
    verbs.push(joined)


def test_a_token_that_does_not_count_joins_nothing(place: Place, server: SmallServer) -> None:
    server.handle = lambda *_: (401, {}, b'{"error": "the token is revoked"}')
    with pytest.raises(TeamError, match="the token is revoked"):
        verbs.join_project(place, server.address, "mft_1", ME)
    assert load_status(place) is None
    with pytest.raises(UsageError, match="no token was given"):
        verbs.join_project(place, server.address, "", ME)


def test_the_rules_of_sessions(joined: Place) -> None:
    for name in ("s1", "s2"):
        record(joined.home, name, *TALK)
    share(joined, session="s1", first=2, last=2)
    share(joined, session="s1", first=1, last=1)
    one, two = (SharedTurns("claude", "s1", n, n) for n in (1, 2))
    assert sorted(rules(joined).sessions, key=lambda each: each.first) == [one, two]
    share(joined, session="s1", tools=True)
    assert rules(joined).sessions == [SharedTurns("claude", "s1", tools=True)]
    verbs.unshare(joined, "s1", ME)
    assert (rules(joined).sessions, rules(joined).withheld) == ([], [])
    share(joined, base="all")
    verbs.unshare(joined, "s2", ME)
    assert rules(joined).withheld == [NamedSession("claude", "s2")]
    share(joined, session="s2")
    assert rules(joined).withheld == []
    with pytest.raises(NotFoundError):
        verbs.plan_sharing(joined, "s9")
    with pytest.raises(NotFoundError):
        verbs.unshare(joined, "s9", ME)


def test_a_plan_changes_nothing(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *TALK)
    before, asked = rules(joined), len(table.pushes)
    plan = verbs.plan_sharing(joined, base="all")
    assert (plan.messages, plan.sessions[0].prompt) == (3, "which port?")
    assert (rules(joined), len(table.pushes)) == (before, asked)
    assert before.shown_at == ""


def test_what_was_forgotten_can_be_taken_back_by_its_name(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *TALK)
    share(joined, session="s1")
    recall.forget(joined.home, "claude", "s1")
    assert verbs.unshare(joined, "s1", ME).report.removed == 3
    assert table.list_rows() == []


def test_what_cannot_be_deleted_stays_joined_and_shares_nothing(
    joined: Place, server: SmallServer, table: TeamTable
) -> None:
    record(joined.home, "s1", *TALK)
    share(joined, base="all")
    server.handle = lambda *_: (503, {}, b"{}")
    with pytest.raises(TeamError):
        verbs.leave_project(joined, ME, purge=True)
    assert rules(joined).base == "nothing"
    server.handle = table.answer
    assert verbs.push(joined).removed == 3
    verbs.leave_project(joined, ME, purge=True)
    assert load_status(joined) is None
    assert outbox(joined).list_sessions() == []


def test_an_agent_decides_nothing(joined: Place, server: SmallServer) -> None:
    agent = Origin("agent", "claude")
    record(joined.home, "s1", *TALK)
    plan = verbs.plan_sharing(joined, "s1")
    for attempt in (
        lambda: verbs.join_project(joined, server.address, "mft_1", agent),
        lambda: verbs.share(joined, plan, agent),
        lambda: verbs.unshare(joined, "", agent),
        lambda: verbs.set_pattern(joined, "x", agent, remove=False),
        lambda: verbs.leave_project(joined, agent, purge=False),
    ):
        with pytest.raises(RejectedError, match="only a person can"):
            attempt()
