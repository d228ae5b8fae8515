"""`memfs sync`, as a person or a build reads it."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("place")


def test_from_the_first_section_to_none(memfs: Run, repo: Path) -> None:
    assert memfs("sync") == (
        0,
        "",
        "✓ no file has a memfs section; to add one to AGENTS.md, run memfs sync agents\n",
    )
    assert memfs("sync", "--check").code == 0
    assert memfs("sync", "agents", "--check") == (
        1,
        "",
        "! AGENTS.md is out of date\nto update: memfs sync agents\n",
    )
    assert memfs("sync", "agents") == (0, "", "✓ AGENTS.md created\n")
    assert memfs("sync", "--check") == (0, "", "✓ AGENTS.md is up to date\n")
    assert memfs("sync", "--dry-run") == (0, "", "✓ AGENTS.md would be unchanged\n")
    memfs("edit", "system_rules", "--append", "Use httpx.")
    assert memfs("sync", "--check") == (
        1,
        "",
        "! AGENTS.md is out of date\nto update: memfs sync\n",
    )
    assert memfs("sync", "--dry-run") == (
        0,
        """\
--- a/AGENTS.md
+++ b/AGENTS.md
@@ -5,8 +5,8 @@
 *Your identity, role and way of working in this project. It defines who you are and how you respond.*
 I am this project's coding assistant, and I work together with the user.
 I keep my own memory: I save what will matter in later sessions and correct what is no longer true.
-## [SYSTEM_RULES] 0/5000 chars
+## [SYSTEM_RULES] 10/5000 chars
 *Technical constraints, requirements, decisions and rules of this project that you must follow. Update it when you learn about new ones.*
-(empty)
+Use httpx.
 Memory tools: memfs edit LABEL --append TEXT | --replace OLD NEW | --remove TEXT, memfs create LABEL TEXT --description WHAT, memfs archive add TEXT, memfs search QUERY
 <!-- memfs: end -->
