"""Secrets in what is kept: found wherever they stand, redacted everywhere, nothing else lost."""

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core import events
from memfs.core.body_edits import Append, Remove
from memfs.core.events import Event
from memfs.core.records import Origin
from memfs.ingest import commit_log, transcripts
from memfs.ingest.transcripts import Tally
from memfs.knowledge.session_graph import builder, database
from memfs.ops import archive, brief, edit, history, install, purge, trust, undo
from memfs.ops.doctor.fix import stores_of
from memfs.recall import index_sources, source_index
from memfs.store import (
    blocks,
    data_sources,
    handoff,
    journal,
    lock,
    prompt_log,
    quarantine,
    recall,
    sessions,
    spool,
    standing_rules,
)
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from memfs.store.standing_rules import StandingRule
from memfs.store.store_paths import Store
from tests.hosts.transcript_lines import conversation, user
from tests.ops.imports import said

SECRET = "ghp_" + "".join(f"{n}aB" for n in range(10, 22))[:36]
MARK = "[redacted:github-token]"
WRITE = Callable[[str, str], Path]


def put(path: str | Path, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def holding(folder: str | Path) -> list[str]:
    """The files below a folder that hold the secret."""
    paths = [
        path for path in Path(folder).rglob("*") if path.is_file() and ".git" not in path.parts
    ]
    return sorted(str(path) for path in paths if SECRET.encode() in path.read_bytes())


def replays(place: Place, store: Store) -> None:
    """The journal says of every block what is in its file, without a gap."""
    entries, end = journal.read_since(store, 0)
    assert (journal.find_damaged(store), end) == ([], journal.get_size(store))
    last: dict[str, str | None] = {}
    for _, entry in entries:
        assert last.get(entry.key, entry.before) == entry.before
        last[entry.key] = entry.after
    heads = journal.load_heads(store)
    assert heads
    assert heads.offset == end
    assert {key: head.digest for key, head in heads.by_key.items()} == {
        key: journal.digest(text) for key, text in last.items()
    }
    for head in heads.by_key.values():
        found = journal.entry_at(store, head.offset)
        assert found
        assert found.id == head.id


def age_journal(store: Store) -> None:
    """Let the journal hold the secret, as one of an earlier version can."""
    lines = []
    for line in Path(store.journal).read_text().splitlines():
        entry = json.loads(line.replace(MARK, SECRET))
        entry.pop("digest", None)
        lines.append(json.dumps(entry) + "\n")
    Path(store.journal).write_text("".join(lines))
    Path(store.local, "heads.json").unlink()


def spread(place: Place, home: Path) -> None:
    """Put the secret everywhere it can stand."""
    store, token = place.home, f"the token is {SECRET}, keep it"
    local = store.local
    edit.run(place, [Append("system_rules", "before")], Origin())
    path = Path(store.root, "blocks/system_rules.md")
    path.write_text(path.read_text() + token + "\nafter\n")
    history.log(place)
    age_journal(store)
    put(f"{store.root}/blocks/api.md", f"---\ndescription: {token}\nread_only: true\n---\nkept\n")
    put(f"{store.root}/archive/2026-05/p1.md", f"---\nimportance: 5\n---\n{token}\n")
    put(f"{store.root}/facts/2026-05.jsonl", json.dumps({"id": "f", "statement": token}) + "\n")
    put(f"{store.root}/static/key.md", token)
    put(f"{store.root}/config.yaml", f"memfs: 1\n# {token}\n")
    line = said(token, id="m")
    put(f"{local}/recall/claude/s.jsonl", line)
    put(f"{local}/recall/claude/s.superseded", line.replace('"m"', '"n"'))
    put(f"{local}/windows/vector/01.jsonl", json.dumps({"id": "01", "text": token}) + "\n")
    put(f"{local}/outcomes.jsonl", json.dumps({"session": "s", "why": token}) + "\n")
    put(f"{local}/sessions/s/working.md", token)
    put(f"{local}/sessions/s/shown.json", json.dumps({"blocks": {"a": token}, "hits": []}))
    put(f"{local}/inbox/1.json", json.dumps({"host": "claude", "transcript": f"/{SECRET}"}))
    put(f"{local}/backup/x.md", token)
    put(f"{local}/hook.log", token)
    put(home / ".agent-memory/blocks/human.md", token)
    put(home / ".claude/settings.json", json.dumps({"env": {"GITHUB_TOKEN": SECRET}}))
    install.run(place, "claude", "user", str(home))


def test_it_is_found_and_redacted_wherever_it_stands(place: Place, home: Path) -> None:
    spread(place, home)
    found = purge.find(place, str(home)).found
    assert sorted({each.path for each in found}) == [
        path for path in holding(home.parent) if "/.claude/" not in path
    ]
    assert len({each.path for each in found}) == 18
    assert {(each.type, each.masked, each.ours) for each in found} == {
        ("github-token", "ghp… (40 characters)", True)
    }
    lines = {os.path.basename(each.path): each.line for each in found}
    assert lines["api.md"] == 2
    assert lines["system_rules.md"] > 5
    done = purge.run(place)
    assert len({each.path for each in done.done}) == 18
    assert done.left == ()
    assert holding(home.parent) == [str(home / ".claude/settings.json")]
    store = place.home
    for path in ("archive/2026-05/p1.md", "static/key.md", "local/backup/x.md", "local/hook.log"):
        assert f"the token is {MARK}, keep it" in Path(store.root, path).read_text()
    assert "kept\n" in Path(store.root, "blocks/api.md").read_text()
    facts = Path(store.root, "facts/2026-05.jsonl").read_text()
    assert json.loads(facts)["statement"] == f"the token is {MARK}, keep it"
    replays(place, store)
    replays(place, place.store("user"))
    assert not os.path.exists(f"{store.local}/sessions/s/shown.json")
    assert purge.run(place) == purge.Purged((), ())


def test_what_assistants_were_given_is_redacted_too(place: Place) -> None:
    text = f"# Core memory changed\nthe key\n{SECRET}\nends"
    prompt_log.note_prompt(place.home, PromptRecord(1.0, "claude", "s", 0.5, 0.7, "", text))
    standing_rules.write(
        place.home, [StandingRule("2026-04-01", "claude", "s", "m", f"always send {SECRET}")]
    )
    assert len(holding(place.home.local)) == 2
    purge.run(place)
    assert holding(place.home.local) == []
    [found] = prompt_log.read(place.home, 5)
    assert found.text == text.replace(SECRET, MARK)


def test_what_commits_say_is_redacted_too(place: Place, home: Path) -> None:
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "cap the retries"], check=True)
    history = data_sources.find_history(place)
    assert history
    source_index.sync(place, history, embed=False)
    (log,) = Path(history.paths[0]).glob("*.jsonl")
    log.write_text(log.read_text().replace("cap", SECRET))  # as if it had not been known
    source_index.sync(place, history, embed=False)
    assert [each.path for each in purge.find(place, str(home)).found] == [str(log)]
    kept = {*Path(place.home.local).rglob("*.json*")}
    waiting = threading.Thread(target=purge.run, args=(place,))
    with source_index.hold_lock(place.home, data_sources.HISTORY):
        waiting.start()
        waiting.join(0.3)
        assert {*Path(place.home.local).rglob("*.json*")} == kept
        with lock.hold_locks([place.home], lock.INGEST, lock.INDEX, lock.KINDS, lock.STORE):
            pass
    waiting.join()
    assert holding(place.home.root) == []
    assert source_index.sync(place, history, embed=False)
    assert [each.text for each in commit_log.read(str(log))] == ["cap the retries"]


