"""Which session the process is in that started us."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.store import host_sessions
from memfs.store.blocks import Place

HOOK = [sys.executable, "-m", "memfs", "hook", "claude", "mcp"]


def start(repo: Path, session: str, *, shell: bool) -> None:
    """A session start of a host that is this process."""
    payload = {"session_id": session, "hook_event_name": "SessionStart", "cwd": str(repo)}
    words = ["sh", "-c", f"{' '.join(HOOK)}; true"] if shell else HOOK
    subprocess.run(words, input=json.dumps(payload).encode(), check=True, capture_output=True)


@pytest.mark.parametrize("shell", [False, True])
def test_a_server_finds_the_last_session_that_its_host_began(
    place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch, shell: bool
) -> None:
    if shell and not os.path.isdir("/proc/self"):
        pytest.skip("only Linux tells who started a shell")
    me = os.getpid()
    monkeypatch.setattr(os, "getppid", lambda: me)  # as a server sees it that we started
    assert host_sessions.session(place.home) == ""
    start(repo, "s-1", shell=shell)
    assert host_sessions.session(place.home) == "s-1"
    start(repo, "s-2", shell=shell)
    assert host_sessions.session(place.home) == "s-2"


def test_what_is_noted_of_processes_that_are_gone_goes(place: Place, repo: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    folder = Path(place.home.local) / "processes"
    folder.mkdir()
    (folder / str(gone.pid)).write_text("old")
    (folder / "no-number").write_text("somebody's")
    start(repo, "s-1", shell=False)
    names = {path.name for path in folder.iterdir()}
    assert str(gone.pid) not in names
    assert {"no-number", str(os.getpid())} <= names


def test_a_note_of_an_earlier_process_with_the_same_number_says_nothing(
    place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = os.getpid()
    monkeypatch.setattr(os, "getppid", lambda: me)
    start(repo, "s-1", shell=False)
    note = Path(place.home.local) / "processes" / str(me)
    note.write_text("s-0\nanother-boot 5\n")
    assert host_sessions.session(place.home) == ("" if os.path.isdir("/proc/self") else "s-0")
