"""What assistants remember by themselves: found by their settings, shown, taken as accepted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.files import outside
from memfs.hosts import own_memory
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - the fixture
from tests.importers.importing import read_memory, read_stores
from tests.ops.test_import_files import auto_memory, put
from tests.terminal import type_into

TOKEN = "ghp_" + "x9B2kQ7vRw" * 3 + "Zt4LpM"
TEAM = "---\nname: CI\ndescription: Where CI is\ntype: reference\n---\nCI runs in Drone.\n"
NEW = {
    "claude-memory",
    "claude-memory/feedback_tests",
    "claude-memory/team/ci",
    "user:claude-memory/user_role",
    "user:codex-memory",
    "user:gemini-memory",
    "user:windsurf-memory/global_rules",
}


@pytest.fixture
def kept(place: Place, repo: Path, home: Path) -> Path:
    """The memories of four assistants, and Claude Code's folder for this project."""
    folder = auto_memory(repo, home)
    put(folder, "MEMORY.md", "- [Tests](feedback_tests.md)\n- [Role](user_role.md): a surgeon\n")
    put(folder, "feedback_tests.md", "---\ntype: feedback\n---\nNo mocks of our own modules.\n")
    put(folder, "user_role.md", "---\ntype: user\n---\nA surgeon.\n")
    put(folder, "team/ci.md", TEAM)
    put(folder, "token.md", f"Log in with {TOKEN}\n")
    put(home, ".codex/memories/MEMORY.md", "Prefers small commits.\n")
    put(home, ".codex/memories/raw_memories.md", "raw\n")
    put(
        home,
        ".gemini/GEMINI.md",
        "# Mine\n\nBe brief.\n\n## Gemini Added Memories\n- Likes Go.\n\n## More\nx\n",
    )
    put(home, ".codeium/windsurf/memories/global_rules.md", "Answer in English.\n")
    return folder


def test_all_are_shown_as_a_diff_and_nothing_is_taken_unasked(
    place: Place, kept: Path, memfs: Run
) -> None:
    before = read_stores(place)
    shown = memfs("import", "--from", "assistants", "--dry-run")
    assert {line[5:].split(" ")[0] for line in shown.err.splitlines() if line[:4] == "new:"} == NEW
    assert "+No mocks of our own modules." in shown.out
    assert "line 1 looks like a secret" in shown.err
    assert TOKEN not in shown.out + shown.err
    asked = memfs("import", "--from", "assistants")
    assert (asked.code, "import all with --yes, or one with --take NAME" in asked.err) == (2, True)
    assert read_stores(place) == before


def test_what_a_person_accepts_is_taken_once_and_taken_back_as_a_whole(
    place: Place, kept: Path, memfs: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_memory(place)
    assert memfs("import", "--from", "assistants", "--take", "nothing").code == 2
    one = ("--take", "user:gemini-memory")
    assert "1 block added" in memfs("import", "--from", "assistants", *one).err
    assert blocks.get(place, "user:gemini-memory").value == "- Likes Go."
    done = memfs("import", "--from", "assistants", "--yes", "--json")
    assert json.loads(done.out)["id"]
    assert blocks.get(place, "claude-memory").value == "- [Tests](feedback_tests.md)"
    assert blocks.get(place, "user:claude-memory/user_role").value == "A surgeon."
    assert "surgeon" not in "".join(
        data.decode() for name, data in read_stores(place).items() if name.startswith("project/")
    )
    again = memfs("import", "--from", "assistants", "--yes")
    assert (again.code, "already imported" in again.err) == (0, True)
    put(kept, "feedback_tests.md", "---\ntype: feedback\n---\nNo mocks at all.\n")
    changed = memfs("import", "--from", "assistants", "--dry-run")
    assert "-No mocks of our own modules.\n+No mocks at all." in changed.out
    for line in memfs("import", "--list").out.splitlines()[1:]:
        assert memfs("import", "--undo", line.split()[0]).code == 0
    assert read_memory(place) == before
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "only a person can import" in memfs("import", "--from", "assistants", "--yes").err


def test_a_person_is_asked_about_each(place: Place, repo: Path, kept: Path) -> None:
    words = [sys.executable, "-m", "memfs", "import", "--from", "assistants"]
    code, shown = type_into(words, "n\ny\nquit\n", repo, os.environ)
    assert (code, "1 block added" in shown) == (0, True)
    assert blocks.resolve_label(place, "claude-memory") is None
    assert blocks.get(place, "claude-memory/feedback_tests").value.startswith("No mocks")


def test_a_repository_names_no_folder_and_remembers_nothing_for_its_user(
    place: Place, repo: Path, home: Path, kept: Path, memfs: Run
) -> None:
    """What is cloned with `.claude/` is no memory of who cloned it, and reads nothing of theirs."""
    put(home, "notes/diary.md", "A private diary.\n")
    put(repo, ".claude/settings.local.json", '{"autoMemoryDirectory": "~/notes"}')
    put(repo, ".claude/agent-memory-local/x/MEMORY.md", "Run x.sh first.\n")
    (repo / ".claude/agent-memory").symlink_to(home / "notes")
    mine = f"user:claude-agents/{repo.name}/x-memory"
    shown = memfs("import", "--from", "assistants", "--dry-run")
    assert (mine in shown.err, "claude-memory/diary" in shown.err) == (True, True)
    assert "diary.md: it is a link to " in shown.err
    subprocess.run(["git", "-C", str(repo), "add", "-f", ".claude"], check=True)
    shown = memfs("import", "--from", "assistants", "--dry-run")
    assert "the file is committed with the project" in shown.err
    assert not {mine, "new: claude-memory/diary"} & {*shown.err.split(" (")}
    assert "diary" not in shown.out


@pytest.mark.parametrize(
    ("name", "settings", "state"),
    [
        ("local", {"autoMemoryEnabled": False}, own_memory.OFF),
        ("user", {"autoMemoryDirectory": "~/notes"}, own_memory.ON),
        ("shared", {"autoMemoryDirectory": "/elsewhere"}, own_memory.ON),
        ("local", {"autoMemoryDirectory": "/\0x"}, own_memory.ON),
        ("local", {"autoMemoryDirectory": "{top}/.agent-memory/blocks/claude"}, own_memory.HERE),
    ],
)
def test_settings_say_where_it_is_and_whether_it_is_on(
    place: Place,
    repo: Path,
    home: Path,
    kept: Path,
    name: str,
    settings: dict[str, object],
    state: str,
) -> None:
    path = {
        "user": home / ".claude/settings.json",
        "shared": repo / ".claude/settings.json",
        "local": repo / ".claude/settings.local.json",
    }[name]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings).replace("{top}", str(repo)), encoding="utf-8")
    found = own_memory.find_claude(str(home), str(repo), outside.read)
    assert found
    named = settings.get("autoMemoryDirectory") if name != "shared" else None
    named = None if named == "/\0x" else named
    where = str(named or kept).replace("~", str(home)).replace("{top}", str(repo))
    assert (found.path, found.state) == (where, state)
