"""`memfs source`: sources are added, listed, shown, indexed and removed."""

import json
import sys
from pathlib import Path

import pytest

from memfs.store import trust
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.terminal import type_into


@pytest.fixture
def docs(place: Place, repo: Path) -> Path:
    docs = repo / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Tea\n\nsteep at seventy degrees\n")
    (docs / "b.txt").write_text("words\n")
    return docs


def test_one_is_added_with_its_patterns_and_indexed(memfs: Run, docs: Path, repo: Path) -> None:
    done = memfs("source", "add", "docs", "docs", "--glob", "*.md", "--overlap", "0")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "✓ added the source 'docs' to ~/../repo/.agent-memory/config.yaml\n"
        "✓ docs: 1 file, 1 chunk; 1 left out (see memfs source show docs)\n"
    ).replace("~/../repo", str(repo))
    assert (
        (repo / ".agent-memory/config.yaml")
        .read_text()
        .endswith('sources:\n  docs:\n    paths: ["docs"]\n    glob: ["*.md"]\n    overlap: 0\n')
    )
    assert memfs("source", "list").out.split("\n")[1].split()[:5] == [
        "docs",
        "project",
        "1",
        "1",
        "1",
    ]
    shown = memfs("source", "show", "docs").out
    assert "chunk      1,500 characters, 0 repeated\n" in shown
    assert "left out   1: excluded by the patterns of the source\n" in shown


def test_json_is_whole(memfs: Run, docs: Path) -> None:
    (docs / "key.md").write_text("key = AKIA" + "IOSFODNN7EXAMPLF\n")
    added = json.loads(memfs("source", "add", "docs", "docs", "--json").out)
    listed = json.loads(memfs("source", "list", "--json").out)
    [synced] = json.loads(memfs("source", "sync", "docs", "--json").out)
    shown = json.loads(memfs("source", "show", "docs", "--json").out)
    assert listed == {"sources": [shown], "refused": []}
    assert synced == shown
    assert shown["index"] == added["index"]
    assert shown["paths"] == [str(docs)]
    assert shown["index"]["files_left_out"] == [
        {"file": "docs/key.md", "reason": "contains a secret"}
    ]


def test_the_name_of_a_file_forges_no_line(memfs: Run, docs: Path) -> None:
    (docs / "x\n✓ all is well.md").write_text("key = AKIA" + "IOSFODNN7EXAMPLF\n")
    memfs("source", "add", "docs", "docs")
    assert "             docs/x ✓ all is well.md\n" in memfs("source", "show", "docs").out


def test_ones_own_is_for_all_projects(memfs: Run, docs: Path, home: Path) -> None:
    (home / "notes").mkdir()
    assert memfs("source", "add", "notes", str(home / "notes"), "--user").code == 0
    text = (home / ".agent-memory/config.yaml").read_text()
    assert 'paths: ["~/notes"]' in text
    memfs("source", "add", "notes", "docs")
    listed = json.loads(memfs("source", "list", "--json").out)["sources"]
    assert [each["tier"] for each in listed] == ["project", "user"]
    assert memfs("source", "rm", "user:notes").code == 0
    assert memfs("source", "show", "notes").out.startswith("source     notes (project)\n")


def test_what_is_not_allowed_is_said(memfs: Run, docs: Path) -> None:
    assert memfs("source", "add", "docs", "/usr").err == (
        "error: /usr is outside of the project, whose configuration is shared with others\n"
        "hint: add the path to your own configuration: memfs source add --user\n"
    )
    assert memfs("source", "add", "docs", "gone").err.startswith(
        "error: there is no file or folder gone\n"
    )
    assert (
        "'a/b' cannot be the name of a source: a name cannot contain '/'"
        in memfs("source", "add", "a/b", "docs").err
    )
    assert memfs("source", "add", "docs", "docs", "--overlap", "900").err == (
        "error: 'docs' cannot be a source: 'overlap' is 900, expected 0 to half of 'chunk_size'\n"
    )
    memfs("source", "add", "docs", "docs")
    again = memfs("source", "add", "Docs", "docs")
    assert (again.code, again.err.split("\n")[0]) == (1, "error: a source 'docs' already exists")


def test_what_is_refused_is_listed_and_can_be_removed(memfs: Run, docs: Path, repo: Path) -> None:
    config = repo / ".agent-memory/config.yaml"
    before = config.read_text()
    config.write_text(f"{before}sources:\n  bad:\n    paths: [../x]\n")
    why = "sources.bad is not used: '../x' must not contain '..'"
    assert memfs("source", "list").err == f"! {config}: {why}\n"
    assert (
        f"{config}:{before.count(chr(10)) + 2}: {why}" in memfs("doctor").err + memfs("doctor").out
    )
    assert memfs("source", "sync", "bad").err.startswith(f"error: {config}: {why}\n")
    assert memfs("source", "rm", "bad").code == 0
    assert config.read_text() == before


def test_it_is_removed_with_its_index(memfs: Run, docs: Path, repo: Path) -> None:
    before = (repo / ".agent-memory/config.yaml").read_text()
    memfs("source", "add", "docs", "docs")
    assert (repo / ".agent-memory/local/sources/docs").is_dir()
    assert memfs("source", "rm", "docs").err.startswith("✓ removed the source 'docs' from ")
    assert not (repo / ".agent-memory/local/sources/docs").exists()
    assert (repo / ".agent-memory/config.yaml").read_text() == before
    assert memfs("source", "rm", "docs").err == (
        "error: there is no source 'docs'\nhint: list the sources: memfs source list\n"
    )
    assert memfs("source", "list").err == (
        "no sources; memfs source add NAME PATH adds a folder to searches\n"
    )


def test_doctor_names_what_is_missing_or_mostly_left_out(
    memfs: Run, docs: Path, repo: Path
) -> None:
    memfs("source", "add", "docs", "docs")
    found = memfs("doctor")
    assert "the source 'docs': 2 files, 2 chunks" in found.out + found.err
    assert "can be read by other users" not in found.out + found.err
    (docs / "bin").write_bytes(b"\0")
    memfs("source", "sync")
    found = memfs("doctor")
    assert "the source 'docs' leaves out 1 of 3 files (binary: 1)" in found.out + found.err
    docs.rename(repo / "moved")
    found = memfs("doctor")
    assert f"the source 'docs' has the path {docs}, which does not exist" in found.out + found.err


def test_a_project_that_is_not_trusted_is_not_indexed(
    place: Place, memfs: Run, docs: Path, repo: Path
) -> None:
    assert place.project
    trust.revoke_trust(place.project)
    words = [sys.executable, "-m", "memfs", "source", "add", "docs", "docs"]
    assert (
        "the source is not indexed until you trust the store: run memfs trust"
        in type_into(words, "", repo)[1]
    )
    assert not (repo / ".agent-memory/local/sources").exists()
