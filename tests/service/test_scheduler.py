"""Jobs: joined while they wait, shown while they are done, given up when the service ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memfs.ipc import service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import init
from memfs.recall.open_store import OpenStore
from memfs.search import vector_layout
from memfs.search.request import Filter
from memfs.service.job_queue import WORKER, Job, JobQueue
from memfs.store import blocks, lock, spool
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import user
from tests.service import running
from tests.service.running import hook, payload, until


class Work(JobQueue):
    """A queue, by the name of its worker and its pauses, and the stores that it published."""

    def __init__(self, module: str = "", **pauses: float) -> None:
        name = f"tests.service.workers.{module}" if module else WORKER.module
        self.published: list[OpenStore] = []
        super().__init__(self.published.append, replace(WORKER, module=name, **pauses))


Begin = Callable[..., Work]


@pytest.fixture
def begun() -> Iterator[Begin]:
    """Make a queue, started."""
    made: list[Work] = []

    def begin(module: str = "", *, started: bool = True, **pauses: float) -> Work:
        made.append(Work(module, **pauses))
        if started:
            made[-1].start()
        return made[-1]

    yield begin
    for each in made:
        each.stop()


@pytest.fixture
def work(begun: Begin) -> Work:
    return begun()


def count_messages(place: Place) -> int:
    only = Filter(kinds=("message",))
    return OpenStore(place).update_engine("text").list_by_time(only, limit=1, offset=0).total


def large(path: Path, repo: Path, count: int) -> Path:
    told = (
        user(f"turn {n:05} of many words {n * n}", f"u{n}", cwd=str(repo)) for n in range(count)
    )
    path.write_bytes(b"".join(told))
    return path


@pytest.fixture
def battery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the worker `battery` find one that is not charged; return its folder."""
    battery = tmp_path / "power/BAT0"
    battery.mkdir(parents=True)
    (battery / "type").write_text("Battery\n")
    (battery / "status").write_text("Discharging\n")
    monkeypatch.setenv("BATTERY", str(battery.parent))
    monkeypatch.setenv("MEMFS_SERVICE_PAUSE", "auto")
    return battery


@pytest.fixture
def store(place: Place) -> OpenStore:
    return OpenStore(place)


@pytest.fixture
def other(store: OpenStore, tmp_path: Path, repo: Path, home: Path) -> OpenStore:
    """Another store of the same user."""
    assert store.place.user
    other = tmp_path / "other"
    shutil.copytree(repo / ".git", other / ".git")
    init.run(str(other), str(home))
    return OpenStore(blocks.find_place(str(other)))


def test_a_job_is_done_and_its_process_goes_when_there_is_none(
    begun: Begin, store: OpenStore, home: Path
) -> None:
    work = begun(idle=0.2)
    work.add(store, set(), everything=True)
    until(lambda: work.published)
    until(lambda: not work.describe_jobs() and not running.ours(home))
    assert set(work.published) == {store}


def test_what_waits_for_a_store_is_one_job(
    work: Work, place: Place, repo: Path, tmp_path: Path
) -> None:
    held, other = OpenStore(place), OpenStore(place)
    home = Path(os.environ["HOME"])
    with lock.hold_lock(place.home, name=lock.INDEX):
        work.add(held, set(), everything=True)
        until(lambda: work.is_busy(held))
        [process] = until(lambda: running.ours(home))
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        until(lambda: os.getpriority(os.PRIO_PROCESS, process) == min(19, mine + 10))
        for number in range(20):
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(
                user(f"word{number}", f"u{number}", sessionId=str(number), cwd=str(repo))
            )
            work.add(other, {str(path)})
        assert len(work.describe_jobs()) == 2
    until(lambda: other in work.published)
    assert count_messages(place) == 20


def test_a_job_that_meets_another_process_is_done_again(begun: Begin, store: OpenStore) -> None:
    work = begun("hasty", retry=0.3)
    with lock.hold_lock(store.place.home, name=lock.INDEX):
        work.add(store, set(), everything=True)
        until(lambda: [each["stage"] for each in work.describe_jobs()] == ["waiting"])
        until(lambda: work.is_busy(store))
        assert not work.published
    until(lambda: work.published)


def test_a_job_over_which_the_process_ends_is_given_up_in_the_end(
    begun: Begin, store: OpenStore, capfd: pytest.CaptureFixture[str]
) -> None:
    work = begun("dying", retry=0.01)
    work.add(store, set(), everything=True)
    until(lambda: not work.describe_jobs())
    assert capfd.readouterr().err.count("a job for ") == 3


def test_a_store_that_is_gone_is_no_job(work: Work, store: OpenStore, repo: Path) -> None:
    (repo / ".agent-memory").rename(repo / "away")
    work.add(store, set(), everything=True)
    until(lambda: not work.describe_jobs())
    assert not work.published
    assert not (repo / ".agent-memory").exists()


def test_progress_is_shown_and_stop_ends_it_at_once_with_the_index_whole(
    warm: ServiceStatus, place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    path = large(tmp_path / "t.jsonl", repo, 8_000)
    hook(payload(repo, "Stop", transcript_path=str(path)))
    pattern = re.compile(r"(indexing|embedding) \d")

    def shown() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "memfs", "service"], capture_output=True, text=True, check=True
        )
        return done.stdout if pattern.search(done.stdout) else ""

    assert str(place.home.root) in until(shown, 60)
    subprocess.run(
        [sys.executable, "-m", "memfs", "service", "stop"], check=True, capture_output=True
    )
    running.until(lambda: not running.ours(home))
    assert "Traceback" not in running.log(home)
    assert count_messages(place) == 8_000
    assert not spool.list_notes(place.home)


