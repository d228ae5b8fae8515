"""`memfs uninstall`, of all assistants at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs import hosts
from memfs.store.blocks import Place
from tests.cli.conftest import Run


@pytest.mark.usefixtures("place")
def test_a_dry_run_shows_what_then_happens_also_to_a_file_that_two_share(
    memfs: Run, repo: Path
) -> None:
    memfs("install", *hosts.NAMES, "--project")
    shared = repo / ".mcp.json"
    shown = memfs("uninstall", "--dry-run")
    assert f"Copilot CLI: {shared} would be removed" in shown.err
    assert f"--- {shared}" in shown.out
    assert shared.exists()
    assert str(shared) not in memfs("uninstall", "claude", "--dry-run").err, "Copilot's stay"
    would = [line.replace(" would be ", " ") for line in shown.err.splitlines()]
    assert memfs("uninstall").err.splitlines() == [f"✓ {line}" for line in would]
    assert sorted(path.name for path in repo.iterdir()) == [".agent-memory", ".git"]


def test_of_two_that_are_named_both_go(memfs: Run, place: Place, repo: Path) -> None:
    memfs("install", "claude", "copilot", "--project")
    shown = memfs("uninstall", "copilot", "claude", "--dry-run").err
    assert f"Claude Code: {repo}/.mcp.json would be removed" in shown
