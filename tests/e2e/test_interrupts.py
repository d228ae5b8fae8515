"""The first Ctrl-C ends every command, wherever it is: nothing is half-written, nobody is left."""

import fcntl
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.e2e.program import LONG, git, run
from tests.forked import MEMFS
from tests.hosts.transcript_lines import conversation

WAITING = (  # for input, for a client, for whoever looks
    *("edit human --append -", "create x -", "apply", "mcp", "web --no-open", "import -"),
    *("static add x -", "archive add -", "rethink human --text -"),
)
WORKING = (
    *("ingest said.jsonl", "import notes", "search zephyr", "status", "log", "doctor --secrets"),
    *("export - --all", "recall zephyr", "facts extract", "source add n notes", "show", "demo"),
)


@pytest.fixture
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a store, a long transcript, and a folder of notes."""
    folder = tmp_path / "shop"
    (folder / "notes").mkdir(parents=True)
    monkeypatch.chdir(folder)
    git(folder, "init", "-q")
    run(folder, "init")
    (folder / "said.jsonl").write_bytes(conversation(4000))
    for number in range(200):
        text = f"# Note {number}\n\n" + "the zephyr gateway listens on 7741\n" * 20
        (folder / f"notes/n{number}.md").write_text(text)
    return folder


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [*MEMFS, *words],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def list_line(number: int) -> str:
    """Return the command line of a process, "" for one that ended."""
    try:
        return Path(f"/proc/{number}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def list_group(leader: int) -> dict[int, str]:
    """Return the processes that a program started, by number, and their command lines."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            above = path.joinpath("stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if leader in (int(above[1]), int(above[3])) and path.name != str(leader):
            found[int(path.name)] = list_line(int(path.name))
    return found


def wait_until_idle(process: subprocess.Popen[bytes]) -> None:
    """Return when a program waits for somebody: it sleeps, and has used no time meanwhile."""
    stat, still, before = Path(f"/proc/{process.pid}/stat"), 0, ("", "")
    deadline = time.monotonic() + LONG
    while still < 10 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
        try:
            values = stat.read_text().rpartition(")")[2].split()
        except OSError:  # no /proc here: a second is enough on an idle machine
            time.sleep(1)
            return
        now = (values[11], values[12])
        still = still + 1 if values[0] == "S" and now == before else 0
        before = now


def interrupt(process: subprocess.Popen[bytes]) -> str:
    """Press Ctrl-C once, and return what the program says while it ends."""
    below = list_group(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=LONG)
    said = (out + err).decode("utf-8", "replace")
    # Before `main` has begun, it is Python that ends with a trace.
    assert "Traceback" not in said or ", in main\n" not in said
    deadline = time.monotonic() + LONG
    while below and time.monotonic() < deadline:
        time.sleep(0.05)
        below = {number: line for number, line in below.items() if line == list_line(number) != ""}
    assert not below
    return said


def check_store(folder: Path) -> None:
    assert run(folder, "edit", "human", "--append", "mine")[0] == 0
    assert "mine" in run(folder, "show", "human")[1]
    code, said = run(folder, "doctor")
    assert code == 0, said
    assert not [*folder.glob(".agent-memory/**/.*.tmp")]


@pytest.mark.parametrize("line", WAITING)
def test_what_waits_ends(shop: Path, line: str) -> None:
    with started(shop, *line.split()) as process:
        wait_until_idle(process)
        if process.poll() is None:
            interrupt(process)
            # A page that does not serve yet ends as every command does.
            assert process.returncode in ((0, 130) if line.startswith("web") else (130,))
    check_store(shop)


@pytest.mark.parametrize("delay", [0.08, 0.3, 0.6])
def test_what_works_ends_and_is_whole(shop: Path, delay: float) -> None:
    """It may have ended before; where Python itself begins, the system ends it."""
    ended = 0
    for line in WORKING:
        with started(shop, *line.split()) as process:
            time.sleep(delay)
            if process.poll() is None:
                interrupt(process)
                assert process.returncode in (130, 0, -signal.SIGINT), line
                ended += process.returncode != 0
    assert ended
    check_store(shop)


def test_who_waits_for_a_lock_ends(shop: Path) -> None:
    with open(shop / ".agent-memory/local/lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with started(shop, "edit", "system_rules", "--append", "never") as process:
            wait_until_idle(process)
            interrupt(process)
    assert process.returncode == 130
    assert "never" not in run(shop, "show", "system_rules")[1]
    check_store(shop)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found by /proc")
@pytest.mark.parametrize("command", ["import", "ingest"])
def test_a_database_that_hangs_is_left(shop: Path, command: str) -> None:
    """The process that reads it does not answer, as it may in code of SQLite."""
    names = {"import": ("memories", "id, text"), "ingest": ("session", "id, directory")}
    with closing(sqlite3.connect(shop / "all.db")) as base:
        for name in (names[command][0], "message", "part", "observations", "sdk_sessions"):
            base.execute(
                f"CREATE TABLE {name} (id, text, directory, parent_id, time_updated,"
                " time_created, session_id, data)"
            )
            base.executemany(f"INSERT INTO {name} (id) VALUES (?)", [(n,) for n in range(40_000)])
        base.commit()
    with started(shop, command, "all.db") as process:
        deadline = time.monotonic() + LONG
        stopped = False
        while not stopped and process.poll() is None and time.monotonic() < deadline:
            for number, line in list_group(process.pid).items():
                if "database_reader" in line:
                    os.kill(number, signal.SIGSTOP)
                    stopped = True
        assert stopped
        time.sleep(0.3)
        began = time.monotonic()
        interrupt(process)
        assert time.monotonic() - began < 8, "it is not waited for"
    assert process.returncode == 130
    check_store(shop)
