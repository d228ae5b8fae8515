"""Sessions are indexed while they are read: as they would be afterwards, and only once."""

import os
from collections import Counter
from pathlib import Path

import pytest

from memfs.core.records import Identity
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest import workers
from memfs.ingest.transcripts import Tally
from memfs.recall import index_sources
from memfs.search.indexer import Indexed
from memfs.search.lexical import TextIndex
from memfs.store import archive, lock, message_records, recall
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import SESSION, conversation, line, user


def transcript(folder: Path, name: str, data: bytes) -> str:
    path = folder / f"{name}.jsonl"
    path.write_bytes(data.replace(SESSION.encode(), name.encode()))
    return str(path)


def ingest(place: Place, *paths: str) -> Indexed:
    """Read transcripts, feeding the index; return what was left to index behind them."""
    with lock.hold_lock(place.home, name=lock.INGEST), index_sources.open_feed(place) as index:
        assert index
        ingest_transcripts.ingest_transcripts(place.home, list(paths), Tally(), None, index)
        left = index.update(index_sources.sources(place), index_sources.make_documents)
    assert index_sources.sync(place, embed=False) == Indexed(0, 0)
    return left


def documents(place: Place) -> Counter[str]:
    text = TextIndex.open(place.home.index)
    assert text
    found: Counter[str] = Counter()
    for _, address in text.search(text.number_query(0), 1000):
        document = text.read_fields(address)
        document.pop("num")
        found[repr(sorted(document.items()))] += 1
    return found


def wanted(place: Place) -> Counter[str]:
    """What an index that is made of the files alone holds."""
    os.rename(place.home.index, f"{place.home.index}.fed")
    assert index_sources.sync(place, embed=False)
    made = documents(place)
    assert len(made) == sum(made.values()) > 0
    return made


