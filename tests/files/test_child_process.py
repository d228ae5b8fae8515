"""Processes of this Python get no more than they need, and are found by nothing a project sets."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from memfs.files import child_process
from tests.files import printed_environment
from tests.service.running import until


def module(_: Path) -> object:
    return told_by(child_process.start_child(printed_environment.__name__))


def script(_: Path) -> object:
    return told_by(child_process.start_script(printed_environment.__file__))


def told_by(process: Popen[bytes]) -> object:
    assert process.stdout
    try:
        return json.loads(process.stdout.readline())
    finally:
        child_process.end_child(process)
        assert process.poll() is not None
        assert process.stdout.closed


def detached(path: Path, *, keys: bool = False) -> object:
    name, words = printed_environment.__name__, [str(path / "told")]
    assert child_process.spawn_detached(name, words, str(path), keys=keys)
    until((path / "told").exists)
    return json.loads((path / "told").read_text())


def detached_with_keys(path: Path) -> object:
    return detached(path, keys=True)


@pytest.mark.parametrize(
    ("start", "has_all"),
    [(module, True), (detached_with_keys, True), (script, False), (detached, False)],
)
def test_a_process_has_the_variables_that_it_needs_and_no_program_of_a_project(
    start: Callable[[Path], object],
    has_all: bool,
    repo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A child that reads transcripts looks for them where this process does."""
    monkeypatch.chdir(repo)
    monkeypatch.setenv("PATH", f"{repo}/bin:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(repo))
    for name in ("CODEX_HOME", "SOME_KEY", "MEMFS_INSIDE"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("MEMFS_MAX_BLOCKS", "9")
    found = start(tmp_path)
    assert isinstance(found, list)
    environment, is_isolated, leads_session = found
    assert environment["PATH"] == "/usr/bin:/bin"
    assert environment["MEMFS_MAX_BLOCKS"] == "9"
    assert environment["HOME"] == str(Path.home())
    names = {"CODEX_HOME", "SOME_KEY", "MEMFS_INSIDE"}
    assert names & {*environment} == (names if has_all else set())
    assert is_isolated
    assert leads_session


def test_what_cannot_be_started_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "none"))
    assert not child_process.spawn_detached("memfs.x", [], str(tmp_path))
    with pytest.raises(OSError, match="none"):
        child_process.start_child("memfs.x")
