"""Folders are watched whether they are there or not yet, and what changes in them is told once."""

import errno
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path

import pytest
from watchdog import observers
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from memfs.service import watch
from memfs.service.watch import FolderWatch
from tests.service.running import until


class Watching(FolderWatch):
    """A watch that notes what it reports."""

    def __init__(self) -> None:
        self.calls: list[tuple[Hashable, set[str]]] = []
        super().__init__(self.report)

    def report(self, key: Hashable, paths: set[str]) -> None:
        self.calls.append((key, paths))

    def told(self, key: Hashable) -> set[str]:
        return {path for name, paths in list(self.calls) for path in paths if name == key}

    def begin(self, key: str, *folders: Path) -> None:
        self.add(key, lambda: map(str, folders))
        until(lambda: (key, set()) in list(self.calls))

    def await_told(self, key: str, *paths: Path) -> None:
        until(lambda: {*map(str, paths)} <= self.told(key))


@pytest.fixture
def watched() -> Iterator[Watching]:
    made = Watching()
    yield made
    made.stop()


def vim(path: Path, text: str) -> None:
    """Save as vim does where it renames: a probe, a swap file, a backup, a new file."""
    (path.parent / "4913").touch()
    (path.parent / "4913").unlink()
    swap = path.parent / f".{path.name}.swp"
    swap.write_text("swap")
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()
    swap.unlink()


def test_a_file_that_is_written_renamed_or_removed_is_told(
    watched: Watching, tmp_path: Path
) -> None:
    folder = tmp_path / "blocks"
    folder.mkdir()
    (folder / "old.md").write_text("x")
    watched.begin("a", folder)
    (folder / "new.md").write_text("x")
    (folder / "old.md").rename(folder / "other.md")
    watched.await_told("a", folder / "new.md", folder / "other.md")
    (folder / "new.md").unlink()
    before = len(watched.calls)
    until(lambda: len(watched.calls) > before)
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/file.md").write_text("x")
    watched.await_told("a", folder / "deep/er/file.md")


def test_vim_saves_are_told_by_the_name_of_the_file(watched: Watching, tmp_path: Path) -> None:
    folder = tmp_path / "blocks"
    folder.mkdir()
    (folder / "human.md").write_text("x")
    watched.begin("a", folder)
    vim(folder / "human.md", "new")
    until(lambda: watched.told("a"))
    until(lambda: watched.told("a") == {str(folder / "human.md")})