""",
        "AGENTS.md would be updated\n",
    )
    assert "Use httpx." not in (repo / "AGENTS.md").read_text()
    assert memfs("sync") == (0, "", "✓ AGENTS.md updated\n")
    assert memfs("sync") == (0, "", "✓ AGENTS.md unchanged\n")
    assert "Use httpx." in (repo / "AGENTS.md").read_text()
    assert memfs("sync", "--remove", "--dry-run").err == "AGENTS.md would be removed\n"
    assert memfs("sync", "--remove") == (0, "", "✓ AGENTS.md removed\n")
    assert not (repo / "AGENTS.md").exists()


def test_json_for_a_build(memfs: Run, repo: Path) -> None:
    memfs("sync", "gemini")
    memfs("edit", "system_rules", "--append", "Use httpx.")
    shown = memfs("sync", "--check", "--json")
    assert (shown.code, shown.err) == (1, "")
    assert json.loads(shown.out) == [
        {"target": "gemini", "path": str(repo / "GEMINI.md"), "outcome": "updated"}
    ]
    assert json.loads(memfs("sync", "--json").out)[0]["outcome"] == "updated"
    assert memfs("sync", "--check", "--json").code == 0


def test_a_clone_that_nobody_trusted_can_be_checked(memfs: Run) -> None:
    memfs("sync", "agents")
    memfs("trust", "--revoke")
    assert memfs("sync", "--check").code == 0
    assert memfs("sync") == (
        1,
        "",
        (
            "error: you have not trusted this store, so assistants do not get its memory\n"
            "hint: review the store, and decide whether to trust it: memfs trust\n"
        ),
    )


def test_what_is_refused_is_said_with_the_line(memfs: Run, repo: Path) -> None:
    (repo / "AGENTS.md").write_text("# Ours\n<!-- memfs: begin -->\n")
    for words in ((), ("--check",), ("--remove",), ("agents",)):
        assert memfs("sync", *words) == (
            1,
            "",
            (
                "error: AGENTS.md: line 2 has <!-- memfs: begin -->, but <!-- memfs: end --> is missing; the file was not changed\n"
                "hint: keep one pair of these marks in the file, or none\n"
            ),
        )
    assert memfs("sync", "--check", "--remove").code == 2
    assert memfs("sync", "vim").code == 2


def test_an_edit_says_what_was_not_renewed(memfs: Run, repo: Path) -> None:
    memfs("sync", "agents")
    (repo / ".agent-memory/config.yaml").write_text("memfs: 1\nsync:\n  on_edit: true\n")
    assert memfs("edit", "system_rules", "--append", "a").err == (
        "✓ project:system_rules version 2: append, 1 of 5,000 characters\n"
    )
    assert memfs("sync", "--check").code == 0
    (repo / "AGENTS.md").chmod(0o444)
    assert memfs("edit", "system_rules", "--append", "b").err == (
        "✓ project:system_rules version 3: append, 3 of 5,000 characters\n"
        "  not synced: AGENTS.md is read-only\n"
    )
    (repo / ".agent-memory/config.yaml").write_text("memfs: 1\nsync:\n  on_edit: 3\n")
    assert "sync.on_edit is 3, expected true or false" in memfs("doctor").out


def test_the_hooks_of_git(memfs: Run, repo: Path) -> None:
    first, second = (repo / ".git/hooks" / name for name in ("pre-commit", "post-merge"))
    said = f"✓ {first} created\n✓ {second} created\n"
    assert memfs("sync", "--git-hook") == (0, "", said)
    assert memfs("sync", "--stage") == (0, "", "")
    assert memfs("sync", "--merged") == (0, "", "")
    memfs("sync", "agents")
    memfs("edit", "system_rules", "--append", "a")
    said = "✓ memfs: AGENTS.md was updated after the merge; commit the file\n"
    assert memfs("sync", "--merged") == (0, "", said)
    assert memfs("sync", "--merged") == (0, "", "")
    said = f"✓ {first} removed\n✓ {second} removed\n"
    assert memfs("sync", "--no-git-hook") == (0, "", said)
    for words in (("--git-hook", "--stage"), ("--stage", "agents"), ("--git-hook", "--check")):
        assert memfs("sync", *words).code == 2


def test_ones_own_store_on_a_second_machine(
    memfs: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = str(tmp_path / "memory.git")
    assert memfs("sync", "user") == (
        1,
        "",
        "error: your store has no remote\nhint: set a remote: memfs sync user --remote URL\n",
    )
    assert "synced" not in memfs("status").out
    assert memfs("sync", "user", "--remote", remote, "--dry-run").err == (
        "✓ would be sent: 1 block (human)\n"
    )
    assert not Path(remote).exists()
    assert memfs("sync", "user", "--remote", remote).err == "✓ sent: 1 block (human)\n"
    assert memfs("sync", "user").err == f"✓ up to date with {remote}\n"

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("MEMFS_HOME", str(tmp_path / "second"))
    memfs("init")
    memfs("edit", "user:human", "--append", "Name: Ann")
    assert memfs("sync", "user", "--remote", remote).err == "✓ merged: 1 block (human)\n"
    memfs("archive", "add", "--user", "The car is red.")
    memfs("create", "user:tools")
    assert "2 files changed since" in memfs("status").out.replace("\n", " ")
    memfs("sync", "user")
    assert json.loads(memfs("status", "--json").out)["synced"].endswith("; up to date")

    monkeypatch.delenv("MEMFS_HOME")
    monkeypatch.chdir(home)
    assert memfs("sync", "user").err == "✓ received: 1 passage, 2 blocks (human, tools)\n"
    found = json.loads(memfs("sync", "user", "--json").out)
    assert found == {
        "remote": remote,
        "left_out": {},
        **{key: [] for key in ("sent", "received", "merged", "deleted_there", "deleted_here")},
    }
    (home / ".agent-memory/blocks/tools.md").unlink()
    assert memfs("sync", "user", "--dry-run").err == (
        "✓ would be deleted on the remote: 1 block (tools)\n"
    )
    assert memfs("sync", "user").err == "✓ deleted on the remote: 1 block (tools)\n"
    assert "Name: Ann" in memfs("show", "user:human").out
    (home / ".agent-memory/blocks/Odd Name.md").write_text("x")
    assert memfs("sync", "user").err == (
        f"! left out blocks/Odd Name.md: not a file name that memfs uses\n✓ up to date with {remote}\n"
    )
    assert memfs("sync", "user", "--remove").err == "✓ your store is no longer synced\n"
    assert memfs("sync", "user", "--remove").err == "✓ your store is not synced: it has no remote\n"
    assert Path(remote, "HEAD").exists()


def test_one_store_is_synced_in_two_ways_and_not_at_once(
    memfs: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (["user", "agents"], ["user", "--check"], ["agents", "--remote", "x/y"]):
        assert memfs("sync", *words).code == 2
    assert memfs("sync", "--sessions").code == 2
    assert memfs("sync", "user", "--remote", "http://example.com/x").code == 2
    refused = memfs("sync", "user", "--remote", "https://ann:hunter2x@example.com/m.git")
    assert (refused.code, "hunter2x" in refused.err) == (1, False)
    monkeypatch.setenv("CLAUDECODE", "1")
    refused = memfs("sync", "user", "--remote", str(tmp_path / "m.git"))
    assert (refused.code, refused.err.splitlines()[0]) == (
        1,
        "error: only a person can set the repository to sync with, but this is a shell of claude",
    )
