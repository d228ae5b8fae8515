"""Membership and rules: kept privately, read robustly, never lost."""

import os
from pathlib import Path

import pytest

from memfs.core.errors import StoreError
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.team import membership
from memfs.team.membership import (
    JoinedProject,
    NamedSession,
    SharedTurns,
    SharingRules,
    TeamAccount,
)

URL = "https://memory.example.com"
RULES = SharingRules(
    "all", True, [SharedTurns("claude", "s1", 2, 4, True)], [NamedSession("codex", "s\udcff")], "x"
)
PROJECT = JoinedProject("/w/\udcfe/.agent-memory/local", URL, 7, "shop", "writer", RULES)
ACCOUNT = TeamAccount(URL, "mft_1", "acme", "ada", "/etc/ca.pem", "2027-01-01T00:00:00Z")


@pytest.fixture
def user(place: Place) -> Store:
    assert place.user
    return place.user


def test_what_is_saved_is_read_and_for_its_owner_alone(user: Store) -> None:
    os.umask(0)
    membership.save_project(user, PROJECT)
    membership.save_account(user, ACCOUNT)
    membership.save_patterns(user, ["EMCA"])
    os.umask(0o022)
    assert membership.load_project(user, PROJECT.local) == PROJECT
    assert membership.load_account(user, URL) == ACCOUNT
    assert membership.load_patterns(user) == ["EMCA"]
    assert membership.list_joined_projects(user) == ([PROJECT], [])
    for path in Path(user.local, "team").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
    assert "mft_1" not in repr(ACCOUNT)


def test_where_there_is_nothing_nothing_is_read(user: Store) -> None:
    assert membership.load_project(user, PROJECT.local) is None
    assert membership.load_account(user, URL) is None
    assert membership.load_patterns(user) == []
    assert membership.list_joined_projects(user) == ([], [])


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "null", "\0", "[" * 99999, '{"local": 1}', '{"local": "x"}']
)
def test_a_damaged_file_is_an_error_and_is_put_aside_by_the_next_one(
    user: Store, damage: str
) -> None:
    path = Path(membership.get_project_path(user, PROJECT.key))
    path.parent.mkdir(parents=True)
    path.write_text(damage)
    with pytest.raises(StoreError, match="is damaged"):
        membership.load_project(user, PROJECT.local)
    found, (problem,) = membership.list_joined_projects(user)
    assert (found, "is damaged" in problem) == ([], True)
    membership.save_project(user, PROJECT)
    assert membership.load_project(user, PROJECT.local) == PROJECT
    assert Path(f"{path}.damaged").read_text() == damage
    assert membership.list_joined_projects(user) == ([PROJECT], [])


def test_a_link_is_not_followed(user: Store, tmp_path: Path) -> None:
    path = Path(membership.get_patterns_path(user))
    path.parent.mkdir(parents=True)
    (tmp_path / "other").write_text("[]")
    path.symlink_to(tmp_path / "other")
    assert membership.load_patterns(user) == []


def test_the_access_goes_with_the_last_project_that_needs_it(user: Store) -> None:
    other = JoinedProject("/other/.agent-memory/local", URL, 8, "docs", "reader")
    for project in (PROJECT, other):
        membership.save_project(user, project)
    membership.save_account(user, ACCOUNT)
    membership.remove_project(user, PROJECT)
    assert membership.load_account(user, URL) == ACCOUNT
    membership.remove_project(user, other)
    assert membership.load_account(user, URL) is None
