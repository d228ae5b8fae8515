import shutil
import time
from pathlib import Path

import pytest

from memfs.core.errors import StoreError
from memfs.ops import init
from memfs.store import local_folder, store_paths, trust
from memfs.store.blocks import Place
from tests.store.conftest import commit_all, git


def make(folder: Path) -> Path:
    root = folder / store_paths.NAME
    root.mkdir(parents=True)
    (root / store_paths.CONFIG).write_text("memfs: 1\n")
    return root


def test_the_nearest_store_serves(repo: Path) -> None:
    outer = make(repo)
    inner = make(repo / "a")
    (repo / "a/b/c").mkdir(parents=True)
    (repo / "x/y").mkdir(parents=True)
    for start, expected in ((repo / "a/b/c", inner), (repo / "x/y", outer), (repo, outer)):
        found = store_paths.find(str(start))
        assert found
        assert found.root == str(expected)


def test_the_git_top_level_is_the_border(repo: Path) -> None:
    make(repo.parent)
    assert store_paths.find(str(repo)) is None


def test_the_home_folder_is_the_border_and_its_store_is_the_users(home: Path) -> None:
    make(home)
    (home / "project").mkdir()
    assert store_paths.find(str(home / "project")) is None
    user = store_paths.user_store()
    assert user
    assert user.root == str(home / store_paths.NAME)


def test_a_folder_of_others_is_no_store(repo: Path) -> None:
    config = make(repo) / store_paths.CONFIG
    for text in ("", "theirs: true\n# memfs: 1\n"):
        config.write_text(text)
        assert store_paths.find(str(repo)) is None
        with pytest.raises(StoreError, match="there is no memfs store"):
            store_paths.require(str(repo))
    config.write_text("theirs: true\nmemfs: 1\n")
    assert store_paths.find(str(repo))


def test_a_store_that_lost_its_config_is_not_taken_for_none(
    place: Place, repo: Path, home: Path
) -> None:
    assert place.project
    config = Path(place.project.root, store_paths.CONFIG)
    for damage in (config.unlink, lambda: config.write_bytes(b"\xff\xfe\x00garbage")):
        damage()
        trust.grant_trust(place.project)
        assert store_paths.find(str(repo))  # this user's all the same, by its token
        trust.revoke_trust(place.project)
        with pytest.raises(StoreError, match="missing or damaged"):
            store_paths.find(str(repo))
    with pytest.raises(StoreError, match="was not created by memfs"):
        init.run(str(repo), str(home))
    config.unlink()
    init.run(str(repo), str(home))
    assert store_paths.find(str(repo))


def test_a_home_that_is_not_the_accounts_own_is_not_worked_in(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project can set HOME to its own folder."""
    make(tmp_path / "fake")
    monkeypatch.setenv("HOME", str(tmp_path / "fake"))
    for folder in (tmp_path / "fake/project", tmp_path / "fake"):
        folder.mkdir(exist_ok=True)
        with pytest.raises(StoreError, match="your own store"):
            store_paths.find(str(folder))
    assert store_paths.find(str(home)) is None


def test_a_linked_home_is_one_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(home)
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    assert store_paths.find(str(home)) is None
    user = store_paths.user_store()
    assert user
    assert user.root == str(home / store_paths.NAME)


def test_the_local_folder_is_private_and_ignored(repo: Path) -> None:
    make(repo)
    store = store_paths.require(str(repo))
    local_folder.make(store)
    assert Path(store.local).stat().st_mode & 0o777 == 0o700
    assert Path(store.local, ".gitignore").read_text() == "*\n"
    shutil.rmtree(store.local)
    Path(store.local).symlink_to(repo)
    with pytest.raises(StoreError, match="is a link"):
        local_folder.make(store)


def test_linked_worktrees_share_the_local_folder(repo: Path, tmp_path: Path) -> None:
    make(repo)
    commit_all(repo)
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    found = store_paths.find(str(tmp_path / "linked"))
    assert found
    assert found.root == str(tmp_path / "linked" / store_paths.NAME)
    assert found.local == str(repo / store_paths.NAME / "local")
    assert found.tree == "linked"


@pytest.mark.parametrize(
    ("bare", "below"), [("all/.bare", ""), ("all.git", ""), ("all.git", "sub"), ("a/HEAD", "")]
)
def test_the_worktrees_of_a_bare_repository_share_a_local_folder_in_it(
    repo: Path, tmp_path: Path, bare: str, below: str
) -> None:
    make(repo / below)
    commit_all(repo)
    git(tmp_path, "clone", "-q", "--bare", str(repo), bare)
    for name in ("one", "two"):
        git(tmp_path / bare, "worktree", "add", "-q", "-b", name, str(tmp_path / "trees" / name))
        found = store_paths.find(str(tmp_path / "trees" / name / below))
        assert found
        assert found.local == str(tmp_path / bare / below / store_paths.NAME / "local")
        assert (found.root, found.tree) == (
            str(tmp_path / "trees" / name / below / store_paths.NAME),
            name,
        )
        other = store_paths.root_of_tree(found, "one")
        assert other == str(tmp_path / "trees/one" / below / store_paths.NAME)


def test_what_a_worktree_of_a_bare_repository_had_of_its_own_goes_on(
    repo: Path, tmp_path: Path
) -> None:
    make(repo)
    commit_all(repo)
    git(tmp_path, "clone", "-q", "--bare", str(repo), "all.git")
    tree = tmp_path / "one"
    git(tmp_path / "all.git", "worktree", "add", "-q", "-b", "one", str(tree))
    root = str(tree / store_paths.NAME)
    local_folder.make(store_paths.Store(root, "project"))  # as earlier versions had it
    found = store_paths.find(str(tree))
    assert found
    assert found.local == f"{root}/local"


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("3e2ffb27-3356", "3e2ffb27-3356"),
        ("../../etc", "x2e2e2f2e2e2f657463"),
        (".hidden", "x2e68696464656e"),
        ("a/b", "x612f62"),
        ("ä", "xc3a4"),
        ("", "x"),
    ],
)
def test_names_from_outside_become_safe_file_names(session: str, name: str) -> None:
    assert store_paths.file_name(session) == name
    assert "/" not in store_paths.file_name(session)


def test_a_users_folder_that_moved_is_found_a_second_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, other = tmp_path / "named", tmp_path / "other"
    named.mkdir()
    other.mkdir()
    monkeypatch.setenv("MEMFS_HOME", str(named))
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert store_paths.user_root() == str(named)
    named.rmdir()
    named.symlink_to(other)
    now += 1.0
    assert store_paths.user_root() == str(other)


def test_a_users_folder_beside_the_process_is_refused_whatever_an_event_names(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(repo)
    worked = tmp_path / "tree/src"
    worked.mkdir(parents=True)
    (tmp_path / "tree/.evil").mkdir()
    monkeypatch.setenv("MEMFS_HOME", str(tmp_path / "tree/.evil"))
    monkeypatch.chdir(worked)
    with pytest.raises(StoreError, match="MEMFS_HOME sets your own store to"):
        store_paths.find(str(repo))
