"""However long it runs: files, threads and memory stay what they are."""

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from memfs.core import label as labels
from memfs.ipc import client, service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.recall.open_store import OpenStore
from memfs.search.vector_layout import DOCUMENTS
from memfs.service import app
from memfs.service.app import StorePool
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.service.running import answered, hook, payload, until


def files_of(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def opened(process: int, name: str) -> bool:
    folder = f"/proc/{process}/fd"
    with suppress(FileNotFoundError):  # it was closed meanwhile
        return any(os.readlink(f"{folder}/{each}").endswith(name) for each in os.listdir(folder))
    return False


def threads_of(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/task"))


def test_many_questions_leave_nothing(warm: ServiceStatus, place: Place, repo: Path) -> None:
    hook(payload(repo, "SessionStart"))
    prompt = payload(repo, "UserPromptSubmit", "go on with the work")
    until(lambda: list(repo.glob(".agent-memory/local/index/**/meta.json")))
    for _ in range(50):
        answered(prompt)
    until(lambda: not (service_status.load_status() or warm).work)
    until(lambda: answered(prompt) == "" and opened(warm.process, DOCUMENTS))
    files, threads = files_of(warm.process), threads_of(warm.process)
    before = service_status.load_status()
    quiet = payload(repo, "UserPromptSubmit", "go")
    for number in range(600):
        assert answered(quiet if number % 4 else prompt) == ""
    after = service_status.load_status()
    assert before
    assert after
    assert after.process == warm.process
    assert files_of(warm.process) <= files + 2
    until(lambda: threads_of(warm.process) <= threads + 2)
    assert after.bytes < before.bytes + (8 << 20)


def test_many_stores_leave_a_few_open(
    place: Place, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "MOST", 4)
    met: list[OpenStore] = []
    gone: list[OpenStore] = []
    stores = StorePool(met.append, gone.append)
    made = []
    for number in range(10):
        root = tmp_path / f"p{number}/.agent-memory"
        shutil.copytree(repo / ".agent-memory", root)
        made.append(Place(Store(str(root), labels.PROJECT), place.user))
    counts = []
    for _ in range(8):
        for each in made:
            stores.for_place(each).refresh()
        counts.append((len(os.listdir("/proc/self/fd")), threading.active_count()))
    assert len(stores.list_stores()) == 4
    assert (len(met), len(gone)) == (80, 76)
    assert counts[-1][0] <= counts[2][0] + 2
    assert counts[-1][1] <= counts[2][1] + 2


def test_who_asked_last_stays_and_what_is_old_or_gone_goes(
    place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[OpenStore] = []
    stores = StorePool(lambda _: None, gone.append)
    found = stores.for_place(place)
    assert stores.for_place(blocks.find_place(str(repo))) is found
    stores.release_unused()
    assert not gone
    (repo / ".agent-memory").rename(repo / "away")
    stores.release_unused()
    assert gone == [found]
    (repo / "away").rename(repo / ".agent-memory")
    again = stores.for_place(place)
    monkeypatch.setattr(app, "LONGEST", -1.0)
    stores.release_unused()
    assert gone == [found, again]


@pytest.mark.usefixtures("warm")
def test_many_who_ask_at_once_are_all_answered(repo: Path) -> None:
    """On a busy machine one is left to its hook while the last of its session is written."""
    answers: list[str] = []

    def ask(session: str) -> None:
        prompt = payload(repo, "UserPromptSubmit", "go on with it", session)
        answers.extend(answered(prompt) for _ in range(5))

    for number in range(30):
        hook(payload(repo, "SessionStart", session=f"s{number}"))
    with ThreadPoolExecutor(30) as pool:
        list(pool.map(ask, (f"s{number}" for number in range(30))))
    assert answers == [""] * 150
    assert client.is_listening()
