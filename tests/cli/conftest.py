from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from memfs.cli import main


class Screen(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Run = Callable[..., Screen]


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
