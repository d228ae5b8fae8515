"""Secrets that git has, and what a purge does about them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit, history, purge
from memfs.store.blocks import Place
from tests.ops.test_purge import MARK, SECRET, WRITE, commit, find, holding, project, put, replays


def test_git_history_is_named_by_its_commits(place: Place, home: Path, block_file: WRITE) -> None:
    top = project(place).top
    block_file("api", f"use {SECRET}\n")
    commit(top, "with")
    block_file("api", "use the vault\n")
    commit(top, "without")
    looked = find(place, home)
    assert looked.found == ()
    assert looked.unread == ()
    [found] = looked.commits
    subject = subprocess.run(
        ["git", "-C", top, "log", "-1", "--format=%s", found.commit],
        capture_output=True,
        check=True,
    )
    assert subject.stdout == b"with\n"
    assert (found.path, found.type) == (".agent-memory/blocks/api.md", "github-token")


def test_linked_worktrees_share_the_journal_and_are_redacted_too(
    linked: Place, place: Place
) -> None:
    edit.run(linked, [Append("persona", "in the linked one")], Origin())
    store = project(linked)
    path = Path(store.root, "blocks/persona.md")
    path.write_text(path.read_text() + f"use {SECRET}\n")
    history.log(linked)
    purge.run(place)
    assert f"use {MARK}" in path.read_text()
    assert holding(store.root) == holding(project(place).root) == []
    before = len(history.log(linked))
    assert len(history.log(linked)) == before
    replays(linked, store)


def test_it_is_committed_where_each_edit_is(place: Place, block_file: WRITE) -> None:
    store = project(place)
    put(f"{store.root}/config.yaml", "memfs: 1\ngit: {commit: edit, protected: []}\n")
    block_file("api", f"use {SECRET}\n")
    put(f"{store.root}/archive/2026-05/p1.md", SECRET)
    put(f"{store.top}/own.txt", "not ours")
    commit(store.top, "all")
    put(f"{store.top}/own.txt", "changed")
    assert purge.run(place).note == ""
    said = ["git", "-C", store.top, "show", "--name-only", "--format=%s"]
    done = subprocess.run(said, capture_output=True, check=True, text=True).stdout.split("\n")
    assert done[0] == "memory: secrets redacted"
    assert sorted(filter(None, done[1:])) == [
        ".agent-memory/archive/2026-05/p1.md",
        ".agent-memory/blocks/api.md",
    ]
