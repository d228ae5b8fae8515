"""`memfs status` counts data sources, and says which are out of date."""

import json
import subprocess
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run


@pytest.fixture
def docs(place: Place, repo: Path) -> Path:
    assert place.project
    folder = repo / "docs"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nThe word is begonia.\n")
    with (repo / ".agent-memory/config.yaml").open("a") as config:
        config.write("sources:\n  guide:\n    paths: [docs]\n  bad:\n    paths: [../x]\n")
    return folder


def line(memfs: Run) -> str:
    (found,) = (each for each in memfs("status").out.splitlines() if "guide:" in each)
    return found


def test_sources_are_counted_and_stale_ones_named(memfs: Run, docs: Path) -> None:
    assert "0 files, 0 chunks; out of date" in line(memfs)
    memfs("search", "begonia")
    assert line(memfs).rstrip() == "data source    guide: 1 file, 1 chunk"
    (docs / "two.md").write_text("# Two\n\nThe word is petunia.\n")
    assert "1 file, 1 chunk; out of date until the next search" in line(memfs)
    found = json.loads(memfs("status", "--json").out)["sources"]
    assert found == [
        {
            "name": "guide",
            "tier": "project",
            "files": 1,
            "chunks": 1,
            "current": False,
            "kind": "source",
        }
    ]


def test_refused_sources_are_named(memfs: Run, docs: Path) -> None:
    assert docs.exists()
    assert "sources.bad is not used: '../x'" in " ".join(memfs("status").out.split())


def test_commits_are_counted(memfs: Run, docs: Path) -> None:
    assert docs.exists()
    assert "history" not in memfs("status").out
    words = ["git", "commit", "-q", "--allow-empty", "-m", "Cap the retries"]
    subprocess.run(words, check=True)
    lines = [line for line in memfs("status").out.splitlines() if line.startswith("history")]
    assert lines == ["history        0 commits; out of date until the next search"]
    assert "1 commit from this project" in memfs("ingest").err
    assert "history        1 commit\n" in memfs("status").out
