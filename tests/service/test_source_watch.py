"""What changes in data sources is queued once, for whichever store has them."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.ops import init
from memfs.recall import source_index
from memfs.recall.open_store import OpenStore
from memfs.service.watch import FolderWatch, SourceWatch, WatchedSource
from memfs.store import blocks, data_sources, worktrees
from memfs.store.blocks import Place
from tests.service.running import until


class Watching:
    """A watch of folders with the sources of stores, and what it queued."""

    def __init__(self) -> None:
        self.queued: list[OpenStore] = []
        self.folders = FolderWatch(self._report)
        self.sources = SourceWatch(self.folders, self.queued.append)

    def _report(self, key: object, paths: set[str]) -> None:
        assert isinstance(key, WatchedSource)
        self.sources.queue_changes(key, paths)

    def await_queued(self, *stores: OpenStore) -> None:
        until(lambda: self.queued == [*stores])
        self.queued.clear()


@pytest.fixture
def watching(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watching]:
    monkeypatch.setenv("MEMFS_GIT_HISTORY", "off")  # commits are a source, too
    found = Watching()
    yield found
    found.folders.stop()


@pytest.fixture
def notes(place: Place, tmp_path: Path) -> Path:
    """A folder that is a source of the user's."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "first.md").write_text("The word is begonia.\n")
    configure(Path.home(), f"notes:\n    paths: [{folder}]")
    sync(place)
    return folder


def configure(folder: Path, sources: str) -> None:
    (folder / ".agent-memory/config.yaml").write_text(f"memfs: 1\nsources:\n  {sources}\n")


def sync(place: Place) -> None:
    for source in data_sources.list_sources(place):
        assert source_index.sync(place, source, embed=False)


def test_a_source_of_the_user_is_watched_once_for_all_stores(
    watching: Watching, notes: Path, place: Place
) -> None:
    stores = [OpenStore(place), OpenStore(Place(None, place.user))]
    for store in stores:
        watching.sources.update(store)
    watching.await_queued(stores[0])  # as soon as it is watched
    (notes / "second.md").write_text("The word is petunia.\n")
    watching.await_queued(stores[0])
    watching.sources.remove(stores[0])
    (notes / "third.md").write_text("The word is dahlia.\n")
    watching.await_queued(stores[1])
    watching.sources.remove(stores[1])
    until(lambda: watching.folders.watched == 0)


def test_hidden_files_do_not_count_but_rules_do(
    watching: Watching, notes: Path, place: Place
) -> None:
    (key,) = (WatchedSource(s.index, s.paths) for s in data_sources.list_sources(place))
    store = OpenStore(place)
    watching.sources.update(store)
    watching.await_queued(store)
    watching.sources.queue_changes(key, {f"{notes}/.git/index", f"{notes}/a/.cache/x.md"})
    assert watching.queued == []
    watching.sources.queue_changes(key, {f"{notes}/.git/index", f"{notes}/a/.gitignore"})
    watching.await_queued(store)


def test_single_files_are_looked_at_and_their_folder_is_not_watched(
    watching: Watching, place: Place, home: Path
) -> None:
    path = home / "diary.md"
    path.write_text("The word is begonia.\n")
    configure(home, f"diary:\n    paths: [{path}]")
    store = OpenStore(place)
    watching.sources.update(store)
    watching.await_queued(store)
    sync(place)
    watching.sources.update(store)
    assert watching.queued == []
    path.write_text("The word is petunia now.\n")
    watching.sources.update(store)
    watching.await_queued(store)


def test_a_source_without_an_index_is_queued(watching: Watching, notes: Path, place: Place) -> None:
    store = OpenStore(place)
    watching.sources.update(store)
    watching.await_queued(store)
    (source,) = data_sources.list_sources(place)
    source_index.remove(place.store(source.tier), source.name)
    watching.sources.update(store)
    watching.await_queued(store)
    assert notes.exists()


def test_commits_that_are_no_source_any_more_are_queued(
    watching: Watching, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMFS_GIT_HISTORY")
    history = data_sources.find_history(place)
    assert history
    assert source_index.sync(place, history, embed=False)
    monkeypatch.setenv("MEMFS_GIT_HISTORY", "off")
    store = OpenStore(place)
    watching.sources.update(store)
    watching.await_queued(store)
    assert source_index.remove_unused_history(place)
    watching.sources.update(store)
    assert watching.queued == []


@pytest.mark.parametrize("kept", ["refs", "reftable"])
@pytest.mark.parametrize("linked", [False, True])
def test_commits_are_seen_without_logs_of_references(
    watching: Watching,
    repo: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    kept: str,
    linked: bool,
) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], check=True, capture_output=True)

    monkeypatch.delenv("MEMFS_GIT_HISTORY")
    git("config", "core.logAllRefUpdates", "false")
    git("commit", "-q", "--allow-empty", "-m", "first")
    (repo / ".git/reftable").mkdir()
    if linked:
        git("worktree", "add", "-q", "-b", "other", str(home / "tree"))
        monkeypatch.chdir(home / "tree")
    shutil.rmtree(repo / ".git/logs", ignore_errors=True)
    init.run(os.getcwd(), str(home))
    place = blocks.find_place(os.getcwd())
    history = data_sources.find_history(place)
    assert history
    assert source_index.sync(place, history, embed=False)
    store = OpenStore(place)
    watching.sources.update(store)
    until(lambda: len(watching.queued) == 2)  # it is new, and it is watched
    watching.queued.clear()
    watching.sources.update(store)
    assert watching.queued == []
    if kept == "refs":
        git("commit", "-q", "--allow-empty", "-m", "second")
    else:  # whatever git is here may not know it
        (repo / ".git/reftable/tables.list").write_text("0x1-0x2-3.ref\n")
    until(lambda: watching.queued)
    watching.queued.clear()
    git("checkout", "-q", "-b", "more")
    watching.sources.update(store)
    assert watching.queued[:1] == [store]


def test_outside_git_nothing_is_watched_of_it(tmp_path: Path) -> None:
    assert worktrees.list_reference_folders(str(tmp_path)) == ()