@pytest.mark.parametrize("batch", [1, 1 << 20])
def test_nothing_is_left_to_index_of_what_was_read(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(ingest_transcripts, "_BATCH_BYTES", batch)
    monkeypatch.setattr(workers, "PART", 300)
    index_sources.sync(place, embed=False)
    output = [{"type": "tool_result", "content": "see getUserName in src/a.py, 连接失败 " * 90}]
    said = conversation(9) + line("user", output, "t")
    paths = [transcript(tmp_path, f"s{number}", said) for number in range(3)]
    assert ingest(place, *paths) == Indexed(0, 0)
    for path in paths:
        Path(path).write_bytes(Path(path).read_bytes() + user("and more", "u99"))
    assert ingest(place, *paths) == Indexed(0, 0)
    fed = documents(place)
    assert fed == wanted(place)


def test_what_cannot_be_fed_is_indexed_afterwards(place: Place, tmp_path: Path) -> None:
    first = transcript(tmp_path, "s1", conversation(4))
    ingest(place, first)
    Path(first).write_bytes(Path(first).read_bytes().replace(b"turn", b"TURN"))  # another text
    behind = transcript(tmp_path, "s2", conversation(4))
    ingest_transcripts.ingest_transcripts(place.home, [behind], Tally())  # kept, and not indexed
    Path(behind).write_bytes(Path(behind).read_bytes() + user("and more", "u99", sessionId="s2"))
    further = tmp_path / "further.jsonl"
    further.write_bytes(Path(behind).read_bytes() + user("and on", "u100", sessionId="s2"))
    again = transcript(tmp_path, "s3", conversation(3))
    longer = tmp_path / "copy.jsonl"  # the same session in two files
    longer.write_bytes(Path(again).read_bytes() + user("and more", "u99", sessionId="s3"))
    assert ingest(place, first, behind, str(further), again, str(longer)).added == 4 + 6
    fed = documents(place)
    assert fed == wanted(place)


def test_copies_of_a_session_are_read_on_and_made_durable_once(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_sources.sync(place, embed=False)
    settled: list[int] = []
    settle = recall.flush

    def counted(read: list[tuple[recall.RecallLog, message_records.ReadState]]) -> None:
        settled.append(len(read))
        settle(read)

    monkeypatch.setattr(recall, "flush", counted)
    paths = []
    for count in (2, 4, 7):
        paths.append(tmp_path / f"{count}.jsonl")
        paths[-1].write_bytes(conversation(count))
    assert ingest(place, *map(str, paths)) == Indexed(0, 0)
    assert settled == [1]
    fed = documents(place)
    assert sum("turn" in each for each in fed) == 7
    assert fed == wanted(place)


def test_a_copy_that_was_rewritten_waits_for_those_before(place: Place, tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.jsonl" for name in "abc")
    first.write_bytes(conversation(3))
    second.write_bytes(conversation(5))
    third.write_bytes(conversation(6).replace(b"turn", b"TURN"))
    tally = Tally()
    with lock.hold_lock(place.home, name=lock.INGEST), index_sources.open_feed(place) as index:
        ingest_transcripts.ingest_transcripts(
            place.home, [str(first), str(second), str(third)], tally, None, index
        )
    [log] = recall.sources(place.home)
    assert [each.text[:4] for each in recall.messages(log)] == ["TURN"] * 6
    state = recall.RecallLog(place.home, "claude", Identity(SESSION, "")).load_state()
    assert state
    assert (state.path, state.kept) == (str(third), os.path.getsize(log))
    fed = documents(place)
    assert fed == wanted(place)


def test_what_was_fed_and_then_replaced_is_indexed_once(place: Place, tmp_path: Path) -> None:
    """Also within one run, whose commit is still to come."""
    other = transcript(tmp_path, "s0", conversation(3))
    index_sources.sync(place, embed=False)
    path = transcript(tmp_path, "s1", conversation(6))
    with lock.hold_lock(place.home, name=lock.INGEST), index_sources.open_feed(place) as index:
        assert index
        ingest_transcripts.ingest_transcripts(place.home, [path], Tally(), None, index)
        transcript(tmp_path, "s1", conversation(4).replace(b"turn", b"TURN"))
        ingest_transcripts.ingest_transcripts(place.home, [path, other], Tally(), None, index)
    assert index_sources.sync(place, embed=False) == Indexed(0, 0)
    fed = documents(place)
    assert fed == wanted(place)


def test_all_else_that_is_new_is_indexed_with_what_was_fed(place: Place, tmp_path: Path) -> None:
    archive.write_passage(place.home, "kept for later", importance=5, tags=())
    path = transcript(tmp_path, "s1", conversation(3))
    with lock.hold_lock(place.home, name=lock.INGEST), index_sources.open_feed(place) as index:
        ingest_transcripts.ingest_transcripts(place.home, [path], Tally(), None, index)
    fed = documents(place)
    assert sum("kept for later" in each for each in fed) == 1
    assert fed == wanted(place)


def test_what_was_fed_and_not_published_is_indexed_once(place: Place, tmp_path: Path) -> None:
    path = transcript(tmp_path, "s1", conversation(5))
    other = transcript(tmp_path, "s2", conversation(2))

    def stop(_: int) -> None:
        if recall.sources(place.home):  # all of it was written
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), index_sources.open_feed(place) as index:
        ingest_transcripts.ingest_transcripts(place.home, [path, other], Tally(), stop, index)
    assert ingest(place, path).added >= 5
    fed = documents(place)
    assert fed == wanted(place)


def test_while_somebody_else_indexes_nothing_is_fed(place: Place, tmp_path: Path) -> None:
    path = transcript(tmp_path, "s1", conversation(5))
    with (
        lock.hold_lock(place.home, name=lock.INDEX),
        index_sources.open_feed(place, wait=0.05) as index,
    ):
        assert index is None
        ingest_transcripts.ingest_transcripts(place.home, [path], Tally(), None, index)
    assert ingest(place, path).added >= 5
