"""A service as a process of its own, or as a thread of the test's."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ipc import client, service_status
from memfs.ipc.client import HookCall
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import edit, host_event
from memfs.ops.install import commands
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.service.server import Server
from memfs.store import lock, store_paths
from memfs.store.blocks import Place

T = TypeVar("T")
Command = Callable[..., str]  # of a hook, by its words
LONG = 60.0  # seconds: for what takes a moment, on a machine that has other things to do


def until(found: Callable[[], T | None], wait: float = LONG) -> T:
    """Return what is found as soon as it is true."""
    deadline = time.monotonic() + wait
    while not (value := found()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert value, "it did not come to be"
    return value


def begin() -> ServiceStatus:
    """Start the service of this home; return how it is once it answers."""
    until(lambda: service_status.load_status() or (client.start_service(wait=True) and None))
    return until(service_status.load_status)


def suspend(process: int) -> None:
    """Stop a process as Ctrl-Z does, until it is told to continue."""

    def is_stopped() -> bool:
        try:
            tasks = [each.read_text() for each in Path(f"/proc/{process}/task").glob("*/stat")]
        except FileNotFoundError:  # a thread ended just now
            return False
        return all(each.rpartition(") ")[2].startswith("T") for each in tasks)

    os.kill(process, signal.SIGSTOP)
    until(is_stopped)


def over() -> bool:
    """Tell whether no process has the lock: one that was killed loses it last, after its name."""
    user = store_paths.user_store()
    claimed = user and lock.claim_lock(user, client.LOCK, 3)
    if claimed:
        os.close(claimed)
    return bool(claimed)


def ours(home: Path) -> list[int]:
    """List the processes that run with a home, but for this one."""
    found = []
    mark = f"HOME={home}".encode()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                told = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark in told:
                found.append(int(name))
    return found


def end_all(home: Path) -> None:
    """Leave no process behind."""
    for process in ours(home):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    where = client.address()
    if isinstance(where, str) and os.path.exists(where):
        os.remove(where)


@contextmanager
def inside(idle: float = 60.0) -> Iterator[Server]:
    """Run the service as a thread of this process."""
    server = Server(idle)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server._end("asked to stop")
        thread.join(LONG)
        assert not thread.is_alive()


def payload(
    folder: Path, event: str, prompt: str = "", session: str = "s1", **more: object
) -> bytes:
    told = {"session_id": session, "cwd": str(folder), "hook_event_name": event, "prompt": prompt}
    return json.dumps({"source": "startup", **told, **more}).encode()


def hook(data: bytes) -> str:
    """Answer a hook call as the hook does, but with time for the service; return what it prints."""
    out: list[bytes] = []
    call = HookCall(["claude"], data)
    if client.ask("hook", call.list_words(), data, LONG, out.append) is None:
        host_event.run(call, [".", ""], out.append, lambda _: None)
    return context(b"".join(out))


def asked(data: bytes) -> str | None:
    """Return what the service answers to a hook call; None if it leaves it to the hook."""
    found = client.ask("hook", HookCall(["claude"], data).list_words(), data, LONG)
    return None if found is None else context(found)


def answered(data: bytes) -> str:
    """Return what the service answers to a hook call, as soon as it leaves it to nobody else."""
    [answer] = until(lambda: [each for each in [asked(data)] if each is not None])
    return answer


def process(data: bytes, stdout: int = subprocess.PIPE, by: Command = commands.hook) -> str:
    """Return what the hook of the host prints, as a process."""
    done = subprocess.run(
        ["/bin/sh", "-c", by("claude")], input=data, stdout=stdout, check=True, timeout=30
    )
    return context(done.stdout or b"")


def context(printed: bytes) -> str:
    if not printed:
        return ""
    told: str = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    return told


def changed(place: Place, text: str, label: str = "system_rules") -> None:
    edit.run(place, [Append(label, text)], Origin())


def count_found(place: Place, word: str) -> int:
    """Count what the index as it is published holds of a word: nothing is read for that."""
    engine = OpenStore(place).get_engine("text")
    return len(engine.search(word, mode="text", only=Filter(), limit=9, offset=0).hits)


def log(home: Path) -> str:
    path = home / ".agent-memory/local" / service_status.LOG
    return path.read_text(encoding="utf-8") if path.exists() else ""


def begins(text: str) -> bool:
    return text.startswith("# Core memory (")
