"""Jobs: joined while they wait, shown while they are done, given up when the service ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memfs.ipc import service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import init
from memfs.recall import index_sources
from memfs.recall.index_session import IndexSession
from memfs.search import vector_manifest
from memfs.search.engine import Filter
from memfs.service import job_queue as room
from memfs.service.job_queue import Job, JobQueue
from memfs.service.scheduler import WorkScheduler
from memfs.service.store_pool import LoadedStore
from memfs.store import blocks, lock, spool
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import user
from tests.service import running
from tests.service.running import hook, payload, until


@pytest.fixture
def published() -> list[LoadedStore]:
    return []


@pytest.fixture
def work(published: list[LoadedStore]) -> WorkScheduler:
    return WorkScheduler(published.append)


def large(path: Path, repo: Path, count: int) -> Path:
    told = (
        user(f"turn {n:05} of many words {n * n}", f"u{n}", cwd=str(repo)) for n in range(count)
    )
    path.write_bytes(b"".join(told))
    return path


def on_battery(folder: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> Path:
    """Let workers find a battery that is not charged; return its folder."""
    battery = folder / "power/BAT0"
    battery.mkdir(parents=True)
    (battery / "type").write_text("Battery\n")
    (battery / "status").write_text("Discharging\n")
    faked = f"os.getloadavg = lambda: (0, 0, 0); throttle.SUPPLIES = '{battery.parent}/*'"
    begun = f"import os; from memfs.service import throttle, worker; {faked}{more}"
    monkeypatch.setattr(
        room, "_CODE", room._CODE.replace("from memfs.service import worker", begun)
    )
    monkeypatch.setattr(room, "_RETRY", 0.1)
    monkeypatch.setenv("MEMFS_SERVICE_PAUSE", "auto")
    return battery


def another(folder: Path, repo: Path, home: Path) -> LoadedStore:
    """Make another store of the same user."""
    other = folder / "other"
    shutil.copytree(repo / ".git", other / ".git")
    init.run(str(other), str(home))
    return LoadedStore(blocks.find_place(str(other)))


def test_a_job_is_done_and_its_process_goes_when_there_is_none(
    work: WorkScheduler,
    published: list[LoadedStore],
    place: Place,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "_IDLE", 0.2)
    held = LoadedStore(place)
    work.add(held, set(), everything=True)
    until(lambda: published)
    until(lambda: not work.said() and not running.ours(home))
    assert set(published) == {held}
    work.stop()


def test_what_waits_for_a_store_is_one_job(work: WorkScheduler, place: Place, repo: Path) -> None:
    held, other = LoadedStore(place), LoadedStore(place)
    with lock.hold_lock(place.home, name=index_sources.LOCK):
        work.add(held, set(), everything=True)
        until(lambda: work.busy(held))
        process = until(lambda: work._reading._process)
        number = process.pid
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        until(lambda: os.getpriority(os.PRIO_PROCESS, number) == min(19, mine + 10))
        for number in range(50):
            work.add(other, {f"/{number}"})
        assert len(work.said()) == 2
        [job] = work._reading._jobs
        assert len(job.paths) == 50
    work.stop()


def test_a_job_that_meets_another_process_is_done_again(
    work: WorkScheduler, published: list[LoadedStore], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_RETRY", 0.1)
    hasty = "from memfs.service import worker; worker._PATIENCE = 0.1"
    monkeypatch.setattr(
        room, "_CODE", room._CODE.replace("from memfs.service import worker", hasty)
    )
    held = LoadedStore(place)
    with lock.hold_lock(place.home, name=index_sources.LOCK):
        work.add(held, set(), everything=True)
        jobs = work._reading._jobs
        until(lambda: jobs and jobs[0].not_before)
        assert not published
    until(lambda: published)
    work.stop()


def test_a_job_over_which_the_process_ends_is_given_up_in_the_end(
    work: WorkScheduler,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(room, "_RETRY", 0.01)
    monkeypatch.setattr(room, "_CODE", "raise SystemExit(3)")
    held = LoadedStore(place)
    work.add(held, set(), everything=True)
    until(lambda: not work.said())
    monkeypatch.undo()
    work.stop()
    assert capfd.readouterr().err.count("a job failed") == 3


def test_a_store_that_is_gone_is_no_job(
    work: WorkScheduler, published: list[LoadedStore], place: Place, repo: Path
) -> None:
    held = LoadedStore(place)
    (repo / ".agent-memory").rename(repo / "away")
    work.add(held, set(), everything=True)
    until(lambda: not work.said())
    assert not published
    assert not (repo / ".agent-memory").exists()
    work.stop()


def test_progress_is_shown_and_stop_ends_it_at_once_with_the_index_whole(
    warm: ServiceStatus, place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    path = large(tmp_path / "t.jsonl", repo, 20_000)
    hook(payload(repo, "Stop", transcript_path=str(path)))
    pattern = re.compile(r"(indexing|embedding) \d")

    def shown() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "memfs", "daemon"], capture_output=True, text=True, check=True
        )
        return done.stdout if pattern.search(done.stdout) else ""

    assert str(place.home.root) in until(shown, 60)
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "memfs", "daemon", "stop"], check=True, capture_output=True
    )
    running.until(lambda: not running.ours(home))
    assert time.monotonic() - began < 5
    assert "Traceback" not in running.log(home)
    only = Filter(kinds=("message",))
    assert IndexSession(place).engine("text").list_by_time(only, limit=1, offset=0).total == 20_000
    assert not spool.list_notes(place.home)


def test_what_a_hook_left_word_of_is_read_while_another_store_waits_for_power(
    published: list[LoadedStore],
    place: Place,
    repo: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_battery(tmp_path, monkeypatch)
    slow, quick = another(tmp_path, repo, home), LoadedStore(place)
    top = Path(slow.place.home.top)
    spool.write_note(slow.place.home, "claude", str(large(tmp_path / "t.jsonl", top, 2000)))
    spool.write_note(place.home, "claude", str(large(tmp_path / "u.jsonl", repo, 2)))
    work = WorkScheduler(published.append)
    with work._reading._changed:  # the second waits before the first begins
        work.add(slow, set())
        work.add(quick, set())
    until(lambda: slow in published)
    until(lambda: quick in published)
    assert IndexSession(place).engine("text").list_by_time(Filter(), limit=1, offset=0).total >= 2
    work.stop()


def test_stores_with_much_to_read_do_not_put_each_other_off_for_ever(
    published: list[LoadedStore],
    place: Place,
    repo: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    battery = on_battery(tmp_path, monkeypatch, "; worker._BATCH = 1")
    (battery / "status").write_text("Charging\n")
    one, two = another(tmp_path, repo, home), LoadedStore(place)
    work = WorkScheduler(published.append)
    with work._reading._changed:
        for held in (one, two):
            top = Path(held.place.home.top)
            paths = {str(large(tmp_path / f"{top.name}{n}.jsonl", top, 3)) for n in range(3)}
            work.add(held, paths)
    until(lambda: {one, two} == set(published))
    work.stop()


def test_a_worker_whose_service_was_killed_goes_also_while_it_rests(
    warm: ServiceStatus, place: Place, repo: Path, home: Path
) -> None:
    hook(payload(repo, "SessionStart"))
    until(lambda: [one for one in running.ours(home) if one != warm.process])
    os.kill(warm.process, signal.SIGKILL)
    until(lambda: not running.ours(home))
    assert "Traceback" not in running.log(home)
    assert service_status.load_status() is None


def test_what_takes_long_rests_and_is_put_off_for_what_does_not(
    published: list[LoadedStore],
    place: Place,
    repo: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Vectors of many turns of one store wait for power, while another store has its turn."""
    battery = on_battery(tmp_path, monkeypatch)
    slow, quick = another(tmp_path, repo, home), LoadedStore(place)
    other = Path(slow.place.home.top)
    spool.write_note(slow.place.home, "claude", str(large(tmp_path / "t.jsonl", other, 2000)))
    work = WorkScheduler(published.append)
    work.add(slow, set(), everything=True)

    def rests() -> bool:
        return any(each["stage"] == "waiting: battery" for each in work.said())

    until(rests)
    assert set(published) == {slow}  # words in it are found
    for _ in range(3):
        published.clear()
        work.add(quick, set(), everything=True)
        until(lambda: quick in published)
        until(rests)
    (battery / "status").write_text("Charging\n")
    until(lambda: not work.said())
    served = vector_manifest.load_active_extent(slow.place.home.index)
    assert served
    assert served.documents >= 2000
    work.stop()