def test_no_undo_brings_it_back_and_every_version_is_kept(place: Place) -> None:
    edit.run(place, [Append("human", "one")], Origin())
    path = Path(blocks.get(place, "human").path)
    path.write_text(path.read_text() + f"{SECRET} two\n")
    history.log(place)
    edit.run(place, [Remove("human", f"{SECRET} two\n"), Append("human", "three")], Origin())
    assert SECRET not in path.read_text()
    before = [(entry.id, entry.version, entry.op) for entry in history.log(place, "human")]
    purge.run(place)
    assert [(entry.id, entry.version, entry.op) for entry in history.log(place, "human")] == before
    assert blocks.get(place, "human").value == "one\nthree"
    undo.undo_edit(place, "human", Origin())
    assert blocks.get(place, "human").value == f"one\n{MARK} two"
    assert SECRET not in str(history.log(place))
    replays(place, place.store("user"))


def test_what_is_in_the_block_goes_as_an_edit_that_counts(place: Place, block_file: WRITE) -> None:
    block_file(
        "api", f"---\nread_only: true\nversion: 4\n---\r\nuse {SECRET} here\r\nand so on\r\n"
    )
    purge.run(place)
    block = blocks.get(place, "api")
    assert block.body == f"use {MARK} here\r\nand so on\r\n"
    assert (block.version, block.read_only) == (0, True)
    [entry] = history.log(place, "api")
    assert (entry.op, entry.version) == ("purge", 5)
    assert (entry.actor, entry.reason) == ("user", "secrets redacted")
    assert SECRET not in (entry.before or "")
    assert edit.run(place, [Append("human", "x")], Origin())


