"""The user's own store on two machines: both end alike, and no line is lost."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create
from memfs.core.errors import LockedError, RejectedError, StoreError, UsageError
from memfs.core.records import Fact, Identity, Origin
from memfs.ops import edit, purge, sessions, sync_user, undo
from memfs.ops.sync_user import SyncOutcome
from memfs.store import facts, git, lock, recall, remote_store
from tests.ops.machines import World, make_world, memory, put, root, run, say


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_what_each_wrote_is_on_both(world: World) -> None:
    one, two, remote = world
    edit.run(one, [Append("human", "Name: Ann"), Create("tools", "uv")], Origin())
    edit.run(two, [Append("human", "Likes tabs.")], Origin())
    put(one, "facts/2026-05.jsonl", '{"id": "a"}\n')
    put(two, "facts/2026-05.jsonl", '{"id": "b"}\n')
    put(two, "archive/2026-05/b.md", "from two\n")
    first = sync_user.run(one, remote)
    assert first.sent == ["blocks/human.md", "blocks/tools.md", "facts/2026-05.jsonl"]
    planned = sync_user.run(two, remote, write=False)
    assert remote_store.load_state(two.store("user")) is None
    second = sync_user.run(two, remote)
    assert planned == second
    assert second.merged == ["blocks/human.md", "facts/2026-05.jsonl"]
    assert (second.received, second.sent) == (["blocks/tools.md"], ["archive/2026-05/b.md"])
    assert sync_user.run(one).received == ["archive/2026-05/b.md", *second.merged]
    assert memory(one) == memory(two)
    assert {"Name: Ann", "Likes tabs."} <= set(memory(one)["blocks/human.md"].splitlines())
    assert memory(one)["facts/2026-05.jsonl"].count("\n") == 2
    quiet = sync_user.run(two)
    assert quiet == SyncOutcome(remote)


def test_what_came_in_is_undone_on_either_machine(world: World) -> None:
    one, two, remote = world
    world.sync(one, two)
    edit.run(one, [Append("human", "Name: Ann")], Origin())
    world.sync(one, two)
    assert undo.undo_edit(two, "human", Origin()).undone.reason == f"synced with {remote}"
    world.sync(two, one)
    assert memory(one) == memory(two)
    assert "Ann" not in memory(one)["blocks/human.md"]
    (root(one) / "blocks/human.md").unlink()
    world.sync(one, two)
    assert memory(one) == memory(two) == {}
    undo.undo_edit(two, "user:human", Origin())
    world.sync(two, one)
    assert list(memory(one)) == ["blocks/human.md"]


def test_a_change_outlives_a_deletion(world: World) -> None:
    one, two, _ = world
    for label in ("both", "kept", "gone"):
        edit.run(one, [Create(label, "text")], Origin())
    world.sync(one, two)
    for label in ("kept", "gone"):
        (root(one) / f"blocks/{label}.md").unlink()
    edit.run(two, [Append("kept", "more")], Origin())
    world.sync(one)
    planned = sync_user.run(two, write=False)
    assert (planned.deleted_here, planned.deleted_there) == (["blocks/gone.md"], [])
    world.sync(two, one)
    assert memory(one) == memory(two)
    assert "more" in memory(one)["blocks/kept.md"]
    assert "blocks/gone.md" not in memory(one)


def test_sessions_go_where_they_are_asked_for(world: World) -> None:
    one, two, _ = world
    say(one, "s1", "hello")
    world.sync(one)
    world.sync(two, sessions=False)
    assert not any("recall" in name for name in memory(two))
    world.sync(two)
    assert memory(two) == memory(one)
    say(one, "s1", "hello", "again")
    say(two, "s1", "hello", "from two")
    world.sync(one, two, one)
    assert memory(one) == memory(two)
    said = [each.text for each in recall.messages(recall.sources(one.store("user"))[0])]
    assert sorted(said) == ["again", "from two", "hello"]
    say(one, "s1", "hello", "again", "a third time")  # its transcript is read on
    (path,) = recall.sources(one.store("user"))
    assert len(Path(path).read_bytes().splitlines()) == 4
    elsewhere = f"{world.remote}.2"
    assert "recall/claude/s1.jsonl" in sync_user.run(one, elsewhere).sent
    assert not any("state" in name for name in run(world.remote, "ls-tree", "-r", "main").split())


def test_a_session_that_was_forgotten_is_forgotten_everywhere(world: World) -> None:
    one, two, remote = world
    say(one, "s1", "my birthday")
    world.sync(one, two)
    store = two.store("user")
    fact = Fact("f1", "my birthday", 0.9, "fact", host="claude", session="s1")
    facts.write_facts(store, [fact])
    index = put(two, "local/index/v5/text", "my birthday")
    recall.forget(one.store("user"), "claude", "s1")
    recall.forget(one.store("user"), "codex", "s2")  # an assistant that the other has not
    say(two, "s1", "my birthday", "more of it")
    world.sync(one, two, one)
    assert recall.sources(store) == []
    assert (facts.load_facts(store), index.exists()) == ({}, False)
    assert recall.RecallLog(two.store("user"), "claude", Identity("s1", "")).is_forgotten()
    assert "s1.jsonl" not in run(remote, "ls-tree", "-r", "--name-only", "main")
    assert memory(one) == memory(two)


def test_what_a_session_says_of_itself_leads_nowhere(world: World, tmp_path: Path) -> None:
    say(world.one, "s1", "hello")
    world.sync(world.one)
    outside = tmp_path / "outside/pkg.jsonl"
    outside.parent.mkdir()
    outside.write_text("mine")
    line = memory(world.one)["recall/claude/s1.jsonl"].replace('"s1"', '"pkg"')
    line = line.replace('"claude"', '"../../../../../outside"')
    fill(world.remote, {"recall/claude/s2.jsonl": line})
    world.sync(world.one)
    found = sessions.list_sessions(world.one)
    assert {(each.host, each.id) for each in found} == {("claude", "s1"), ("claude", "s2")}
    assert sessions.forget_sessions(world.one, found, Origin()).messages == 2
    assert (recall.sources(world.one.store("user")), outside.read_text()) == ([], "mine")


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:hunter2x@example.com/m.git",
        "HTTPS://ann:hunter2x@example.com/m.git",
        "https://ann:h/hunter2x@example.com/m.git",
        "ann:hunter2x@example.com:m.git",
        "https://ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R@github.com/m",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(RejectedError) as raised:
        remote_store.parse_address(address)
    said = raised.value.message + raised.value.hint
    assert "hunter2x" not in said
    assert "ghp_" not in said


@pytest.mark.parametrize(
    "address",
    [
        *("ext::sh -c 'touch x'", "http://example.com/m.git", "git://example.com/m.git", "memory"),
        *("--upload-pack=x", "ssh://-oProxyCommand=x/m", "-oProxyCommand=x:m", "a\nb/c", ""),
        *("fd::3", "/nowhere/at/all", "file:///nowhere/at/all"),
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError):
        remote_store.parse_address(address)


def test_addresses_of_hosts_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for known in ("git@example.com:me/m.git", "https://ann@example.com/m", "ssh://h:22/m"):
        assert remote_store.parse_address(known) == known
    monkeypatch.chdir(tmp_path)
    for folder in ("./m.git", f"file://{tmp_path}/m.git", f"{tmp_path}/m.git"):
        assert remote_store.parse_address(folder) == str(tmp_path.resolve() / "m.git")


def test_a_remote_that_does_not_answer_changes_nothing(world: World, tmp_path: Path) -> None:
    world.sync(world.one, world.two)
    put(world.one, "archive/2026-05/a.md", "text\n")
    before = memory(world.one)
    away = tmp_path / "away"
    Path(world.remote).rename(away)
    (tmp_path / "remote.git").write_text("none")
    with pytest.raises(StoreError, match=r"git ls-remote failed for .*remote\.git"):
        world.sync(world.one)
    assert memory(world.one) == before
    (tmp_path / "remote.git").unlink()
    away.rename(world.remote)
    world.sync(world.one, world.two)
    assert memory(world.two) == before


def fill(remote: str, files: dict[str, str], links: dict[str, str] | None = None) -> None:
    """Commit files and links on top of what a remote has, as another program does."""
    clone = f"{remote}.clone"
    shutil.rmtree(clone, ignore_errors=True)
    run(".", "clone", "-q", remote, clone)
    for name, text in files.items():
        path = Path(clone, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, target in (links or {}).items():
        Path(clone, name).unlink(missing_ok=True)
        Path(clone, name).symlink_to(target)
    run(clone, "add", "-A", "-f")
    run(clone, "commit", "-qm", "by hand")
    run(clone, "push", "-q", "origin", "HEAD:main")


def test_a_repository_of_something_else_is_refused(world: World) -> None:
    git.make(world.remote, bare=True)
    fill(world.remote, {"src/app.py": "print()"})
    with pytest.raises(StoreError, match=r"contains files that are not memory: src/app\.py"):
        world.sync(world.one)
    assert run(world.remote, "rev-list", "--count", "main").strip() == "1"
    run(world.remote, "branch", "-m", "main", "master")
    with pytest.raises(StoreError, match="has no branch 'main', only master"):
        world.sync(world.one)


def test_one_that_was_begun_with_a_readme_is_taken(world: World) -> None:
    git.make(world.remote, bare=True)
    fill(world.remote, {"README.md": "my memory"})
    world.sync(world.one, world.two)
    assert memory(world.one) == memory(world.two)
    assert run(world.remote, "show", "main:README.md") == "my memory"
    assert not (root(world.one) / "README.md").exists()


def test_nothing_foreign_is_written_followed_or_run(world: World, tmp_path: Path) -> None:
    one, two, remote = world
    edit.run(one, [Create("tools", "uv")], Origin())
    world.sync(one, two)
    ran = tmp_path / "ran"
    bad = dict.fromkeys(
        [
            *("blocks/.hidden.md", "blocks/UP.md", "blocks/a/b/c/d.md", "blocks/notes.txt"),
            *("local/journal.jsonl", "recall/claude/s.state.json", "hooks/post-checkout"),
            *("config.yaml", "prompts/deep/x.md", ".memfs/x.md", "evil.md"),
        ],
        "llm: {command: x}",
    )
    bad[".gitattributes"] = "* filter=evil merge=evil"
    fill(remote, bad, {"blocks/link.md": "/etc/passwd", "blocks/tools.md": "/etc/passwd"})
    for hook in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        path = Path(remote, "hooks", hook)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {ran}\n")
        path.chmod(0o755)
    before = {path for path in tmp_path.rglob("*") if "remote" not in str(path)}
    edit.run(two, [Append("tools", "ruff")], Origin())
    world.sync(two, one)
    now = {path for path in tmp_path.rglob("*") if "remote" not in str(path)}
    assert {path for path in now - before if "/local/" not in str(path)} == set()
    assert memory(one) == memory(two)
    assert "ruff" in memory(one)["blocks/tools.md"]
    assert not ran.exists()
    listed = run(remote, "ls-tree", "-r", "--name-only", "main").split()
    assert set(bad) <= set(listed)  # they stay where they are


def test_a_folder_runs_nothing_that_its_configuration_names(world: World, tmp_path: Path) -> None:
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    git.make(world.remote)
    run(world.remote, "symbolic-ref", "HEAD", "refs/heads/main")
    Path(world.remote, ".gitattributes").write_text("* filter=evil")
    run(world.remote, "add", "-A")
    run(world.remote, "commit", "-qm", "by hand")
    evil = "core.fsmonitor filter.evil.smudge filter.evil.clean gc.recentObjectsHook"
    for key in evil.split():
        run(world.remote, "config", key, str(program))
    run(world.remote, "config", "receive.denyCurrentBranch", "updateInstead")
    edit.run(world.one, [Create("tools", "uv")], Origin())
    with pytest.raises(StoreError, match="refusing to update checked out branch"):
        world.sync(world.one)
    assert not ran.exists()


def test_no_link_here_is_followed(world: World, tmp_path: Path) -> None:
    one, two, _ = world
    edit.run(one, [Create("tools", "uv")], Origin())
    world.sync(one, two)
    edit.run(one, [Append("tools", "ruff")], Origin())
    put(one, "archive/2026-05/a.md", "text\n")
    world.sync(one)
    path, outside = root(two) / "blocks/tools.md", tmp_path / "outside"
    outside.mkdir()
    path.rename(outside / "tools.md")
    path.symlink_to(outside / "tools.md")
    (root(two) / "archive").symlink_to(outside)
    with pytest.raises(StoreError, match="archive cannot be read"):
        world.sync(two)
    (root(two) / "archive").unlink()
    assert sync_user.run(two).left_out == {"blocks/tools.md": "a link"}
    assert "ruff" not in (outside / "tools.md").read_text()
    world.sync(one)
    assert "ruff" in memory(one)["blocks/tools.md"]


def test_secrets_and_private_parts_do_not_go_out(world: World) -> None:
    one, two, remote = world
    world.sync(one)
    token = "ghp_" + "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
    for name, text, line, what in (
        ("blocks/keys.md", f"# Keys\n\ntoken {token}\n", 3, "looks like a secret"),
        ("facts/2026-05.jsonl", f'{{"id": "a"}}\n{{"statement": "{token}"}}\n', 2, "looks like"),
        ("prompts/guidance.md", "one\n<private>two</private>\n", 2, "is marked private"),
        (
            "facts/2026-05.jsonl",
            '{"statement": "a \\u003cprivate>b</private>"}\n',
            1,
            "is marked private",
        ),
    ):
        path = put(one, name, text)
        before = run(remote, "rev-parse", "main")
        with pytest.raises(RejectedError) as raised:
            world.sync(one)
        assert raised.value.message.startswith(f"nothing was synced: line {line} of {name} {what}")
        assert token not in raised.value.message
        with pytest.raises(RejectedError):
            sync_user.run(one, write=False)
        assert run(remote, "rev-parse", "main") == before
        path.unlink()
    path = put(one, f"archive/2026-05/{token}.md", "text\n")
    with pytest.raises(RejectedError, match=r"the file name archive/2026-05/\[red"):
        world.sync(one)
    path.unlink()
    fill(remote, {"blocks/keys.md": f"token {token}\n"})  # another program sent it
    world.sync(one, two)
    assert [each.path for each in purge.find(one, str(root(one))).commits] == ["blocks/keys.md"]
    edit.run(one, [Append("keys", "more")], Origin())
    world.sync(one, two)
    assert memory(one) == memory(two)


def test_a_remote_with_another_history_adds_to_what_is_here(world: World) -> None:
    one, two, remote = world
    edit.run(one, [Append("human", "Name: Ann"), Create("tools", "uv")], Origin())
    world.sync(one, two)
    edit.run(two, [Create("two", "of two")], Origin())
    shutil.rmtree(remote)  # somebody made it anew
    world.sync(two)
    put(one, "archive/2026-05/a.md", "text\n")
    world.sync(one, two)
    assert memory(one) == memory(two)
    assert {"blocks/two.md", "blocks/tools.md", "archive/2026-05/a.md"} <= set(memory(one))


def test_a_folder_that_is_gone_is_not_made_anew_unasked(world: World) -> None:
    world.sync(world.one)
    shutil.rmtree(world.remote)
    with pytest.raises(StoreError, match="no longer exists"):
        sync_user.run(world.one)
    assert not Path(world.remote).exists()
    world.sync(world.one, world.two)
    assert memory(world.one) == memory(world.two)


def test_a_store_that_lost_its_files_deletes_nothing_there(world: World) -> None:
    one, two, _ = world
    edit.run(one, [Create(label, "text") for label in "abcd"], Origin())
    world.sync(one, two)
    before = memory(two)
    shutil.rmtree(root(one) / "blocks")
    with pytest.raises(StoreError, match="all 5 synced files are missing on this machine"):
        world.sync(one)
    assert sync_user.stop(one)
    assert not sync_user.stop(one)
    world.sync(one, two)
    assert memory(one) == memory(two) == before
    fill(world.remote, {"README.md": "mine"})  # the other way: by another program
    clone = f"{world.remote}.clone"
    for words in ("rm -qr blocks", "commit -qm x", "push -q origin main"):
        run(clone, *words.split())
    with pytest.raises(StoreError, match="all 5 synced files are missing in the remote"):
        world.sync(one)
    assert memory(one) == before


def test_what_cannot_be_read_here_is_not_deleted_there(world: World) -> None:
    one, two, _ = world
    edit.run(one, [Create(label, "text") for label in ("a", "b/c", "b/d")], Origin())
    world.sync(one, two)
    before = memory(two)
    (root(one) / "blocks/b/.git").mkdir()  # somebody made a repository of it
    left_out = sync_user.run(one).left_out
    assert left_out["blocks/b"] == "a separate git repository"
    (root(one) / "blocks/b/.git").rmdir()
    put(one, "blocks/a.md", "x" * (9 << 20))
    assert sync_user.run(one).left_out == {"blocks/a.md": "the file is larger than 8 MB"}
    world.sync(two)
    assert memory(two) == before


def test_one_sync_at_a_time(world: World) -> None:
    with lock.hold_lock(world.one.store("user"), name=lock.SYNC), pytest.raises(LockedError):
        world.sync(world.one)


def test_two_machines_at_the_same_time(world: World) -> None:
    for number in range(2):
        for place, who in ((world.one, "one"), (world.two, "two")):
            edit.run(place, [Append("human", f"{who} {number}")], Origin())
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(world.sync, (world.one, world.two)))
    world.sync(world.one, world.two, world.one)
    assert memory(world.one) == memory(world.two)
    lines = set(memory(world.one)["blocks/human.md"].splitlines())
    assert {f"{who} {number}" for who in ("one", "two") for number in range(2)} <= lines


def test_what_others_did_since_is_not_undone(world: World) -> None:
    """A push whose end was not noted counts as done: a line deleted on top of it stays deleted."""
    one, two, _ = world
    world.sync(one, two)
    edit.run(one, [Append("human", "- a\n- b")], Origin())
    state = remote_store.load_state(one.store("user"))
    world.sync(one)
    after = remote_store.load_state(one.store("user"))
    assert state
    assert after
    state.pending, state.files = after.commit, after.files  # as a kill after the push leaves it
    remote_store.save_state(one.store("user"), state)
    world.sync(two)
    path = root(two) / "blocks/human.md"
    path.write_text(path.read_text().replace("- a\n", ""))
    world.sync(two, one)
    assert "- a" not in memory(one)["blocks/human.md"]
    assert memory(one) == memory(two)