def test_looking_at_files_is_no_change(watched: Watching, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    watched.begin("a", tmp_path)
    (tmp_path / "a.md").read_text()
    list(tmp_path.iterdir())
    (tmp_path / "b.md").write_text("x")
    until(lambda: watched.told("a"))
    assert watched.told("a") == {str(tmp_path / "b.md")}


def test_a_folder_that_comes_later_is_told_with_what_is_in_it(
    watched: Watching, tmp_path: Path
) -> None:
    folder = tmp_path / "host/projects/shop"
    watched.begin("a", folder)
    folder.mkdir(parents=True)
    (folder / "one.jsonl").write_text("x")
    watched.await_told("a", folder / "one.jsonl")
    (folder / "two.jsonl").write_text("x")
    watched.await_told("a", folder / "two.jsonl")


@pytest.mark.parametrize("away", [shutil.rmtree, lambda path: path.rename(f"{path}.away")])
def test_a_folder_that_goes_and_comes_back_is_watched_again(
    watched: Watching, tmp_path: Path, away: Callable[[Path], object]
) -> None:
    folder = tmp_path / "store/blocks"
    folder.mkdir(parents=True)
    watched.begin("a", folder)
    away(folder)
    folder.mkdir()
    (folder / "a.md").write_text("x")
    watched.check_folders()  # as the service does now and then; a rename is not told
    watched.await_told("a", folder / "a.md")
    (folder / "b.md").write_text("x")
    watched.await_told("a", folder / "b.md")


def test_a_folder_that_two_want_is_watched_until_neither_does(
    watched: Watching, tmp_path: Path
) -> None:
    watched.begin("a", tmp_path)
    watched.begin("b", tmp_path)
    (tmp_path / "one").write_text("x")
    until(lambda: watched.told("a") and watched.told("b"))
    watched.remove("a")
    until(lambda: not watched._check)
    (tmp_path / "two").write_text("x")
    watched.await_told("b", tmp_path / "two")
    assert str(tmp_path / "two") not in watched.told("a")
    watched.remove("b")
    until(lambda: not watched._watched)


def test_what_is_wanted_no_more_before_its_folders_are_known_is_not_watched(
    watched: Watching, tmp_path: Path
) -> None:
    asked, known = threading.Event(), threading.Event()

    def folders() -> list[str]:
        asked.set()
        assert known.wait(30)
        return [str(tmp_path)]

    watched.add("a", folders)
    assert asked.wait(30)
    watched.remove("a")
    known.set()
    until(lambda: not (watched._check or watched._watched or watched._folders))
    assert watched.told("a") == set()


def test_a_link_to_a_folder_is_watched_as_that(watched: Watching, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    watched.begin("a", tmp_path / "link")
    (tmp_path / "link/file").write_text("x")
    watched.await_told("a", tmp_path / "real/file")


def test_many_changes_at_once_are_told_together(watched: Watching, tmp_path: Path) -> None:
    watched.begin("a", tmp_path)
    for number in range(500):
        (tmp_path / f"{number}.md").write_text("x")
    until(lambda: len(watched.told("a")) == 500)
    assert len(watched.calls) < 100


def test_what_tell_raises_ends_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    class Failing(Watching):
        def report(self, key: Hashable, paths: set[str]) -> None:
            super().report(key, paths)
            if any(path.endswith("bad") for path in paths):
                raise ZeroDivisionError

    watched = Failing()
    watched.begin("a", tmp_path)
    for name in ("bad", "good"):
        (tmp_path / name).write_text("x")
        watched.await_told("a", tmp_path / name)
    watched.stop()
    assert "ZeroDivisionError" in capfd.readouterr().err


@pytest.mark.parametrize("refused", ["/full", os.sep, "all"])
def test_where_nothing_more_can_be_watched_it_is_looked_at(
    watched: Watching, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """A folder; or what is below one, which the observer leaves out silently; or everything."""

    def refuse() -> object:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    def schedule(self: BaseObserver, handler: object, path: str, **more: object) -> object:
        if path.endswith(refused) and not isinstance(self, PollingObserver):
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        return real(self, handler, path, **more)  # type: ignore[arg-type]

    real = BaseObserver.schedule
    monkeypatch.setattr(watch, "_POLL", 0.1)
    monkeypatch.setattr(BaseObserver, "schedule", schedule)
    if refused == "all":
        monkeypatch.setattr(observers, "Observer", refuse)
    folders = [tmp_path / "full", tmp_path / "room"]
    for folder in folders:
        (folder / "deep").mkdir(parents=True)
    watched.begin("a", *folders)
    assert watched.polling
    for folder in folders:
        (folder / "deep/file").write_text("x")
    watched.await_told("a", *(folder / "deep/file" for folder in folders))


def test_it_leaves_no_thread_and_no_file_behind(tmp_path: Path) -> None:
    def state() -> tuple[int, int]:
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    before = state()
    for _ in range(3):
        watched = Watching()
        watched.begin("a", tmp_path, tmp_path / "later")
        watched.stop()
    until(lambda: state()[0] <= before[0] and state()[1] <= before[1] + 1)


def test_git_that_changes_a_branch_is_told(watched: Watching, repo: Path, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True)

    blocks = repo / ".agent-memory/blocks"
    (repo / "code").write_text("x")
    git("add", "-A")
    git("commit", "-qm", "without")
    git("checkout", "-qb", "with")
    blocks.mkdir(parents=True)
    (blocks / "a.md").write_text("x")
    git("add", "-A")
    git("commit", "-qm", "with")
    watched.begin("a", blocks)
    git("checkout", "-q", "main")
    assert not blocks.exists()
    watched.await_told("a", blocks / "a.md")
    watched.calls.clear()
    git("checkout", "-q", "with")
    watched.await_told("a", blocks / "a.md")


def test_a_folder_that_comes_back_with_the_same_inode_is_watched_again(
    watched: Watching, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ext4 gives it; here every folder has the same."""
    folder = tmp_path / "blocks"
    folder.mkdir()
    monkeypatch.setattr(
        watch, "_get_sign", lambda folder: (1, 1) if os.path.isdir(folder) else None
    )
    watched.begin("a", folder)
    with watched._news:  # it is back before anybody looks
        folder.rmdir()
        folder.mkdir()
    until(lambda: not watched._lost and not watched._check)
    for name in ("a", "b"):
        (folder / name).write_text("later")
        until(lambda: any(path.endswith(f"/{name}") for path in watched.told("a")))  # noqa: B023


def test_of_what_is_above_a_folder_that_is_missing_only_folders_are_told(
    watched: Watching, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home of a user, as a rule, where many files change."""
    noted: list[str] = []
    note = watched.note

    def seen(folder: str, path: str, of_folder: bool) -> None:
        noted.append(path)
        note(folder, path, of_folder)

    monkeypatch.setattr(watched, "note", seen)
    watched.begin("a", tmp_path / "later")
    for number in range(50):
        with (tmp_path / "log").open("a") as file:
            file.write(f"{number}\n")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "x").write_text("x")
    watched.await_told("a", tmp_path / "later" / "x")
    assert str(tmp_path / "log") not in noted
