from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.agent.scripted_endpoint import Rule, ScriptedEndpoint
from tests.cli.conftest import memfs

__all__ = ["memfs"]

Serve = Callable[[Rule], ScriptedEndpoint]


@pytest.fixture(autouse=True)
def rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where conversations are played: in memory where that is possible, and empty afterwards."""
    shared = Path("/dev/shm")  # noqa: S108 - a folder of our own in it
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else tmp_path) as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)
        assert not list(Path(folder).iterdir())


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start endpoints that answer by a rule."""
    with ExitStack() as stack:
        yield lambda rule: stack.enter_context(ScriptedEndpoint(rule))


def configure(home: Path, text: str) -> None:
    """Write the user's own configuration."""
    (home / ".agent-memory" / "config.yaml").write_text(f"memfs: 1\n{text}")
