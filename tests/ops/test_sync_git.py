"""git's hooks: sections are in step in a commit and after a merge, and nobody's changes are added."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.ops import doctor, edit, sync
from memfs.store import blocks, trust
from memfs.store.blocks import Place
from memfs.sync import githook, instruction_sections

BLOCKS = ".agent-memory/blocks"


def git(repo: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repo), *words], check=True, capture_output=True, text=True
    )
    return done.stdout + done.stderr


def add(place: Place, text: str) -> None:
    outcome = edit.run(place, [Append("system_rules", text)], Origin())
    assert isinstance(outcome, edit.Edited)


def outcomes(place: Place, *, remove: bool = False) -> list[str]:
    return [each.outcome for each in githook.run(place, remove=remove)]


@pytest.fixture
def hook(repo: Path) -> Path:
    return repo / ".git/hooks/pre-commit"


@pytest.fixture
def hooked(place: Place, repo: Path, hook: Path) -> Place:
    """A project with a section that is committed, our hook, and a block that changed since."""
    sync.run(place, ["agents"])
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "the store")
    assert outcomes(place) == ["created", "created"]
    add(place, "Use httpx.")
    return place


@pytest.mark.usefixtures("hooked")
def test_a_commit_of_a_block_has_the_section_too(repo: Path) -> None:
    git(repo, "add", BLOCKS)
    said = git(repo, "commit", "-m", "memory")
    assert "✓ memfs: AGENTS.md updated and added to the commit" in said
    assert "Use httpx." in git(repo, "show", "HEAD:AGENTS.md")
    assert git(repo, "status", "--porcelain") == ""
    (repo / "other.txt").write_text("x")
    git(repo, "add", "other.txt")
    assert "memfs" not in git(repo, "commit", "-m", "nothing of ours")


@pytest.mark.usefixtures("hooked")
def test_a_commit_of_all_that_changed_has_it_too(repo: Path) -> None:
    git(repo, "commit", "-qam", "memory")
    assert "Use httpx." in git(repo, "show", "HEAD:AGENTS.md")
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.usefixtures("hooked")
def test_what_a_person_did_not_stage_is_not_added(repo: Path) -> None:
    path = repo / "AGENTS.md"
    path.write_text("not yet\n" + path.read_text())
    git(repo, "add", BLOCKS)
    said = git(repo, "commit", "-m", "memory")
    assert "memfs did not stage AGENTS.md: the file has other changes" in said
    assert "Use httpx." not in git(repo, "show", "HEAD:AGENTS.md")
    assert "Use httpx." in path.read_text()
    git(repo, "commit", "-qam", "theirs too")
    assert git(repo, "show", "HEAD:AGENTS.md") == path.read_text()


@pytest.mark.usefixtures("hooked")
def test_a_block_that_is_not_staged_leaves_the_section_alone(repo: Path) -> None:
    (repo / "other.txt").write_text("x")
    git(repo, "add", "other.txt")
    before = (repo / "AGENTS.md").read_text()
    said = git(repo, "commit", "-m", "other")
    assert "AGENTS.md: .agent-memory/blocks/system_rules.md has changes that are not staged" in said
    assert git(repo, "show", "--name-only", "--format=", "HEAD") == "other.txt\n"
    assert (repo / "AGENTS.md").read_text() == before


@pytest.mark.usefixtures("hooked")
def test_a_commit_of_named_paths_takes_nothing_else(repo: Path) -> None:
    said = git(repo, "commit", "-m", "one", "--", BLOCKS)
    assert "git commits only the paths that you named" in said
    assert git(repo, "status", "--porcelain") == ""


def test_a_section_that_is_not_in_git_yet_is_not_added(hooked: Place, repo: Path) -> None:
    sync.run(hooked, ["gemini", "agents"])
    add(hooked, "And again.")
    git(repo, "add", BLOCKS, "AGENTS.md")
    git(repo, "commit", "-qm", "memory")
    assert "And again." in git(repo, "show", "HEAD:AGENTS.md")
    assert "And again." in (repo / "GEMINI.md").read_text()
    assert git(repo, "status", "--porcelain") == "?? GEMINI.md\n"


def test_a_commit_never_fails_for_it(hooked: Place, repo: Path) -> None:
    trust.revoke_trust(hooked.home)
    git(repo, "add", BLOCKS)
    assert "you have not trusted this store" in git(repo, "commit", "-m", "memory")
    trust.grant_trust(hooked.home)
    (repo / "AGENTS.md").write_text("<!-- memfs: begin -->\n")
    assert "is missing" in git(repo, "commit", "-am", "half")
    (repo / ".agent-memory/config.yaml").unlink()
    git(repo, "commit", "-qam", "no store")


def test_without_a_section_there_is_nothing_to_stage(place: Place) -> None:
    assert instruction_sections.stage_files(place) == instruction_sections.StagedSections((), ())


def test_a_hook_of_ours_alone_comes_and_goes(place: Place, hook: Path) -> None:
    assert outcomes(place, remove=True) == ["unchanged", "unchanged"]
    assert outcomes(place) == ["created", "created"]
    assert os.access(hook, os.X_OK)
    assert os.access(hook.with_name("post-merge"), os.X_OK)
    assert outcomes(place) == ["unchanged", "unchanged"]
    assert outcomes(place, remove=True) == ["removed", "removed"]
    assert not hook.exists()
    assert not hook.with_name("post-merge").exists()


def test_what_is_no_hook_of_ours_does_not_keep_ours_from_going(place: Place, hook: Path) -> None:
    githook.run(place)
    other = hook.with_name("post-merge")
    other.write_bytes(b"\x7fELF\0\0")
    assert outcomes(place, remove=True) == ["removed", "unchanged"]
    with pytest.raises(StoreError, match="not a shell script"):
        githook.run(place)
    assert not hook.exists()


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("#!/bin/sh", "echo theirs >&2; exit 3"),
        ("#!/usr/bin/env bash", "\n# end\nexec false\n"),
        ("#! /bin/sh", "exit 1\n"),
        ("#!/bin/sh -e", "exit 1\n"),
    ],
)
def test_a_hook_of_others_stays_and_is_run(
    hooked: Place, repo: Path, hook: Path, first: str, rest: str
) -> None:
    hook.write_text(f"{first}\n{rest}")
    assert outcomes(hooked) == ["updated", "unchanged"]
    assert outcomes(hooked) == ["unchanged", "unchanged"]
    git(repo, "add", BLOCKS)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        git(repo, "commit", "-m", "memory")
    assert "AGENTS.md updated" in failed.value.stderr
    assert ("theirs" in failed.value.stderr) == ("theirs" in rest)
    assert outcomes(hooked, remove=True) == ["updated", "removed"]
    assert hook.read_text() == f"{first}\n{rest}"
    assert hook.stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n", 0o755, "another"),
        ('#!/bin/sh\ncall_lefthook run "pre-commit"\n', 0o755, "another program"),
        ("#!/usr/bin/env python3\nprint(1)\n", 0o755, "not a shell script"),
        ("\x7fELF\0\0", 0o755, "not a shell script"),
        ("", 0o755, "not a shell script"),
        ("#!/bin/sh\nexit 0\n", 0o644, "is not executable"),
        ("#!/bin/sh\nexit 0\n", 0o555, "read-only"),
        ("#!/bin/sh\n# memfs: end\n", 0o755, "is missing"),
    ],
)
def test_a_hook_that_is_not_ours_to_write_is_refused(
    place: Place, hook: Path, text: str, mode: int, why: str
) -> None:
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(text)
    hook.chmod(mode)
    with pytest.raises(StoreError, match=why) as refused:
        githook.run(place)
    assert refused.value.hint
    assert hook.read_text() == text


def test_where_hooks_are_is_git_to_say(place: Place, repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "core.hooksPath", ".githooks")
    made = [each.path for each in githook.run(place)]
    assert made == [str(repo / ".githooks" / name) for name in ("pre-commit", "post-merge")]
    text = (repo / ".githooks/pre-commit").read_text()
    assert "then memfs sync --stage" in text
    assert str(tmp_path) not in text
    for folder in (".husky/_", str(tmp_path / "all")):
        git(repo, "config", "core.hooksPath", folder)
        with pytest.raises(
            StoreError, match=r"another program|outside of this repository"
        ) as refused:
            githook.run(place)
        assert "memfs sync --stage" in refused.value.hint
    assert not (tmp_path / "all").exists()


def test_a_linked_worktree_has_the_hook_of_the_repository(linked: Place, hook: Path) -> None:
    assert githook.run(linked)[0].path == str(hook)


def test_it_takes_a_repository_with_a_store_at_its_top(place: Place, tmp_path: Path) -> None:
    for start in (str(tmp_path), str(tmp_path / "home")):
        with pytest.raises(StoreError, match="top folder of a git repository"):
            githook.run(blocks.find_place(start))


@pytest.mark.usefixtures("hooked")
@pytest.mark.parametrize("said", ["core.autocrlf=true", "core.eol=crlf"])
def test_line_ends_of_the_working_tree_are_no_changes(repo: Path, said: str) -> None:
    git(repo, "config", *said.split("="))
    (repo / ".gitattributes").write_text("*.md text=auto\n" if "eol" in said else "")
    path = repo / "AGENTS.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    git(repo, "add", BLOCKS)
    assert "AGENTS.md updated and added" in git(repo, "commit", "-m", "memory")
    assert "Use httpx." in git(repo, "show", "HEAD:AGENTS.md")
    assert "\r" not in git(repo, "show", "HEAD:AGENTS.md")
    assert b"httpx.\r\n" in path.read_bytes()
    git(repo, "update-index", "-q", "--refresh")
    assert git(repo, "status", "--porcelain", "--", "AGENTS.md") == ""


@pytest.mark.usefixtures("hooked")
def test_a_file_with_a_filter_is_left_to_its_user(repo: Path, tmp_path: Path) -> None:
    (repo / ".gitattributes").write_text("AGENTS.md filter=crypt\n")
    git(repo, "config", "filter.crypt.clean", "cat")
    git(repo, "add", BLOCKS)
    git(repo, "config", "filter.crypt.clean", f"touch {tmp_path}/ran; cat")
    said = git(repo, "commit", "-m", "memory")
    assert "AGENTS.md: git filters the file with filter=crypt, which memfs does not run" in said
    assert "Use httpx." not in git(repo, "show", "HEAD:AGENTS.md")


@pytest.fixture
def parted(hooked: Place, repo: Path) -> Place:
    """Two branches with edits of a block, each with the section of its own side alone."""
    git(repo, "commit", "-qam", "base")
    git(repo, "checkout", "-qb", "side")
    add(hooked, "Side.")
    git(repo, "commit", "-qm", "side", "--no-verify", "--", BLOCKS)
    git(repo, "checkout", "-q", "main")
    return hooked


def test_a_merge_renews_the_section_and_says_so(parted: Place, repo: Path) -> None:
    said = git(repo, "merge", "--no-edit", "side")
    assert "✓ memfs: AGENTS.md was updated after the merge; commit the file" in said
    assert "Side." in (repo / "AGENTS.md").read_text()
    assert git(repo, "status", "--porcelain") == " M AGENTS.md\n"
    git(repo, "commit", "-qam", "section")
    git(repo, "checkout", "-qb", "more")
    (repo / "other.txt").write_text("x")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "nothing of ours")
    git(repo, "checkout", "-q", "main")
    assert "memfs" not in git(repo, "merge", "more")


def test_a_merge_never_fails_for_it(parted: Place, repo: Path) -> None:
    trust.revoke_trust(parted.home)
    before = (repo / "AGENTS.md").read_text()
    assert "you have not trusted this store" in git(repo, "merge", "--no-edit", "side")
    assert (repo / "AGENTS.md").read_text() == before
    trust.grant_trust(parted.home)
    git(repo, "checkout", "-q", "--orphan", "empty")
    git(repo, "rm", "-rqf", ".")
    git(repo, "commit", "-q", "--allow-empty", "-m", "no store")
    git(repo, "branch", "same")
    git(repo, "commit", "-q", "--allow-empty", "-m", "still none")
    git(repo, "checkout", "-q", "same")
    assert "memfs" not in git(repo, "merge", "empty")


def test_doctor_says_which_hook_is_not_run(place: Place, hook: Path, home: Path) -> None:
    def found() -> list[str]:
        return [each.text for each in doctor.run(place, str(home)) if "hooks/p" in each.text]

    assert found() == []
    githook.run(place)
    assert found() == []
    other = hook.with_name("post-merge")
    other.unlink()
    assert found() == [f"{other} does not contain the lines of memfs"]
    assert outcomes(place) == ["unchanged", "created"]
    hook.chmod(0o644)
    other.write_text(other.read_text().replace(sys.executable, "/gone/python"))
    assert found() == [
        f"{hook} is not executable, so git does not run it",
        f"{other} runs /gone/python, which no longer exists",
    ]
    hook.chmod(0o755)
    assert outcomes(place) == ["unchanged", "updated"]
    assert found() == []
