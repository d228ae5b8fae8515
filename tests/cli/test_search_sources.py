"""`memfs search` shows where a hit stands in a data source, and the lines around it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from memfs.store import trust
from memfs.store.blocks import Place
from tests.cli.conftest import Run

GUIDE = """# Kettles

Intro.

## Descaling

A kettle is descaled with vinegar, once a month.
<private>
the name of the cat
</private>
The end.
"""


@pytest.fixture(autouse=True)
def guide(place: Place, repo: Path) -> Path:
    assert place.project
    path = repo / "docs/kettles.md"
    path.parent.mkdir()
    path.write_text(GUIDE)
    with (repo / ".agent-memory/config.yaml").open("a") as config:
        config.write("sources:\n  guide:\n    paths: [docs]\n")
    return path


def test_a_hit_is_headed_by_its_place(memfs: Run) -> None:
    shown = memfs("search", "descaled with vinegar", "-n", "1")
    assert (shown.code, shown.err) == (0, "")
    head, text, why = shown.out.splitlines()
    assert re.fullmatch(r"  1  docs/kettles\.md:\d+  source guide  Kettles.*", head)
    assert "A kettle is descaled with vinegar" in text
    assert "words: " in why


def test_a_commit_is_headed_by_its_id_day_and_author(memfs: Run) -> None:
    message = "Descale kettles weekly\n\nThe water of the new office is hard."
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", message], check=True)
    shown = memfs("search", "why descale weekly", "--in", "commits", "-n", "1")
    head, text, why = shown.out.splitlines()
    assert re.fullmatch(r"  1  commit [0-9a-f]{7}  2026-05-03  Tester", head)
    assert text == "     Descale kettles weekly The water of the new office is hard."
    assert "words: " in why
    assert memfs("search", "why descale weekly", "--open", "1").out.strip() == message


def test_a_search_can_be_for_sources_alone(memfs: Run) -> None:
    found = json.loads(memfs("search", "kettle persona", "--in", "sources", "--json").out)["hits"]
    assert {hit["kind"] for hit in found} == {"source"}
    assert found[0]["metadata"]["file"] == "docs/kettles.md"
    assert set(found[0]["metadata"]) == {"file", "heading", "line", "end"}
    others = memfs("search", "descaled with vinegar", "--in", "blocks", "--nearest", "--json")
    assert "source" not in {hit["kind"] for hit in json.loads(others.out)["hits"]}


def test_the_lines_around_a_hit_are_shown(memfs: Run) -> None:
    shown = memfs("search", "descaled with vinegar", "--in", "sources", "--open", "1")
    lines = shown.out.splitlines()
    assert "    1  # Kettles" in lines or ">  1  # Kettles" in lines
    assert ">  7  A kettle is descaled with vinegar, once a month." in lines
    assert "cat" not in shown.out
    assert lines[-1].split("  ")[-1].strip() in ("", "The end.")
    hit = json.loads(
        memfs("search", "descaled with vinegar", "--in", "sources", "--open", "1", "--json").out
    )
    assert hit["kind"] == "source"


def test_the_chunk_is_shown_where_its_file_is_gone(memfs: Run, guide: Path) -> None:
    memfs("search", "descaled with vinegar")
    guide.chmod(0)
    guide.unlink()
    guide.parent.joinpath("other.md").write_text("# Other\n\nVinegar for the kettle.\n")
    shown = memfs("search", "vinegar for the kettle", "--in", "sources", "--open", "1")
    assert "Vinegar for the kettle." in shown.out


def test_nothing_is_found_without_sources(memfs: Run, repo: Path) -> None:
    (repo / ".agent-memory/config.yaml").write_text("memfs: 1\n")
    shown = memfs("search", "vinegar", "--in", "sources")
    assert (shown.code, shown.out) == (0, "")
    assert "there are no sources here" in shown.err


def test_why_no_commits_are_read_is_told(
    memfs: Run, repo: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> str:
        shown = memfs("search", "vinegar", "--in", "commits")
        assert (shown.code, shown.out) == (0, "")
        return shown.err.splitlines()[-1]

    assert ask() == "no hits"
    monkeypatch.setenv("MEMFS_GIT_HISTORY", "off")
    assert ask().startswith("commits are not searched: git.history is off (set it to auto")
    monkeypatch.delenv("MEMFS_GIT_HISTORY")
    assert place.project
    trust.revoke_trust(place.project)
    assert ask().startswith("commits are not searched: the store is not trusted")
    trust.grant_trust(place.project)
    (repo / ".git").rename(repo / "git")
    assert ask() == "commits are not searched: the project is not in a git repository"
    monkeypatch.chdir(Path.home())
    assert ask() == "commits are not searched: there is no project store here"
