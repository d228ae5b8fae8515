"""`memfs import` of what other tools keep, as a person reads it."""

import json
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.ops.test_import_files import LONG, auto_memory, put
from tests.ops.test_purge import SECRET


@pytest.fixture
def kept(place: Place, repo: Path, home: Path) -> Path:
    """A project with the memory of several tools; returns Claude Code's own."""
    put(repo, "CLAUDE.md", LONG + "See @docs/style.md\n")
    put(repo, "AGENTS.md", "Use pnpm.\n")
    put(repo, "CLAUDE.local.md", "My sandbox.\n")
    put(repo, ".cursor/rules/forms.mdc", f"the key is {SECRET}\n")
    put(auto_memory(repo, home), "debugging.md", "Run `rm -rf build` first.\n")
    return auto_memory(repo, home)


def test_what_is_there_is_listed_and_nothing_is_written(
    memfs: Run, kept: Path, home: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = f"~{str(kept).removeprefix(str(home))}"
    done = memfs("import")
    assert (
        done.out
        == f"""\
FILE             CHARACTERS  BECOMES
CLAUDE.md             6,705  6 passages; without @docs/style.md
CLAUDE.local.md              - private: add --user to import it into your own store
AGENTS.md                 9  block agents
.cursor/rules/
  forms.mdc                  - refused
{found}/
  debugging.md           25  block claude-memory/debugging
"""
    )
    assert (done.code, done.err) == (
        0,
        f"""\
! cannot import .cursor/rules/forms.mdc: line 1 looks like a secret (github-token)
! some of these files are not part of the project, and its store is committed to git; to keep them to yourself, add --user
→ memfs import . {found}
  imports all of these files; --dry-run previews it; to import only some, name them
""",
    )
    (repo / "src").mkdir()
    monkeypatch.chdir(repo / "src")
    assert f"→ memfs import .. {found}\n" in memfs("import").err
    assert memfs("show", "agents").code == 1


def test_what_is_taken_is_told(memfs: Run, kept: Path) -> None:
    dry = memfs("import", "AGENTS.md", str(kept), "--dry-run")
    assert "+Use pnpm.\n" in dry.out
    assert dry.err.endswith("✓ 2 blocks would be added, 0 already here\n")
    done = memfs("import", "AGENTS.md", str(kept))
    ident = json.loads(memfs("import", "--list", "--json").out)[0]["id"]
    assert (done.code, done.err) == (
        0,
        f"""\
! some of these files are not part of the project, and its store is committed to git; to keep them to yourself, add --user
! claude-memory/debugging: runs a command (lines 2, 8)
✓ 2 blocks added, 0 already here
  the blocks are not pinned, because most tools read these files themselves; pin one with memfs edit LABEL --pin
  check the result with memfs show or memfs search; undo one block with memfs undo LABEL
  undo the whole import: memfs import --undo {ident}
""",
    )
    assert memfs("show", "agents").out == "Use pnpm.\n"
    again = memfs("import", "AGENTS.md", str(kept))
    assert again.err == "✓ nothing added, 2 already here\n"
    assert again.out.count("already here") == 2
    assert (
        memfs("import", str(kept.parent), "--dry-run").err
        == "✓ nothing would be added, 1 already here\n"
    )


def test_what_is_refused_ends_with_1_and_the_rest_is_taken(memfs: Run, kept: Path) -> None:
    done = memfs("import", ".", "--json")
    assert done.code == 1
    assert SECRET not in done.out
    found = {each["path"]: each for each in json.loads(done.out)["files"]}
    assert found["AGENTS.md"] == {
        "path": "AGENTS.md",
        "label": "agents",
        "characters": 9,
        "block": True,
        "becomes": ["blocks/agents.md"],
        "imports": [],
        "left": "",
    }
    assert found[".cursor/rules/forms.mdc"]["left"] == "line 1 looks like a secret (github-token)"
    assert memfs("search", "Rule 3", "--tag", "claude").out.count("Guide > Part 3") == 1
    assert memfs("import", "--user", "CLAUDE.local.md").code == 0
    assert memfs("show", "user:claude-local/repo").out == "My sandbox.\n"


def test_of_a_folder_with_many_files_the_first_are_listed(
    memfs: Run, place: Place, repo: Path
) -> None:
    for number in range(20):
        put(repo, f"memory-bank/topic{number:02}.md", f"Topic {number}.\n")
    out = memfs("import", "memory-bank").out
    assert memfs("import").err == "✓ everything is already imported\n"
    assert out.count("block memory-bank/topic") == 12
    assert out.endswith("  … 8 more\n")


def test_nothing_to_import_and_wrong_use_are_said(memfs: Run, place: Place, repo: Path) -> None:
    assert memfs("import") == (
        0,
        "",
        "✓ found no memory of other tools; memfs import --help lists the places searched\n",
    )
    put(repo, "AGENTS.md", "Use pnpm.\n")
    both = memfs("import", "m.zip", "AGENTS.md")
    assert both.code == 2
    assert both.err.startswith(
        "error: m.zip has no .md, .mdc or .txt ending, so it is read as an export, which cannot be imported together with other paths\n"
    )
    assert memfs("import", "m.zip", "--pin").code == 2