def test_what_is_said_is_found_while_what_was_said_before_is_finished(
    published: list[LoadedStore],
    place: Place,
    repo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing puts off what a graph of many vectors takes: reading does not wait for it."""
    endless = "worker; worker._finish = lambda *_: __import__('time').sleep(600)"
    monkeypatch.setattr(room, "_CODE", room._CODE.replace("import worker", f"import {endless}"))
    held, work = LoadedStore(place), WorkScheduler(published.append)
    for number in (1, 2):
        spool.write_note(
            place.home, "claude", str(large(tmp_path / f"{number}.jsonl", repo, number))
        )
        work.add(held, set())
        until(lambda: published)
        published.clear()
        assert (
            IndexSession(place).engine("text").list_by_time(Filter(kinds=("message",))).total
            >= number
        )
        until(lambda: work._finishing.busy(held))
    assert work.busy(held)
    work.stop()
    assert not work._finishing.busy(held)


def test_a_store_is_not_put_off_for_itself_but_for_others(
    published: list[LoadedStore],
    place: Place,
    repo: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A session that goes on saying things lets what it said before be finished."""
    endless = "worker; worker._finish = resting"
    code = room._CODE.replace("import worker", f"import {endless}")
    resting = "def resting(_, rest):\n    while True:\n        rest()\n"
    monkeypatch.setattr(room, "_CODE", resting + code)
    lane = JobQueue(published.append, finish=True)
    one, two = another(tmp_path, repo, home), LoadedStore(place)
    lane.add(Job(one))
    until(lambda: lane.busy(one))
    lane.add(Job(one))
    time.sleep(0.3)
    assert lane.busy(one)
    lane.add(Job(two))
    until(lambda: lane.busy(two))
    lane.stop()


def test_what_could_not_be_done_is_tried_again_with_longer_and_longer_pauses(
    work: WorkScheduler,
    published: list[LoadedStore],
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The disk is full for a while."""
    room_there = tmp_path / "room"
    full = (
        "worker, os.path; read = worker._read\n"
        f"def failing(*given, **more):\n    if os.path.exists({str(room_there)!r}):\n"
        "        return read(*given, **more)\n    raise OSError(28, 'No space left on device')\n"
        "worker._read = failing"
    )
    code = room._CODE.replace("import worker", "import worker\nimport os.path")
    code = code.replace("worker.main()", f"from memfs.service import {full}\nworker.main()")
    code = code.replace("import worker, os.path;", "import worker;")
    monkeypatch.setattr(room, "_CODE", code)
    monkeypatch.setattr(room, "_RETRY", 0.01)
    work.add(LoadedStore(place), set(), everything=True)
    jobs = work._reading._jobs
    until(lambda: jobs and jobs[0].failed >= 3)
    assert not published
    room_there.touch()
    until(lambda: published)
    work.stop()
    assert capfd.readouterr().err.count("No space left on device") >= 3


def test_what_comes_anew_does_not_wait_with_what_failed_and_no_process_does(
    work: WorkScheduler, published: list[LoadedStore], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_IDLE", 0.2)
    lane, held = work._reading, LoadedStore(place)
    work.add(held, set(), everything=True)
    until(lambda: published and not lane._now)
    published.clear()
    with lane._changed:
        lane._jobs.append(Job(held, {"/a"}, not_before=time.monotonic() + 3600, failed=5))
        lane._changed.notify()
    until(lambda: lane._process is None)
    assert [job.failed for job in lane._jobs] == [5]
    work.add(held, {"/b"}, everything=True)
    until(lambda: published and not lane._jobs)
    work.stop()
