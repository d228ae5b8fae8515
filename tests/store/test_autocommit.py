from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create, Delete, Edit, Rejected, Rename
from memfs.core.errors import StoreError
from memfs.core.events import END, Event
from memfs.core.records import Origin
from memfs.ops import archive, edit, session_end, undo
from memfs.ops.edit import Edited
from memfs.store import journal
from memfs.store.blocks import Place
from tests.store.conftest import configure, git

AGENT = Origin("agent", "claude", "s-123", "Alice said so")


def change(place: Place, *wanted: Edit, origin: Origin = AGENT) -> str:
    outcome = edit.run(place, list(wanted), origin)
    assert isinstance(outcome, edit.Edited)
    return outcome.note


def heads(repo: Path) -> int:
    return int(git(repo, "rev-list", "--count", "HEAD"))


def test_nothing_is_committed_unless_asked(place: Place, work: Path) -> None:
    configure(place, "")
    assert change(place, Append("persona", "x")) == ""
    assert heads(work) == 1


def test_an_edit_is_committed_with_its_reason_and_who_made_it(place: Place, work: Path) -> None:
    assert change(place, Append("persona", "Be brief.")) == ""
    assert git(work, "log", "-1", "--format=%B").strip() == (
        "Alice said so\n\nMemfs-Op: append\nMemfs-Actor: agent (claude)\nMemfs-Session: s-123"
    )
    assert git(work, "log", "-1", "--format=%(trailers:key=Memfs-Op,valueonly)").strip() == "append"
    assert git(work, "show", "--name-only", "--format=").split() == [
        ".agent-memory/blocks/persona.md"
    ]
    assert git(work, "status", "--porcelain") == ""


def test_what_is_staged_stays_staged_and_nothing_else_is_taken(place: Place, work: Path) -> None:
    (work / "code.py").write_text("print(1)\n")
    (work / "new.py").write_text("staged\n")
    (work / "other.py").write_text("untracked\n")
    git(work, "add", "code.py", "new.py")
    (work / "code.py").write_text("print(2)\n")
    before = git(work, "diff", "--cached", "--", "code.py", "new.py")
    change(place, Append("persona", "x"), Create("api", "The API", "JSON"))
    assert git(work, "show", "--name-only", "--format=").split() == [
        ".agent-memory/blocks/api.md",
        ".agent-memory/blocks/persona.md",
    ]
    assert git(work, "diff", "--cached", "--", "code.py", "new.py") == before
    assert git(work, "status", "--porcelain").splitlines() == [
        "MM code.py",
        "A  new.py",
        "?? other.py",
    ]


def test_creating_renaming_deleting_and_undoing_are_committed(place: Place, work: Path) -> None:
    change(place, Create("api", "The API", "JSON"))
    change(place, Rename("api", "services/api"))
    change(place, Delete("services/api"))
    assert undo.undo_edit(place, "services/api", AGENT).note == ""
    assert undo.restore_version(place, "services/api", "2", AGENT).note == ""
    kept = archive.run(place, "Deploys are on Fridays.", importance=5, tags=(), origin=AGENT)
    assert kept.note == ""
    assert git(work, "status", "--porcelain") == ""
    assert heads(work) >= 6


def test_main_is_protected_unless_allowed(place: Place, work: Path) -> None:
    git(work, "checkout", "-q", "main")
    assert change(place, Append("persona", "x")) == (
        "not committed: the branch 'main' is protected (git.protected)"
    )
    assert heads(work) == 1
    configure(place, "git:\n  commit: edit\n  protected: [release/*]\n")
    assert change(place, Append("persona", "y")) == ""
    git(work, "checkout", "-qb", "release/2")
    assert "'release/2' is protected" in change(place, Append("persona", "z"))


def test_during_a_merge_or_without_a_branch_nothing_is_committed(place: Place, work: Path) -> None:
    git(work, "checkout", "-q", "--detach")
    assert change(place, Append("persona", "x")) == "not committed: no branch is checked out"
    git(work, "checkout", "-q", "work")
    (work / ".git" / "MERGE_HEAD").write_text(git(work, "rev-parse", "HEAD"))
    assert change(place, Append("persona", "y")) == "not committed: a merge is in progress"
    assert heads(work) == 1


def test_no_hook_runs_nothing_is_signed_and_the_environment_of_a_hook_is_ignored(
    place: Place, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pre-commit", "commit-msg", "post-commit", "prepare-commit-msg"):
        hook = work / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        hook.chmod(0o755)
    git(work, "config", "commit.gpgSign", "true")
    git(work, "config", "gpg.program", f"touch {tmp_path}/signed; false")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert change(place, Append("persona", "x")) == ""
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert heads(work) == 2
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "signed").exists()
    assert not (tmp_path / "index").exists()


