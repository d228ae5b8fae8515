"""From transcripts to recall: each message once, whatever becomes of the files."""

import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memfs.core.errors import StoreError
from memfs.ingest import transcript_files
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.transcripts import Tally
from memfs.store import lock, recall, spool
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.examples import examples
from tests.hosts.transcript_lines import FIXTURES, SESSION, assistant, conversation, user

SKIPPED = "all messages were already read from another transcript of the session"


@pytest.fixture
def store(place: Place) -> Store:
    assert place.project
    return place.project


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.jsonl"


def take(store: Store, *paths: Path) -> Tally:
    tally = Tally()
    for path in paths:
        ingest_transcripts.ingest_transcripts(store, [str(path)], tally)
    return tally


def kept(store: Store) -> dict[str, list[str]]:
    """The ids of the messages in each recall file."""
    root = Path(store.local) / "recall/claude"
    found = sorted(root.glob("*.jsonl")) if root.exists() else []
    return {path.name: [each.id for each in recall.messages(str(path))] for path in found}


def turns(count: int, first: int = 0) -> dict[str, list[str]]:
    return {f"{SESSION}.jsonl": [f"u{number}" for number in range(first, first + count)]}


def test_the_same_file_twice_adds_nothing(store: Store, path: Path) -> None:
    path.write_bytes(conversation(6))
    first = take(store, path)
    assert (first.files, first.sessions, first.messages, first.skipped) == (1, 1, 6, None)
    again = take(store, path)
    assert (again.files, again.sessions, again.messages, again.skipped) == (1, 0, 0, None)
    assert kept(store) == turns(6)


def test_a_file_that_grows_in_any_steps_gives_each_message_once(store: Store, path: Path) -> None:
    data = conversation(8)
    for size in [*range(150, len(data), 217), len(data)]:
        path.write_bytes(data[:size])
        take(store, path)
    assert kept(store) == turns(8)


def test_a_file_that_is_recorded_grows_like_any_other(store: Store, path: Path) -> None:
    for name in ("basic", "compact", "subagent"):
        data = (FIXTURES / f"{name}.jsonl").read_bytes()
        lines = data.splitlines(keepends=True)
        for count in range(1, len(lines) + 1):
            path.write_bytes(b"".join(lines[:count]))
            take(store, path)
    grown = kept(store)
    shutil.rmtree(f"{store.local}/recall")
    tally = take(store, *(FIXTURES / f"{name}.jsonl" for name in ("basic", "compact", "subagent")))
    assert kept(store) == grown
    assert tally.messages == sum(map(len, grown.values())) == 15


def test_a_copy_that_grew_elsewhere_goes_on_where_the_first_ended(
    store: Store, tmp_path: Path
) -> None:
    for count in (2, 4, 7):
        (tmp_path / f"{count}.jsonl").write_bytes(conversation(count))
    tally = take(store, *(tmp_path / f"{count}.jsonl" for count in (2, 4, 7)))
    assert (tally.messages, kept(store)) == (7, turns(7))
    older = take(store, tmp_path / "4.jsonl")
    assert older.skipped == [(str(tmp_path / "4.jsonl"), SKIPPED)]
    assert kept(store) == turns(7)


def test_copies_among_many_sessions_wait_for_each_other(store: Store, tmp_path: Path) -> None:
    """More files than are made durable one by one; three transcripts of each session."""
    said = [
        conversation(count).replace(SESSION.encode(), f"{number:02}{SESSION[2:]}".encode())
        for count in (2, 4, 3)
        for number in range(20)
    ]
    paths = [tmp_path / f"{place:02}.jsonl" for place in range(len(said))]
    for path, data in zip(paths, said, strict=True):
        path.write_bytes(data)
    tally = Tally()
    ingest_transcripts.ingest_transcripts(store, list(map(str, paths)), tally)
    assert (tally.files, tally.messages) == (60, 20 * 4)
    assert list(map(len, kept(store).values())) == [4] * 20
    ingest_transcripts.ingest_transcripts(store, list(map(str, paths)), tally)
    assert tally.messages == 20 * 4


def test_what_a_rewritten_file_says_comes_to_what_it_said(store: Store, path: Path) -> None:
    path.write_bytes(conversation(4))
    take(store, path)
    path.write_bytes(user("another beginning", "n0") + conversation(2, first=2))
    tally = take(store, path)
    assert (tally.messages, tally.sessions) == (1, 1)
    assert kept(store) == {f"{SESSION}.jsonl": ["n0", "u2", "u3", "u0", "u1"]}
    assert take(store, path).messages == 0


