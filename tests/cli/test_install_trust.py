"""`memfs install codex --trust`."""

from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.hosts import fake_codex


def test_install_trusts_them_when_it_is_told_to(
    tmp_path: Path, memfs: Run, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex = fake_codex.put(tmp_path, monkeypatch)
    assert place.project
    assert "memfs install codex --trust, or use /hooks" in memfs("install", "codex").err
    assert codex.read_text() == "{}"
    *_, done, step = memfs("install", "codex", "--trust").err.splitlines()
    assert (done, step[:24]) == ("✓ Codex: 2 hooks trusted", "Now start a new session.")
    monkeypatch.setenv("CODEX_SESSION_ID", "s")
    refused = memfs("install", "codex", "--trust")
    assert (refused.code, "only a person can trust hooks" in refused.err) == (1, True)