def test_who_has_no_name_is_told_and_the_edit_stands(place: Place, work: Path) -> None:
    git(work, "config", "--unset", "user.name")
    git(work, "config", "--unset", "user.email")
    git(work, "config", "user.useConfigOnly", "true")
    note = change(place, Create("api", "The API", "JSON"))
    assert note.startswith("not committed: fatal: ")
    assert git(work, "diff", "--cached", "--name-only") == ""
    assert heads(work) == 1


def test_somebody_elses_lock_on_the_index_is_told(place: Place, work: Path) -> None:
    (work / ".git" / "index.lock").write_text("")
    assert "index.lock" in change(place, Append("persona", "x"))
    assert heads(work) == 1


def test_odd_characters_in_a_reason_stay_out_and_secrets_are_refused(
    place: Place, work: Path
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    secret = Origin("agent", "claude", "s1", f"use {token[:40]}")
    refused = edit.run(place, [Append("persona", "x")], secret)
    assert isinstance(refused, Rejected)
    assert "a secret" in refused.message
    origin = Origin("agent", "claude", "s\n1", "so \x1b[31m\nand more")
    change(place, Append("persona", "x"), origin=origin)
    message = git(work, "log", "-1", "--format=%B")
    assert "\x1b" not in message
    assert message.strip().splitlines()[-1] == "Memfs-Session: s 1"


def test_a_store_that_git_ignores_or_does_not_know_is_left_alone(
    place: Place, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_GIT_COMMIT", "edit")
    assert change(place, Append("user:human", "Name: Alice")) == ""
    assert heads(work) == 1


def test_a_repository_does_not_commit_in_its_users_own(place: Place, work: Path) -> None:
    assert place.user
    home = Path(place.user.root)
    for words in (
        ["init", "-qb", "work"],
        ["add", "-A"],
        ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"],
    ):
        git(home, *words)
    change(place, Append("user:human", "Name: Alice"))
    assert heads(home) == 1


def finish(repo: Path) -> None:
    session_end.run(Event("claude", END, "SessionEnd", "s-123", str(repo)))


def test_a_session_is_committed_when_it_ends(place: Place, work: Path) -> None:
    configure(place, "git:\n  commit: session\n")
    (work / "code.py").write_text("print(1)\n")
    here = Place(place.project, place.user, "s-123")
    change(here, Append("persona", "x"))
    change(here, Create("session:working", "Scratch", "first"))
    archive.run(place, "Deploys are on Fridays.", importance=5, tags=(), origin=AGENT)
    assert heads(work) == 1
    finish(work)
    assert heads(work) == 2
    message = git(work, "log", "-1", "--format=%B")
    assert message.startswith("memory: session s-123\n\n- append persona: Alice said so\n\n")
    assert "Memfs-Op: session\nMemfs-Actor: agent (claude)\nMemfs-Session: s-123" in message
    assert git(work, "status", "--porcelain").splitlines() == [" M code.py"]
    finish(work)
    assert heads(work) == 2


def test_a_session_that_cannot_be_committed_says_so(place: Place, work: Path) -> None:
    configure(place, "git:\n  commit: session\n")
    git(work, "checkout", "-q", "main")
    change(place, Append("persona", "x"))
    with pytest.raises(StoreError, match="'main' is protected"):
        finish(work)


def test_a_session_that_is_named_by_a_secret_is_so_nowhere(place: Place, work: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    origin = Origin("agent", "claude", secret)
    assert isinstance(edit.run(place, [Append("persona", "x")], origin), Edited)
    assert "Memfs-Session: [redacted:github-token]" in git(work, "log", "-1", "--format=%B")
    assert {entry.session for entry in journal.read(place.home)} >= {"[redacted:github-token]"}
    assert secret not in Path(place.home.journal).read_text()


def test_a_file_with_a_secret_that_an_editor_wrote_is_left_out(place: Place, work: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    path = work / ".agent-memory/blocks/persona.md"
    path.write_text(f"{path.read_text()}key: {token}\n")
    note = change(place, Append("persona", "one"), Append("system_rules", "two"))
    assert note == "not committed: blocks/persona.md contains a secret"
    configure(place, "git:\n  commit: session\n")
    with pytest.raises(StoreError, match=r"^not committed: blocks/persona.md contains a secret$"):
        session_end.run(Event("claude", END, "SessionEnd", "s-123", str(work)))
    assert heads(work) == 3
    assert token not in git(work, "log", "-p")
    assert "two" in git(work, "log", "-p")
    git(work, "commit", "-qam", "by the user")
    configure(place, "git:\n  commit: edit\n")
    assert change(place, Append("persona", "three")) == "", "git has it anyway"