def test_two_files_of_a_session_lose_nothing_of_each_other(store: Store, tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_bytes(conversation(4))
    two.write_bytes(user("rewritten", "n0") + conversation(5, first=1))
    assert take(store, one, two).messages == 7
    want = kept(store)
    assert want == {f"{SESSION}.jsonl": ["n0", "u1", "u2", "u3", "u4", "u5", "u0"]}
    again = take(store, one, two)
    assert (again.messages, again.skipped) == (0, [(str(one), SKIPPED)])
    assert kept(store) == want


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sets(st.integers(0, 9), min_size=1)), min_size=1, max_size=8
    )
)
@example([(0, {2}), (0, {0}), (1, {0, 1})])
@examples(60)
def test_any_order_repetition_and_splitting_of_files_is_the_same_union(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, set[int]]]
) -> None:
    """Each step writes some messages of one session into one of four files, and reads that."""
    folder = tmp_path_factory.mktemp("union")
    store = Store(str(folder / ".agent-memory"), "project")
    for number, wanted in [*steps, *steps]:
        path = folder / f"{number}.jsonl"
        path.write_bytes(
            b"".join(
                user(f"turn {each}", f"u{each}", timestamp=f"2026-05-03T10:00:0{each}.000Z")
                for each in sorted(wanted)
            )
        )
        take(store, path)
    union = sorted(set().union(*(wanted for _, wanted in steps)))
    ((name, found),) = kept(store).items()
    assert (name, found) == (f"{SESSION}.jsonl", [f"u{each}" for each in union])


