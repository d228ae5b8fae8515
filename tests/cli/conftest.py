import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from memfs.cli import main
from tests.hosts.transcript_lines import line


class Screen(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Run = Callable[..., Screen]
SESSION = "0a1b2c3d-1111-4222-8333-444455556666"


def write_session(path: Path, project: Path, *said: tuple[str, str]) -> Path:
    """Write a transcript of Claude Code: a session of what was said, (role, text) each."""
    lines = [
        line(role, text, f"u{number}", sessionId=SESSION, cwd=str(project),
             timestamp=f"2026-05-01T09:00:0{number}Z")
        for number, (role, text) in enumerate(said)
    ]  # fmt: skip
    path.write_bytes(b"".join(lines))
    return path


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have a script of the shell be the user's editor; its `$1` is the file."""

    def make(script: str) -> None:
        path = tmp_path / "editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("VISUAL", str(path))

    return make


@pytest.fixture
def memfs(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process, in the current folder."""

    def run(*arguments: str, stdin: str = "") -> Screen:
        monkeypatch.setattr(sys, "argv", ["memfs", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capfd.readouterr()
        code = main.main()
        out, err = capfd.readouterr()
        return Screen(code, out, err)

    return run