@pytest.mark.usefixtures("battery")
def test_what_a_hook_left_word_of_is_read_while_another_store_waits_for_power(
    begun: Begin, store: OpenStore, other: OpenStore, repo: Path, tmp_path: Path
) -> None:
    top = Path(other.place.home.top)
    spool.write_note(other.place.home, "claude", str(large(tmp_path / "t.jsonl", top, 2000)))
    spool.write_note(store.place.home, "claude", str(large(tmp_path / "u.jsonl", repo, 2)))
    work = begun("battery", started=False)  # the second waits before the first begins
    work.add(other, set())
    work.add(store, set())
    work.start()
    until(lambda: {store, other} == set(work.published))
    assert count_messages(store.place) >= 2


def test_stores_with_much_to_read_do_not_put_each_other_off_for_ever(
    begun: Begin,
    battery: Path,
    store: OpenStore,
    other: OpenStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BATCH", "1")
    (battery / "status").write_text("Charging\n")
    work = begun("battery", started=False, retry=0.1)
    for held in (store, other):
        top = Path(held.place.home.top)
        paths = {str(large(tmp_path / f"{top.name}{n}.jsonl", top, 3)) for n in range(3)}
        work.add(held, paths)
    work.start()
    until(lambda: {store, other} == set(work.published))


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
    begun: Begin, battery: Path, store: OpenStore, other: OpenStore, tmp_path: Path
) -> None:
    """Vectors of many turns of one store wait for power, while another store has its turn."""
    top = Path(other.place.home.top)
    spool.write_note(other.place.home, "claude", str(large(tmp_path / "t.jsonl", top, 2000)))
    work = begun("battery", retry=0.1)
    work.add(other, set(), everything=True)

    def rests() -> bool:
        return any(each["stage"] == "waiting: battery" for each in work.describe_jobs())

    until(rests)
    assert set(work.published) == {other}  # words in it are found
    for _ in range(3):
        work.published.clear()
        work.add(store, set(), everything=True)
        until(lambda: store in work.published)
        until(rests)
    (battery / "status").write_text("Charging\n")
    until(lambda: not work.describe_jobs())
    served = vector_layout.load_active_extent(other.place.home.index)
    assert served
    assert served.documents >= 2000


def test_what_is_said_is_found_while_what_was_said_before_is_finished(
    begun: Begin, store: OpenStore, repo: Path, tmp_path: Path
) -> None:
    """What takes long, and here never ends, is put off for what is to be read."""
    work = begun("resting", retry=0.01)
    for number in (1, 2):
        path = large(tmp_path / f"{number}.jsonl", repo, number)
        spool.write_note(store.place.home, "claude", str(path))
        work.add(store, set())
        until(lambda: work.published)
        work.published.clear()
        assert count_messages(store.place) >= number
        until(lambda: work.is_busy(store) and len(work.describe_jobs()) == 1)
    work.stop()
    assert not work.is_busy(store)


def test_a_read_whose_pause_ends_while_something_takes_long_does_not_wait_for_it(
    begun: Begin, store: OpenStore, other: OpenStore
) -> None:
    work = begun("resting", retry=0.3)
    with lock.hold_lock(other.place.home, name=lock.INDEX):
        work.add(other, set(), everything=True)
        until(lambda: work.is_busy(other))
        work.add(store, set(), everything=True)
        until(lambda: work.is_busy(store) and store in work.published)
    until(lambda: other in work.published)


def test_a_job_is_put_off_for_reading_and_for_what_another_store_has_to_finish(
    place: Place,
) -> None:
    """A store that goes on with what takes long is not put off for itself."""
    one, two = OpenStore(place), OpenStore(place)
    for store in (one, two):
        assert Job(one).yields_to(Job(store))
        assert Job(one, finish=True).yields_to(Job(store))
        assert not Job(one).yields_to(Job(store, finish=True))
    assert Job(one, finish=True).yields_to(Job(two, finish=True))
    assert not Job(one, finish=True).yields_to(Job(one, finish=True))


def test_what_could_not_be_done_is_tried_again_with_longer_and_longer_pauses(
    begun: Begin,
    store: OpenStore,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The disk is full for a while."""
    monkeypatch.setenv("ROOM", str(tmp_path / "room"))
    work = begun("full_disk", retry=0.01)
    work.add(store, set(), everything=True)
    until(lambda: [each.get("failed", 0) for each in work.describe_jobs()] >= [3])
    assert not work.published
    (tmp_path / "room").touch()
    until(lambda: work.published)
    assert capfd.readouterr().err.count("No space left on device") >= 3


def test_what_comes_anew_does_not_wait_with_what_failed_and_no_process_does(
    begun: Begin, store: OpenStore, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROOM", str(tmp_path / "room"))
    work = begun("full_disk", idle=0.2, retry=3600)
    work.add(store, set(), everything=True)
    until(lambda: [each.get("failed") for each in work.describe_jobs()] == [1])
    until(lambda: not running.ours(home))
    (tmp_path / "room").touch()
    work.add(store, set(), everything=True)
    until(lambda: work.published)
    until(lambda: not work.describe_jobs())
