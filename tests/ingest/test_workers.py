"""Parts of transcripts: cut where lines end, read the same by workers."""

from pathlib import Path

import pytest

from memfs.core.records import Identity
from memfs.ingest import transcript_files
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest import workers as ingest_workers
from memfs.ingest.transcripts import Tally
from memfs.ingest.workers import TranscriptPart
from memfs.store import recall
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.hosts.transcript_lines import SESSION, conversation, line, user
from tests.ops.test_purge import SECRET

OURS = Identity(SESSION, "")


@pytest.fixture
def store(place: Place) -> Store:
    assert place.project
    return place.project


def kept(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(store.local, "recall/claude").glob("*l")}


@pytest.mark.parametrize("size", [1, 200, 1000, 1 << 20])
def test_parts_are_whole_lines_and_all_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(ingest_workers, "PART", size)
    path = tmp_path / "t.jsonl"
    data = conversation(9) + b"unfinished"
    path.write_bytes(data)
    for start in (0, len(conversation(2))):
        found = list(ingest_workers.split_parts("claude", OURS, str(path), start, len(data)))
        assert [part.start for part in found] == [start, *(part.end for part in found[:-1])]
        assert found[-1].end == len(data)
        assert all(data[part.end - 1 : part.end] == b"\n" for part in found[:-1])
        assert size > 1 or len(found) == data[start:].count(b"\n") + 1


@pytest.mark.parametrize("workers", [0, 2])
def test_small_parts_give_what_one_reading_gives(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    paths = []
    for number in range(5):
        paths.append(str(tmp_path / f"{number}.jsonl"))
        data = conversation(12).replace(SESSION.encode(), f"s{number // 2}".encode())
        Path(paths[-1]).write_bytes(data + user("more", f"x{number}", sessionId=f"s{number // 2}"))
    ingest_transcripts.ingest_transcripts(store, paths, Tally())
    want = kept(store)
    for path in Path(store.local, "recall/claude").iterdir():
        path.unlink()
    monkeypatch.setattr(ingest_workers, "PART", 300)
    monkeypatch.setattr(ingest_workers, "MUCH", 0)
    monkeypatch.setattr(ingest_workers, "workers", lambda: workers)
    steps: list[int] = []
    tally = Tally()
    ingest_transcripts.ingest_transcripts(store, paths, tally, steps.append)
    assert kept(store) == want
    assert (tally.files, tally.messages) == (5, 3 * 12 + 5)
    assert sum(steps) == transcript_files.measure_size(paths)


def test_what_a_dead_worker_was_given_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(conversation(4))
    part = TranscriptPart("claude", OURS, str(path), 0, path.stat().st_size)
    worker = ingest_workers._Worker()
    worker.process.kill()
    worker.process.wait()
    worker.send(part)
    assert worker.receive(part) == ingest_workers.read(part)
    worker.close()


def test_a_file_that_is_rewritten_between_two_parts_is_left_for_the_next_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_workers, "PART", 300)
    path = tmp_path / "t.jsonl"
    path.write_bytes(conversation(8))
    tally = Tally()

    def rewrite(_: int) -> None:
        if path.read_bytes() == conversation(8):
            path.write_bytes(conversation(8).replace(b"turn", b"TURN"))

    ticks = iter([rewrite])

    def tick(step: int) -> None:
        if step:
            next(ticks, lambda _: None)(step)

    ingest_transcripts.ingest_transcripts(store, [str(path)], tally, tick)
    assert tally.skipped == [
        (str(path), "the file changed during the read; the next run reads it again")
    ]
    ingest_transcripts.ingest_transcripts(store, [str(path)], Tally())
    [log] = recall.sources(store)
    assert [each.text[:4] for each in recall.messages(log)] == ["TURN"] * 8


def test_names_are_kept_without_secrets(tmp_path: Path) -> None:
    """A branch, a folder, a tool or a session can be named by anything."""
    use = {"type": "tool_use", "id": "t", "name": f"mcp__{SECRET}", "input": {"x": "y"}}
    where = {"gitBranch": f"wip/{SECRET}", "cwd": f"/home/dev/{SECRET}", "sessionId": SECRET}
    data = user("hello", "a", **where) + line("assistant", [use], "b", **where)
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)
    found = ingest_workers.read(
        TranscriptPart("claude", Identity(SECRET, ""), str(path), 0, len(data), indexed=True)
    )
    assert isinstance(found, ingest_workers.TranscriptRead)
    assert len(found.rows.lines) == len(found.documents) == 2
    told = [*(each.decode() for each in found.rows.lines), *found.documents]
    assert not [each for each in told if SECRET in each]
    parsed, _ = recall.parse(b"".join(found.rows.lines))
    assert {(m.session, m.branch, m.project) for m in parsed} == {
        (
            "[redacted:github-token]",
            "wip/[redacted:github-token]",
            "/home/dev/[redacted:github-token]",
        )
    }
