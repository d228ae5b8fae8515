import subprocess
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create, Replace
from memfs.core.errors import NotFoundError
from memfs.core.records import Origin
from memfs.ops import edit, history, init, show, undo
from memfs.store import block_history, blocks
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext
from tests.ops.clones import BOB, commit, git

RULES = ".agent-memory/blocks/system_rules.md"


def run(place: Place, *wanted: Append, at: str, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("MEMFS_NOW", at)
    edit.run(place, list(wanted), Origin("agent", "claude"))


@pytest.fixture
def shared(
    place: Place, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Place, Path]:
    """A block that memfs made and edited here, and a teammate (with no memfs) committed twice."""
    path = repo / RULES
    path.write_text("---\nlimit: 5000\n---\nfirst\nsecond\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "store", at="2026-05-03T10:00:00Z")
    run(place, Append("system_rules", "mine"), at="2026-05-04T10:00:00Z", patch=monkeypatch)
    git(repo, "commit", "-qam", "my rule", at="2026-05-04T11:00:00Z")
    git(tmp_path, "clone", "-q", str(repo), "bob")
    theirs = tmp_path / "bob" / RULES
    theirs.write_text(theirs.read_text().replace("first", "first, by Bob"))
    git(tmp_path / "bob", "commit", "-qam", "sharpen", who=BOB, at="2026-05-05T10:00:00Z")
    theirs.write_text(theirs.read_text() + "from Bob\n")
    git(tmp_path / "bob", "commit", "-qam", "one more", who=BOB, at="2026-05-06T10:00:00Z")
    git(repo, "pull", "-q", str(tmp_path / "bob"), "main")
    monkeypatch.setenv("MEMFS_NOW", "2026-05-07T10:00:00Z")
    return place, repo


def test_the_last_states_are_the_same_read_from_the_end(
    shared: tuple[Place, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, repo = shared
    run(place, Append("persona", "x"), at="2026-05-08T10:00:00Z", patch=monkeypatch)
    git(repo, "commit", "-qam", "late", at="2026-05-09T10:00:00Z")
    run(place, Append("human", "y"), at="2026-05-10T10:00:00Z", patch=monkeypatch)
    every = [each.id for each in history.log(place)]
    monkeypatch.setattr(block_history, "_TAIL", 10)
    for most in range(1, len(every) + 1):
        assert [each.id for each in history.log(place, limit=most)] == every[:most]


def test_edits_of_one_millisecond_are_listed_as_they_were_made(place: Place) -> None:
    for text in ("a", "b", "c"):
        edit.run(place, [Append("human", text)], Origin())
    for number, entry in enumerate(history.log(place, "human")):
        for path in (place.store("user").journal, f"{place.store('user').local}/heads.json"):
            text = Path(path).read_text()
            Path(path).write_text(text.replace(entry.id, f"01a1f9e6a279{number:08x}"))
    assert [entry.version for entry in history.log(place, "human")] == [4, 3, 2, 1]
    assert [entry.version for entry in history.log(place, "human", 2)] == [4, 3]


def test_log_joins_edits_and_commits_each_state_once(shared: tuple[Place, Path]) -> None:
    place, repo = shared
    ids = git(repo, "log", "--format=%H", "--", RULES).split()
    found = history.log(place, "system_rules")
    told = [(e.op, e.actor.partition(" <")[0], e.reason, e.commit) for e in found]
    assert told == [
        ("adopt", "Bob", f"commit {ids[0][:7]}: one more", ids[0]),
        ("commit", "Bob", "sharpen", ids[1]),
        ("append", "agent", "", ids[2]),
        ("adopt", "Tester", f"commit {ids[3][:7]}: store", ids[3]),
        ("create", "system", "memfs init", ""),
    ]
    assert len(history.log(place, "system_rules", 2)) == 2


def test_what_a_teammate_committed_can_be_compared_shown_and_restored(
    shared: tuple[Place, Path],
) -> None:
    place, repo = shared
    ids = git(repo, "log", "--format=%H", "--", RULES).split()
    text = history.diff(place, "system_rules", ids[1][:7]).text
    assert [line for line in text.splitlines() if line[:1] in "+-"][2:] == ["+from Bob"]
    assert show.run(place, "system_rules", ids[1][:7]).block.value == "first, by Bob\nsecond\nmine"
    undo.restore_version(place, "system_rules", ids[1][:7], Origin())
    assert blocks.get(place, "system_rules").value == "first, by Bob\nsecond\nmine"
    assert history.log(place, "system_rules")[0].reason == f"commit {ids[1][:7]}"
    assert history.log(place, "system_rules")[3].op == "append"
    assert show.run(place, "system_rules", "-3").block.value == "first\nsecond\nmine"
    assert show.run(place, "system_rules", "-2").block.value == "first, by Bob\nsecond\nmine"
    with pytest.raises(NotFoundError, match="no version or commit abcdef0"):
        show.run(place, "system_rules", "abcdef0")


def test_blame_names_who_brought_each_line(shared: tuple[Place, Path]) -> None:
    place, _ = shared
    found = [
        (line.text, line.source.actor.partition(" <")[0] if line.source else "")
        for line in history.blame(place, "system_rules")
    ]
    assert [who for text, who in found if "Bob" in text] == ["Bob", "Bob"]
    assert ("mine", "agent") in found


def test_blame_gives_back_a_line_to_whoever_wrote_it_first(place: Place) -> None:
    edit.run(place, [Append("human", "Name: Alice")], Origin("agent", "claude"))
    edit.run(place, [Replace("human", "Alice", "Bob")], Origin("user"))
    undo.undo_edit(place, "human", Origin("user"))
    [line] = history.blame(place, "human")
    assert line.source
    assert (line.text, line.source.actor, line.source.version) == ("Name: Alice", "agent", 2)


def test_in_a_clone_without_a_journal_git_tells_it_all(
    shared: tuple[Place, Path], tmp_path: Path
) -> None:
    place = blocks.find_place(str(tmp_path / "bob"))
    assert [e.op for e in history.log(place, "system_rules")] == ["commit"] * 4
    assert {e.label for e in history.log(place)} >= {"persona", "system_rules"}
    assert "+from Bob" in history.diff(place, "system_rules").text
    sources = (line.source for line in history.blame(place, "system_rules"))
    assert [each.actor[:3] for each in sources if each] == ["Bob", "Tes", "Tes", "Bob"]


def test_a_block_put_back_by_git_is_adopted_and_not_put_forward_again(
    shared: tuple[Place, Path],
) -> None:
    place, repo = shared
    before = (repo / RULES).read_bytes()
    assert history.log(place, "system_rules")[0].actor == "Bob <bob@example.invalid>"
    git(repo, "checkout", "-q", "HEAD~2", "--", RULES)
    old = (repo / RULES).read_bytes()
    assert old != before
    assert history.log(place, "system_rules")[0].op == "adopt"
    assert (repo / RULES).read_bytes() == old
    git(repo, "checkout", "-q", "HEAD", "--", RULES)
    history.log(place, "system_rules")
    (repo / RULES).write_text("stashed\n")
    git(repo, "stash", "-q")
    assert history.log(place, "system_rules")[0].op == "adopt"
    git(repo, "stash", "pop", "-q")
    found = history.log(place, "system_rules")[0]
    assert (found.op, found.actor, found.reason) == ("adopt", "user", "changed outside memfs")
    assert (repo / RULES).read_text() == "stashed\n"


def test_without_git_the_journal_alone_is_told(tmp_path: Path, home: Path) -> None:
    (tmp_path / "plain").mkdir()
    init.run(str(tmp_path / "plain"), str(home))
    place = blocks.find_place(str(tmp_path / "plain"))
    edit.run(place, [Append("persona", "x")], Origin())
    assert [entry.op for entry in history.log(place, "persona")] == ["append", "create"]
    assert [line.text for line in history.blame(place, "persona")][-1] == "x"


@pytest.mark.parametrize("folder", [".", "packages/one"])
@pytest.mark.parametrize("driver", [True, False])
def test_after_a_merge_every_state_has_the_label_of_a_block(
    tmp_path: Path, home: Path, folder: str, driver: bool
) -> None:
    """git leaves files beside a block where a file and a folder, or two renames, collide."""
    top = tmp_path / "merged"
    git(tmp_path, "init", "-q", "-b", "main", str(top))
    project = top / folder
    (project / ".agent-memory").mkdir(parents=True)
    (project / ".agent-memory/config.yaml").write_text("memfs: 1\n")
    init.run(str(project), str(home))
    place = blocks.find_place(str(project))
    assert place.home.top == str(project)
    if not driver:
        git(top, "config", "--unset", "merge.memfs.driver")
    edit.run(place, [Create("notes", "Notes", "one"), Create("services/api", "API")], Origin())
    notes, api = (project / ".agent-memory/blocks" / name for name in ("notes.md", "services"))
    commit(top, "store")
    git(top, "checkout", "-qb", "side")
    edit.run(place, [Append("services/api", "side")], Origin())
    notes.unlink()
    notes.mkdir()
    (notes / "deep.md").write_text("below\n")
    commit(top, "side")
    git(top, "checkout", "-q", "main")
    edit.run(place, [Append("services/api", "main")], Origin())
    notes.write_text(notes.read_text() + "by hand\n")
    git(top, "commit", "-qam", "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(top, "merge", "side")
    (api / "api.md.orig").write_text((api / "api.md").read_text())
    commit(top, "merged by hand")
    names = git(top, "ls-files").split()
    assert sum(name.endswith(("notes.md~HEAD", "api.md.orig")) for name in names) == 2
    known = {"notes", "services/api", "persona", "system_rules", "human"}
    assert {entry.label for entry in history.log(place)} == known
    git(tmp_path, "clone", "-q", str(top), "clone")
    there = blocks.find_place(str(tmp_path / "clone" / folder))
    assert {entry.label for entry in history.log(there)} == known
    assert history.log(there, "services/api")[0].reason == "merged by hand"


def test_the_log_of_all_blocks_has_those_of_sessions(place: Place, repo: Path) -> None:
    """Also where it is asked for outside a session."""
    context = ToolContext(str(repo), Origin("agent", "claude", "s1"))
    call = ToolCall("core_memory_append", {"label": "working", "content": "Step 1."})
    assert not calls.run(context, registry.built_in(), call).is_error
    newest = history.log(place, limit=1)[0]
    assert (newest.tier, newest.label, newest.session) == ("session", "working", "s1")