def test_ingest_goes_on_after_it_without_loss_or_repetition(place: Place, tmp_path: Path) -> None:
    store = place.home
    path = tmp_path / "t.jsonl"
    path.write_bytes(conversation(3))
    ingest(store, path)
    [log] = recall.sources(store)
    text = Path(log).read_text().replace("turn number 1", f"turn {SECRET} 1")
    Path(log).write_text(text)  # as an earlier memfs wrote it
    purge.run(place)
    assert [each.text for each in recall.messages(log)] == [
        "turn number 0",
        f"turn {MARK} 1",
        "turn number 2",
    ]
    state = json.loads(Path(log.replace(".jsonl", ".state.json")).read_text())
    assert state["kept"] == os.path.getsize(log)
    path.write_bytes(conversation(3) + user("the fourth", "u3"))
    assert ingest(store, path).messages == 1
    assert [each.id for each in recall.messages(log)] == ["u0", "u1", "u2", "u3"]


def ingest(store: Store, path: Path) -> Tally:
    tally = Tally()
    with lock.hold_lock(store, name=lock.INGEST):
        transcripts.ingest_transcripts(store, [str(path)], tally)
    return tally


@pytest.mark.parametrize("run", [purge.run, lambda place: list(stores_of(place))])
def test_who_waits_for_ingestion_keeps_no_other_lock(
    place: Place, run: Callable[[Place], object]
) -> None:
    put(f"{place.home.root}/blocks/.a.md.tmp", "left by a killed run")
    waiting = threading.Thread(target=run, args=(place,))
    with lock.hold_lock(place.home, name=lock.INGEST):
        waiting.start()
        waiting.join(0.3)
        with lock.hold_locks([place.home], lock.INDEX, lock.SESSION_GRAPH, lock.KINDS, lock.STORE):
            pass
    waiting.join()


def test_the_index_is_made_anew_without_it(place: Place) -> None:
    store = place.home
    put(f"{store.root}/archive/2026-05/p1.md", f"the deploy key is {SECRET}\n")
    put(f"{store.local}/recall/claude/s.jsonl", said(f"the deploy key is {SECRET}", id="m"))
    index_sources.sync(place, embed=False)
    builder.update(store, None)
    assert os.path.exists(f"{store.index}/{database.FILE}")
    cut = handoff.Handoff("s", "claude", store.top, "", 0, f"> failed: deploy {SECRET[:9]}…")
    handoff.write(store, [cut])
    purge.run(place)
    assert handoff.read(store) == []
    assert not os.path.exists(store.index)
    index_sources.sync(place, embed=False)
    builder.update(store, None)
    assert holding(store.local) == []
    engine = index_sources.open_engine(place.home, place.home.index, None)
    hits = engine.search("deploy key", mode="text", limit=3).hits
    assert {hit.text for hit in hits} == {f"the deploy key is {MARK}"}


def test_the_next_prompt_does_not_tell_what_was_redacted(place: Place, block_file: WRITE) -> None:
    block_file("api", f"use {SECRET} here\n")
    start = Event("claude", events.START, "", "s", str(place.home.top), "", "", "")
    assert SECRET in brief.run(start).context
    purge.run(place)
    said = brief.run(Event("claude", events.PROMPT, "", "s", start.cwd, "", "", "go on")).context
    assert not said
    assert sessions.load(place.home, "s")


def test_files_of_others_are_named_and_left_alone(place: Place, home: Path) -> None:
    path = Path(place.home.root, "README.md")
    path.write_text(f"ours: {SECRET}\n")
    assert [(each.path, each.ours) for each in purge.find(place, str(home)).found] == [
        (str(path), False)
    ]
    done = purge.run(place)
    assert done.done == ()
    assert [each.path for each in done.left] == [str(path)]
    assert SECRET in path.read_text()


def test_a_damaged_line_is_redacted_as_the_text_it_is(place: Place) -> None:
    edit.run(place, [Append("human", "one")], Origin())
    path = Path(place.store("user").journal)
    path.write_bytes(path.read_bytes() + f'{{"id": "half of {SECRET}'.encode() + b"\n")
    history.log(place)
    purge.run(place)
    assert path.read_text().splitlines()[-1] == f'{{"id": "half of {MARK}'