def test_a_truncated_file_takes_nothing_away(store: Store, path: Path) -> None:
    data = conversation(6)
    path.write_bytes(data)
    take(store, path)
    path.write_bytes(data[: len(data) // 2])
    take(store, path)
    assert kept(store) == turns(6)
    path.write_bytes(data)
    take(store, path)
    assert kept(store) == turns(6)


def test_a_file_without_messages_does_not_empty_what_is_kept(store: Store, path: Path) -> None:
    path.write_bytes(conversation(2))
    take(store, path)
    path.write_bytes(user("", "x") + user("our words", "y", isMeta=True))
    tally = take(store, path)
    assert tally.skipped == [
        (str(path), "the transcript no longer has messages; the earlier ones stay")
    ]
    assert kept(store) == turns(2)


@pytest.mark.parametrize(
    ("before", "killed", "after", "messages"),
    [
        (conversation(3), conversation(5), conversation(6), 3),
        (b"", conversation(3), conversation(3), 0),  # before the first state
        (conversation(3), user("other", "n0") + conversation(3), user("other", "n0"), 0),
    ],
)
def test_a_kill_between_messages_and_state_repeats_nothing(
    store: Store, path: Path, before: bytes, killed: bytes, after: bytes, messages: int
) -> None:
    path.write_bytes(before)
    take(store, path)
    folder = Path(store.local) / "recall/claude"
    states = {state: state.read_bytes() for state in folder.glob("*.state.json")}
    path.write_bytes(killed)
    take(store, path)
    for state in folder.glob("*.state.json"):
        state.write_bytes(states[state]) if state in states else state.unlink()
    path.write_bytes(after)
    assert take(store, path).messages == messages
    ((_, found),) = kept(store).items()
    said = re.findall(r'"uuid": ?"(\w+)"', (killed + after).decode())
    assert sorted(found) == sorted(set(said))


@pytest.mark.parametrize("keep", [1, 40, 200])
def test_a_kill_in_the_middle_of_an_append_loses_nothing(
    store: Store, path: Path, keep: int
) -> None:
    path.write_bytes(conversation(3))
    take(store, path)
    (state,) = (Path(store.local) / "recall/claude").glob("*.state.json")
    (log,) = (Path(store.local) / "recall/claude").glob("*[0-9].jsonl")
    old, size = state.read_bytes(), log.stat().st_size
    path.write_bytes(conversation(5))
    take(store, path)
    state.write_bytes(old)
    os.truncate(log, size + keep)
    assert take(store, path).messages == 2
    assert kept(store) == turns(5)


def test_a_version_that_a_killed_run_had_kept_is_none_that_comes_back(
    store: Store, tmp_path: Path
) -> None:
    versions = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for number, version in enumerate(versions):
        version.write_bytes(conversation(4, first=3 * number) + assistant("end", f"e{number}"))
    take(store, versions[0])
    state = Path(recall.sources(store)[0].replace(".jsonl", ".state.json"))
    before = state.read_bytes()
    take(store, versions[1])
    state.write_bytes(before)  # killed after the messages were kept, before the state was
    for _ in range(2):
        take(store, *versions)
        ids = kept(store)[f"{SESSION}.jsonl"]
        assert sorted(ids) == sorted({*ids, "e0", "e1", "e2"})


def test_a_line_that_is_still_being_written_is_waited_for(store: Store, path: Path) -> None:
    data = conversation(3)
    path.write_bytes(data[:-30])
    assert take(store, path).messages == 2
    assert take(store, path).messages == 0
    path.write_bytes(data)
    tally = take(store, path)
    assert (tally.messages, tally.malformed) == (1, 0)


def test_garbage_is_counted_once(store: Store, path: Path) -> None:
    path.write_bytes(user("a", "u0") + b"garbage\n[1]\n\xff\n\r\n" + assistant("b", "u1"))
    assert take(store, path).malformed == 3
    with path.open("ab") as file:
        file.write(b"more\n" + user("c", "u2"))
    tally = take(store, path)
    assert (tally.malformed, tally.messages, kept(store)) == (1, 1, turns(3))


def test_sessions_and_side_chains_are_kept_apart(store: Store, tmp_path: Path) -> None:
    main, other, agent = (tmp_path / f"{name}.jsonl" for name in ("main", "other", "agent-a7"))
    main.write_bytes(conversation(2))
    other.write_bytes(user("elsewhere", "o0", sessionId="s2") + user("mixed in", "o1"))
    agent.write_bytes(user("find it", "a0", isSidechain=True, agentId="a7"))
    tally = take(store, main, other, agent)
    assert (tally.sessions, tally.messages) == (3, 5)
    assert kept(store) == {
        f"{SESSION}.agent-a7.jsonl": ["a0"],
        **turns(2),
        "s2.jsonl": ["o0", "o1"],
    }
    side = [
        each.side
        for each in recall.messages(f"{store.local}/recall/claude/{SESSION}.agent-a7.jsonl")
    ]
    assert side == [True]


def test_a_long_first_line_does_not_hide_whose_transcript_it_is(store: Store, path: Path) -> None:
    path.write_bytes(user("x" * 700_000, "u0") + assistant("ok", "u1"))
    assert take(store, path).messages == 2
    assert kept(store) == turns(2)


def test_what_is_no_transcript_is_skipped_with_a_reason(store: Store, tmp_path: Path) -> None:
    reasons = {
        "empty.jsonl": "empty",
        "other.jsonl": "not a transcript of a known assistant",
        "binary.jsonl": "not a transcript of a known assistant",
        "folder.jsonl": "not a file",
        "fifo.jsonl": "not a file",
        "gone.jsonl": "No such file or directory",
        "loop.jsonl": "Too many levels of symbolic links",
    }
    for name in reasons:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "other.jsonl").write_bytes(b'{"type":"note","payload":{"id":"x"}}\n')
    (tmp_path / "binary.jsonl").write_bytes(bytes(range(256)) * 40)
    for name in ("folder.jsonl", "fifo.jsonl", "gone.jsonl", "loop.jsonl"):
        (tmp_path / name).unlink()
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    tally = take(store, *(tmp_path / name for name in reasons))
    assert dict(tally.skipped or []) == {str(tmp_path / name): why for name, why in reasons.items()}
    assert (tally.files, tally.messages, kept(store)) == (len(reasons), 0, {})


def test_an_unreadable_file_is_skipped(store: Store, path: Path) -> None:
    path.write_bytes(conversation(1))
    path.chmod(0)
    pid = os.fork()
    if pid == 0:  # root reads everything: be somebody else, in a process that ends here
        if os.geteuid() == 0:
            os.seteuid(65534)
        expected = [(str(path), "Permission denied")]
        os._exit(7 if take(store, path).skipped == expected else 8)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_odd_texts_of_a_transcript_are_stored(store: Store, path: Path) -> None:
    path.write_bytes(user("half \ud83d", "u, \ud800", sessionId="s/\udc80") + user("two", 'q", "'))
    assert take(store, path).messages == 2
    assert take(store, path).messages == 0
    ((name, idents),) = kept(store).items()
    assert name.startswith("x")
    assert idents == ["u, ?", 'q", "']


def test_what_hooks_left_word_of_is_read_once(store: Store, tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(conversation(2))
    side = tmp_path / SESSION / "subagents"
    side.mkdir(parents=True)
    (side / "agent-a1.jsonl").write_bytes(user("find it", "a0", isSidechain=True, agentId="a1"))
    (side / "agent-a1.meta.json").write_text("{}")
    nested = side / "workflows/w1/agent-a2.jsonl"
    nested.parent.mkdir(parents=True)
    nested.write_bytes(user("look deeper", "a9", isSidechain=True, agentId="a2"))
    for each in (str(path), str(tmp_path / "gone.jsonl"), "/x/\x00.jsonl", "", str(path)):
        spool.write_note(store, "claude", each)
    tally = Tally()
    ingest_transcripts.drain(store, tally)
    assert (tally.files, tally.sessions, tally.messages) == (6, 3, 4)
    assert spool.list_notes(store) == []
    again = Tally()
    ingest_transcripts.drain(store, again)
    assert again == Tally()


def test_an_inbox_that_somebody_else_drains_is_waited_for(store: Store, path: Path) -> None:
    path.write_bytes(conversation(1))
    spool.write_note(store, "claude", str(path))
    with lock.hold_lock(store, name=lock.INGEST), pytest.raises(StoreError, match="is locked"):
        ingest_transcripts.drain(store, Tally(), wait=0.05)
    assert len(spool.list_notes(store)) == 1


def test_folders_are_searched_oldest_first(tmp_path: Path) -> None:
    made = []
    for number, name in enumerate(("b.jsonl", "deep/er/a.jsonl", "c.jsonl", "notes.md")):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        os.utime(path, (1000 - number, 1000 - number))
        made.append(str(path))
    folder = str(tmp_path / "in")
    assert transcript_files.find([folder]) == [made[2], made[1], made[0]]
    assert transcript_files.find([made[3], folder, made[0]]) == [made[3], made[2], made[1], made[0]]
    assert transcript_files.find([str(tmp_path / "gone")]) == [str(tmp_path / "gone")]
