"""However it is started, there is one: whoever starts it hands over its lock, and ends soon."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from memfs import files, hosts
from memfs.core.errors import StoreError
from memfs.files import child_process
from memfs.ipc import client, service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import service as op
from memfs.store import host_folders, local_folder, lock, store_paths
from memfs.store.blocks import Place
from tests.service import running
from tests.service.running import answered, hook, payload

pytestmark = pytest.mark.usefixtures("place")

_START = "from memfs.ipc import client; client.start_service(wait=True)"


def test_twenty_that_start_it_at_once_get_one(home: Path) -> None:
    starts = [subprocess.Popen([sys.executable, "-c", _START]) for _ in range(20)]
    assert [start.wait(60) for start in starts] == [0] * 20
    found = running.until(service_status.load_status)
    running.until(lambda: running.ours(home) == [found.process])
    assert running.log(home).count("version") == 1


def test_it_takes_no_folder_from_who_starts_it(
    place: Place, home: Path, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has those that were there when memfs was installed, and no program of a project."""
    (home / "own").mkdir()
    for name in hosts.list_folder_variables():
        monkeypatch.setenv(name, str(home / "own"))
    assert place.user
    host_folders.save_folders(place.user, hosts.list_folder_variables())
    (repo / "src").mkdir()
    monkeypatch.chdir(repo / "src")
    others = tmp_path / "others"  # nothing tells that a project set it
    for name in hosts.list_folder_variables():
        monkeypatch.setenv(name, str(others))
    monkeypatch.setenv("TMPDIR", str(others))
    monkeypatch.setenv("PATH", f"{repo}/bin:{os.environ['PATH']}")
    status = running.begin()
    told = Path(f"/proc/{status.process}/environ").read_text()
    assert str(others) not in told
    assert f"{repo}/bin" not in told
    saved = host_folders.load_folders(place.user, hosts.list_folder_variables())
    assert set(saved.values()) == {str(home / "own")}
    for name in hosts.list_folder_variables():
        monkeypatch.setenv(name, f"{repo}/.evil")
    host_folders.save_folders(place.user, hosts.list_folder_variables())
    assert host_folders.load_folders(place.user, hosts.list_folder_variables()) == {}


def test_one_that_dies_before_it_listens_keeps_nobody_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(child_process, "_DETACH", "raise SystemExit(1)")
        assert client.start_service(wait=True)
    assert service_status.load_status() is None
    assert running.begin().process in running.ours(home)


def test_what_it_runs_has_no_part_in_its_lock() -> None:
    """A job that outlives a service that was killed must not keep the next one out."""
    user = store_paths.user_store()
    assert user
    local_folder.make(user)
    Path(user.local, client.LOCK).write_text("process 4242")
    claimed = lock.claim_lock(user, client.LOCK, 3)
    assert claimed is not None
    assert lock.claim_lock(user, client.LOCK, 3) is None
    os.set_inheritable(claimed, True)  # as it comes to the service
    assert files.read(f"{user.local}/{client.LOCK}") == ""  # its last owner's name is gone
    with lock.hold_lock(user, 0, client.LOCK, claimed):
        assert not os.get_inheritable(claimed)
        assert files.read(f"{user.local}/{client.LOCK}") == f"process {os.getpid()}"
    again = lock.claim_lock(user, client.LOCK, 3)
    assert again is not None
    os.close(again)


def test_a_folder_that_cannot_be_looked_at_ends_nothing(home: Path) -> None:
    assert client.start_service("/" + "x" * 5000, wait=True)
    assert running.until(service_status.load_status).stores == ()
    assert running.until(lambda: "File name too long" in running.log(home))


def test_who_starts_it_or_finds_it_dead_has_a_store_held(
    place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(former: int) -> ServiceStatus:
        found = running.until(
            lambda: one if (one := service_status.load_status()) and one.stores else None
        )
        assert found.stores == (place.home.root,)
        assert found.process != former
        return found

    monkeypatch.chdir(repo)  # where hosts run their hooks
    running.process(payload(repo, "SessionStart"))
    first = begun(0)
    os.kill(first.process, signal.SIGKILL)
    running.until(running.over)
    running.process(payload(repo, "SessionStart"))
    second = begun(first.process)
    os.kill(second.process, signal.SIGKILL)
    running.until(running.over)
    monkeypatch.chdir("/")
    client.wake_service(str(repo))
    begun(second.process)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_starter_without_standard_streams_gives_it_its_lock(home: Path, closed: str) -> None:
    command = f"{sys.executable} -c '{_START}' {closed}"
    subprocess.run(["/bin/sh", "-c", command], check=True, stdin=subprocess.DEVNULL)
    found = running.until(service_status.load_status)
    lock_file = f"{home}/.agent-memory/local/{client.LOCK}"
    assert files.read(lock_file) == f"process {found.process}"
    assert client.start_service(wait=True)
    assert running.ours(home) == [found.process]


def test_who_comes_while_one_starts_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    spawned: list[int] = []
    spawn = os.posix_spawn

    def count(*words: Any, **more: Any) -> int:
        spawned.append(spawn(*words, **more))
        return spawned[-1]

    monkeypatch.setattr(os, "posix_spawn", count)
    assert all(client.start_service(wait=True) for _ in range(5))
    assert running.until(service_status.load_status)
    assert client.start_service(wait=True)
    assert len(spawned) == 1


def test_one_is_started_when_the_last_has_ended() -> None:
    user = store_paths.user_store()
    claimed = user and lock.claim_lock(user, client.LOCK, 3)
    assert claimed
    ending = threading.Timer(0.3, os.close, [claimed])
    ending.start()
    found, new = op.start()
    ending.join()
    assert new
    assert found.process != os.getpid()


def test_one_that_is_stopped_before_it_listens_stops() -> None:
    assert client.start_service(wait=True)
    assert op.stop()
    assert service_status.load_status() is None
    assert not op.stop()


def test_a_local_folder_that_leads_elsewhere_is_no_place_for_it(
    place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    assert place.user
    shutil.move(place.user.local, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", place.user.local)
    assert not client.start_service(wait=True)
    client.wake_service(str(repo))
    with pytest.raises(StoreError, match="did not start"):
        op.start()
    assert not running.ours(home)


def test_a_lock_that_cannot_be_had_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert not any(client.start_service(wait=True) for _ in range(5))
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_full_disk_leaves_hooks_with_what_they_can_do(repo: Path, home: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
    subprocess.run([sys.executable, "-c", limit + _START], check=True)
    assert running.until(service_status.load_status)
    assert running.log(home) == ""
    assert running.begins(hook(payload(repo, "SessionStart")))
    (repo / ".agent-memory/blocks/new.md").write_text("A new block.")
    # It cannot note what was told: that is told again.
    prompt = payload(repo, "UserPromptSubmit", "go on with it")
    assert "A new block." in answered(prompt)
    assert "A new block." in answered(prompt)
