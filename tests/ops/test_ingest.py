"""`ingest --all`: each session of this machine goes into the store of the project it was held in."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.events import STOP, Event
from memfs.ingest import transcript_files
from memfs.ingest.routing import NO_STORE, NOT_TRUSTED
from memfs.ops import ingest, init
from memfs.ops.ingest import IngestPlan, MachineIngest
from memfs.recall import index_sources
from memfs.search.request import Filter
from memfs.store import blocks, lock, recall, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.hosts.test_opencode import Base, text
from tests.hosts.transcript_lines import FIXTURES, SESSION, user

Held = Callable[..., Path]


def everything(home: Path) -> MachineIngest:
    return ingest.ingest_everything(str(home), lambda _name, _length: lambda _more: None)


def codex(session: str, folder: object, said: str, thread: str = "") -> bytes:
    meta = {"id": thread or session, "session_id": session, "cwd": str(folder)}
    content = [{"type": "input_text", "text": said}]
    item = {"type": "message", "role": "user", "content": content}
    lines = ({"type": "session_meta", "payload": meta}, {"type": "response_item", "payload": item})
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in lines)


@pytest.fixture
def held(home: Path) -> Held:
    """Let a session have been held in a folder, in Claude Code."""

    def hold(folder: object, name: str, said: str, root: str = ".claude") -> Path:
        path = home / root / "projects" / str(folder).replace("/", "-") / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        line = user(said, f"u-{name}", cwd=str(folder))
        path.write_bytes(line.replace(SESSION.encode(), name.encode()))
        return path

    return hold


@pytest.fixture
def other(place: Place, tmp_path: Path, home: Path) -> Store:
    """A second project, with a store of its own."""
    folder = tmp_path / "other"
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    init.run(str(folder), str(home))
    found = store_paths.find(str(folder))
    assert found
    return found


def said(store: Store | None) -> dict[str, list[str]]:
    """What is kept of each session, by the name of its file."""
    assert store
    found = Path(store.local).glob("recall/*/*.jsonl")
    return {path.stem: [each.text for each in recall.messages(str(path))] for path in found}


def test_each_session_goes_into_the_store_of_its_project(
    place: Place, other: Store, held: Held, repo: Path, home: Path, tmp_path: Path
) -> None:
    held(repo, "a", "of the shop")
    held(repo / "src/deep", "b", "below the shop")
    held(other.top, "c", "of the other")
    held(tmp_path / "gone", "d", "of a folder that is gone")
    held(home, "e", "of the home folder")
    done = everything(home)
    assert said(place.project) == {"a": ["of the shop"], "b": ["below the shop"]}
    assert said(other) == {"c": ["of the other"]}
    assert said(place.user) == {"d": ["of a folder that is gone"], "e": ["of the home folder"]}
    assert (done.total.files, done.total.sessions, done.total.messages) == (5, 5, 5)
    counts = {given.store.root: given.tally.messages for given in done.stores}
    assert counts == {place.home.root: 2, other.root: 1, place.store("user").root: 2}
    assert (done.left, done.total.skipped) == ([], None)


def test_what_is_of_no_project_is_found_in_no_project(
    place: Place, other: Store, held: Held, repo: Path, home: Path, tmp_path: Path
) -> None:
    held(repo, "a", "marmalade of the shop")
    held(tmp_path / "gone", "d", "marmalade of a folder that is gone")
    everything(home)

    def found(where: Place) -> list[str]:
        assert index_sources.sync(where, embed=False) is not None
        engine = index_sources.open_engine(where.home, where.home.index, None)
        hits = engine.search("marmalade", mode="text", limit=9, only=Filter()).hits
        return [hit.id for hit in hits]

    assert found(place) == ["claude/a/u-a"]
    assert found(blocks.find_place(other.top)) == []
    assert found(blocks.find_place(str(home))) == ["claude/d/u-d"]


def test_a_second_run_adds_what_is_new(place: Place, held: Held, repo: Path, home: Path) -> None:
    path = held(repo, "a", "one")
    assert everything(home).total.messages == 1
    again = everything(home)
    assert (again.total.files, again.total.sessions, again.total.messages) == (1, 0, 0)
    path.write_bytes(path.read_bytes() + user("two", "u2", cwd=str(repo)))
    assert everything(home).total.messages == 1
    assert said(place.project) == {"a": ["one", "two"]}


def test_linked_worktrees_share_the_store_also_those_below_it_that_are_gone(
    place: Place, linked: Place, held: Held, repo: Path, home: Path
) -> None:
    held(linked.home.top, "a", "in the linked one")
    held(repo / ".claude/worktrees/fix", "b", "in one that is gone")
    held(repo, "c", "in the main one")
    (given,) = everything(home).stores
    assert given.store.root == place.home.root
    assert sorted(said(place.project)) == ["a", "b", "c"]
    assert not os.path.exists(linked.home.index)


def test_subagents_go_where_their_session_goes(
    place: Place, held: Held, repo: Path, home: Path, tmp_path: Path
) -> None:
    """They may have run in a worktree that is gone."""
    parent = held(repo, "a", "find it")
    below = parent.with_suffix("") / "subagents/agent-x.jsonl"
    below.parent.mkdir(parents=True)
    line = user("find it", "s", isSidechain=True, agentId="x", cwd=str(tmp_path / "gone"))
    below.write_bytes(line.replace(SESSION.encode(), b"a"))
    os.utime(below, (1, 1))
    everything(home)
    assert sorted(said(place.project)) == ["a", "a.agent-x"]
    assert said(place.user) == {}


def test_all_places_where_assistants_keep_transcripts_are_looked_at(
    place: Place,
    held: Held,
    repo: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held(repo, "c1", "claude")
    held(repo, "c2", "another profile of claude", ".config/claude")
    held(repo, "c3", "a told profile of claude", "told")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "told"))
    for number, root in enumerate((home / ".codex/sessions", tmp_path / "x/archived_sessions")):
        (root / "2026").mkdir(parents=True)
        name = f"rollout-2026-05-03T10-00-00-0000000{number}-0000-4000-8000-000000000000.jsonl"
        (root / "2026" / name).write_bytes(codex(f"x{number}", repo, "codex"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "x"))
    for number, root in enumerate((home / ".copilot", tmp_path / "p")):
        file = root / f"session-state/p{number}/events.jsonl"
        file.parent.mkdir(parents=True)
        start = {"sessionId": f"p{number}", "context": {"cwd": str(repo)}}
        events = (("session.start", start), ("user.message", {"content": "copilot"}))
        file.write_text("".join(json.dumps({"type": k, "data": d}) + "\n" for k, d in events))
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "p"))
    for number, root in enumerate((home, tmp_path / "g")):
        file = root / ".gemini/tmp/shop/chats/session-2026.jsonl"
        file.parent.mkdir(parents=True)
        (file.parent.parent / ".project_root").write_text(str(repo))
        head = {"sessionId": f"g{number}", "projectHash": "x"}
        record = {"id": "1", "type": "user", "content": "gemini"}
        file.write_text(json.dumps(head) + "\n" + json.dumps(record) + "\n")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "g"))
    for number, root in enumerate((home / ".local/share", tmp_path / "o")):
        base = Base(root / "opencode/opencode.db")
        base.session(f"o{number}", str(repo))
        base.say(f"o{number}", "1", {"role": "user"}, [text("opencode")])
        base.base.close()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "o"))
    assert everything(home).total.skipped is None
    names = ["c1", "c2", "c3", "g0", "g1", "o0", "o1", "p0", "p1", "x0", "x1"]
    assert sorted(said(place.project)) == names


def test_a_profile_that_is_named_twice_is_read_once(
    place: Place, held: Held, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(repo, "a", "one")
    (home / ".config").mkdir()
    (home / ".config/claude").symlink_to(home / ".claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"{home}/.claude/")
    assert everything(home).total.files == 1
    assert said(place.project) == {"a": ["one"]}


def test_a_database_is_divided_among_the_stores(
    place: Place, other: Store, repo: Path, home: Path, tmp_path: Path
) -> None:
    base = Base(home / ".local/share/opencode/opencode.db")
    for name, folder in (("a", repo), ("b", other.top), ("c", tmp_path / "gone")):
        base.session(name, str(folder))
        base.say(name, "1", {"role": "user"}, [text(f"said in {name}")])
    base.session("a-agent", str(tmp_path / "gone"), "a")
    base.say("a-agent", "1", {"role": "user"}, [text("its subagent")])
    done = everything(home)
    assert said(place.project) == {"a": ["said in a"], "a.agent-a-agent": ["its subagent"]}
    assert said(other) == {"b": ["said in b"]}
    assert said(place.user) == {"c": ["said in c"]}
    assert (done.total.files, done.total.messages) == (1, 4)
    assert everything(home).total.messages == 0
    base.base.close()


def test_without_a_store_of_their_own_sessions_are_left_out_and_named(
    repo: Path, home: Path, held: Held
) -> None:
    held(repo, "a", "one")
    held(repo, "b", "two")
    done = everything(home)
    assert done.stores == []
    (left,) = done.left
    assert (left.folder, left.reason, left.sessions) == (str(repo), NO_STORE, 2)
    assert "memfs init" in left.hint
    assert not (repo / ".agent-memory").exists()
    assert not (home / ".agent-memory").exists()


def test_nothing_is_written_into_a_store_that_came_with_a_clone(
    place: Place, repo: Path, tmp_path: Path, home: Path, held: Held
) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(repo, clone, ignore=shutil.ignore_patterns("local"))
    held(clone, "a", "one")
    done = everything(home)
    (left,) = done.left
    assert (left.folder, left.reason, left.sessions) == (str(clone), NOT_TRUSTED, 1)
    assert said(place.project) == said(place.user) == {}
    assert not (clone / ".agent-memory/local").exists()


def test_a_damaged_store_and_a_locked_one_do_not_stop_the_others(
    place: Place, other: Store, held: Held, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(repo, "a", "one")
    held(other.top, "b", "two")
    broken = home / "work/broken"
    (broken / ".agent-memory/local").mkdir(parents=True)
    (broken / ".agent-memory/local/journal.jsonl").touch()
    held(broken, "c", "three")
    monkeypatch.setattr(lock, "WAIT", 0.1)
    with lock.hold_lock(place.home, name="ingest.lock"):
        done = everything(home)
    problems = {given.store.root: given.problem for given in done.stores}
    assert "is locked by" in problems.pop(place.home.root)
    assert problems == {other.root: ""}
    (left,) = done.left
    assert "is missing or damaged" in left.reason
    assert said(other) == {"b": ["two"]}
    assert everything(home).total.messages == 1


def slug(folder: str) -> str:
    return re.sub("[^A-Za-z0-9]", "-", folder)


def make_long(ours: str, other: str) -> tuple[str, bytes]:
    """A first line that is longer than what is looked at, with the folder behind its text."""
    said = user("zephyr " + "x" * 400_000, "u-long", cwd=other)
    record = json.loads(said)
    folder = record.pop("cwd")
    line = json.dumps({**record, "cwd": folder}, separators=(",", ":")).encode() + b"\n"
    return f".claude/projects/{slug(ours)}/{SESSION}.jsonl", line


def make_mention(ours: str, other: str) -> tuple[str, bytes]:
    """A session of another folder in which ours is named, as a result of a tool for one."""
    text = json.dumps({"cwd": ours}, separators=(",", ":"))
    lines = user(f"zephyr {text}", "u1", cwd=other) + user(text, "u2", cwd=f"{other}/deep")
    return f".claude/projects/{slug(ours)}-x/{SESSION}.jsonl", lines


def make_old_rollout(ours: str, other: str) -> tuple[str, bytes]:
    """A session of Codex before 0.32, which names its folder in a message."""
    said = f"<environment_context>\n  <cwd>{other}</cwd>\n</environment_context>"
    parts = [{"type": "input_text", "text": each} for each in (said, f"zephyr in {ours}")]
    lines: list[dict[str, object]] = [
        {"id": SESSION, "timestamp": "2025-08-01T10:00:00.000Z", "instructions": None}
    ]
    lines += [{"type": "message", "role": "user", "content": [part]} for part in parts]
    name = f".codex/sessions/2025/08/01/rollout-2025-08-01T10-00-00-{SESSION}.jsonl"
    return name, b"".join(json.dumps(each).encode() + b"\n" for each in lines)


def make_fork(ours: str, other: str) -> tuple[str, bytes]:
    """A fork by Codex of a session of our folder, in another one."""
    name = f".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{SESSION}.jsonl"
    return name, codex(SESSION, other, "zephyr") + codex("the one before", ours, "zephyr too")


OF_OTHERS = (make_long, make_mention, make_old_rollout, make_fork)


@pytest.mark.parametrize("make", OF_OTHERS, ids=lambda make: make.__name__)
def test_a_project_takes_what_was_begun_in_it_alone(
    place: Place, home: Path, repo: Path, tmp_path: Path, make: Callable[..., tuple[str, bytes]]
) -> None:
    """Not what names its folder somewhere, nor what names its own late."""
    for other in (f"{repo}-secret", str(tmp_path), "/elsewhere"):
        name, data = make(str(repo), other)
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        planned = ingest.plan(place, [], str(home))
        assert (planned.paths, planned.unplaced) == ([], {})
        ingest.run(place, planned, lambda *_: lambda _: None)
        assert recall.sources(place.home) == []
        path.unlink()
    name, data = make(f"{repo}-other", str(repo))
    path = home / name.replace(slug(f"{repo}-other"), slug(str(repo)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    assert ingest.plan(place, [], str(home)).paths == [str(path)]


def test_a_session_that_names_no_folder_is_its_users(place: Place, home: Path) -> None:
    path = home / f".copilot/session-state/{SESSION}/events.jsonl"
    path.parent.mkdir(parents=True)
    data = (FIXTURES.parent / "copilot/events.jsonl").read_text()
    path.write_text(data.replace('"cwd":"/home/dev/shop"', '"at":0').replace("gitRoot", "root"))
    planned = ingest.plan(place, [], str(home))
    assert list(planned.unplaced) == [str(path)]
    tally = ingest.run(place, planned, lambda *_: lambda _: None)
    assert (tally.unplaced, tally.skipped) == ([str(path)], None)
    assert recall.sources(place.home) == []
    assert len(recall.sources(place.store("user"))) == 1
    again = ingest.run(place, planned, lambda *_: lambda _: None)
    assert again.messages == 0


@pytest.mark.parametrize(
    "folder", ["", "relative/path", "C:\\Users\\dev", "/a\0b", "/" + "x" * 5000]
)
def test_a_folder_that_can_be_none_here_is_no_trouble(
    place: Place, held: Held, home: Path, folder: str
) -> None:
    path = held("/tmp/x", "a", "one")  # noqa: S108 - a name, nothing is there
    found = json.loads(path.read_bytes()) | {"cwd": folder}
    path.write_text(json.dumps(found) + "\n")
    everything(home)
    assert said(place.user) == {"a": ["one"]}
    assert said(place.project) == {}


def test_files_that_are_no_transcripts_are_skipped_with_the_reason(
    place: Place, held: Held, repo: Path, home: Path
) -> None:
    folder = held(repo, "a", "one").parent
    (folder / "empty.jsonl").touch()
    (folder / "journal.jsonl").write_text('{"what": "somebody else\'s"}\n')
    done = everything(home)
    skipped = {(os.path.basename(path), why) for path, why in done.total.skipped or []}
    kinds = {"empty.jsonl": transcript_files.EMPTY, "journal.jsonl": transcript_files.UNKNOWN}
    assert skipped == set(kinds.items())
    assert (done.total.files, done.total.messages) == (3, 1)


def test_a_killed_run_goes_on_where_it_was(
    place: Place, other: Store, held: Held, repo: Path, home: Path
) -> None:
    names = [f"{folder}-{number:03}" for folder in "ab" for number in range(150)]
    for name in names:
        held(repo if name[0] == "a" else other.top, name, f"the words of {name}")
    command = [sys.executable, "-m", "memfs", "ingest", "--all", "--json"]
    for pause in (0.3, 0.45, 0.6):
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(pause)
        run.kill()
        run.communicate()
    done = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(done.stdout)["files"] == len(names)
    found = said(place.project) | said(other)
    assert found == {name: [f"the words of {name}"] for name in names}
    assert everything(home).total.messages == 0


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_session_that_goes_on_in_another_project_stays_where_it_was_begun(
    place: Place, repo: Path, other: Store, tmp_path: Path, before: int
) -> None:
    """`before`: how many turns it had ended in its first folder."""
    path = tmp_path / "said.jsonl"
    folders = [str(repo)] * 2 + [other.top] * 2
    for number, folder in enumerate(folders):
        with path.open("ab") as file:
            file.write(user(f"zephyr {number}", f"u{number}", cwd=folder))
        if number >= 2 - before:
            event = Event("claude", STOP, "Stop", SESSION, folder, str(path))
            ingest.ingest_event(event)
    assert recall.sources(other) == []
    index_sources.sync(place, embed=False)
    ingest.run(place, IngestPlan([]), lambda *_: lambda _: None)
    (kept,) = recall.sources(place.home)
    assert [message.id for message in recall.messages(kept)] == ["u0", "u1", "u2", "u3"]


def test_a_session_that_was_begun_where_no_store_is_goes_where_its_assistant_is(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    path = tmp_path / "said.jsonl"
    path.write_bytes(user("zephyr", "u0", cwd="/nowhere") + user("more", "u1", cwd=str(repo)))
    ingest.ingest_event(Event("claude", STOP, "Stop", SESSION, str(repo), str(path)))
    assert len(recall.sources(place.home)) == 1