def commit(top: str, subject: str) -> None:
    for words in (["user.name", "Tester"], ["user.email", "tester@example.invalid"]):
        subprocess.run(["git", "-C", top, "config", *words], check=True)
    subprocess.run(["git", "-C", top, "add", "-A"], check=True)
    subprocess.run(["git", "-C", top, "commit", "-qm", subject], check=True)


def test_nothing_is_touched_where_there_is_none(place: Place) -> None:
    index_sources.sync(place, embed=False)
    store = place.home
    spool.write_note(store, "claude", "/t.jsonl")
    before = stamps(store)
    assert purge.run(place) == purge.Purged((), ())
    assert stamps(store) == before


def stamps(store: Store) -> dict[Path, int]:
    paths = [path for path in Path(store.root).rglob("*.*") if path.suffix != ".lock"]
    return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}


def test_what_a_killed_run_left_is_looked_through_and_a_repository_is_not(
    place: Place, home: Path
) -> None:
    left = Path(place.home.root, "blocks/.api.md.tmp")
    put(left, f"half of {SECRET}")
    put(home / ".agent-memory/.git/x", SECRET)
    assert [each.path for each in purge.find(place, str(home)).found] == [str(left)]
    purge.run(place)
    assert left.read_text() == f"half of {MARK}"


@pytest.mark.usefixtures("bound")
def test_a_file_that_may_not_be_read_is_named(place: Place, home: Path) -> None:
    path = Path(place.home.root, "static/key.md")
    put(path, SECRET)
    path.chmod(0)
    assert purge.find(place, str(home)).unread == (str(path),)


def test_what_is_redacted_is_still_the_users(place: Place, home: Path, block_file: WRITE) -> None:
    put(home / ".agent-memory/config.yaml", "memfs: 1\ntrust:\n  pulled: hold\n")
    store = place.home
    path = block_file("api", f"use {SECRET}\n")
    commit(store.top, "by the user")
    trust.accept(place)
    purge.run(place)
    assert holding(home.parent) == []
    assert quarantine.map_copies(store) == {}
    commit(store.top, "without it")
    assert quarantine.map_copies(store) == {}
    assert f"use {MARK}\n" in path.read_text()


@pytest.mark.parametrize("kept", ["a ", "päß\r\n", "---\n", ""])
def test_an_archived_passage_keeps_every_other_word(place: Place, kept: str) -> None:
    done = archive.run(place, "words before", importance=5, tags=("t",), origin=Origin())
    path = Path(done.path)
    path.write_bytes(path.read_bytes() + f"{kept}{SECRET} {kept}".encode())
    before = path.read_bytes()
    purge.run(place)
    assert path.read_bytes() == before.replace(SECRET.encode(), MARK.encode())


def test_a_block_too_large_for_an_edit_is_redacted_all_the_same(
    place: Place, block_file: WRITE
) -> None:
    edit.run(place, [Append("persona", "one")], Origin())
    path = block_file("persona", f"{'x y z ' * 50_000}\ntoken {SECRET}\n")
    assert [each.path for each in purge.run(place).done] == [str(path)]
    assert path.read_text().endswith(f"\ntoken {MARK}\n")
    assert holding(place.home.root) == []


def test_git_history_is_named_by_its_commits(place: Place, home: Path, block_file: WRITE) -> None:
    top = place.home.top
    block_file("api", f"use {SECRET}\n")
    commit(top, "with")
    block_file("api", "use the vault\n")
    commit(top, "without")
    looked = purge.find(place, str(home))
    assert looked.found == ()
    assert looked.unread == ()
    [found] = looked.commits
    command = ["git", "-C", top, "log", "-1", "--format=%s", found.commit]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"with\n"
    assert (found.path, found.type) == (".agent-memory/blocks/api.md", "github-token")


def test_linked_worktrees_share_the_journal_and_are_redacted_too(
    linked: Place, place: Place
) -> None:
    edit.run(linked, [Append("persona", "in the linked one")], Origin())
    store = linked.home
    path = Path(store.root, "blocks/persona.md")
    path.write_text(path.read_text() + f"use {SECRET}\n")
    history.log(linked)
    purge.run(place)
    assert f"use {MARK}" in path.read_text()
    assert holding(store.root) == holding(place.home.root) == []
    before = len(history.log(linked))
    assert len(history.log(linked)) == before
    replays(linked, store)


def test_it_is_committed_where_each_edit_is(place: Place, block_file: WRITE) -> None:
    store = place.home
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
