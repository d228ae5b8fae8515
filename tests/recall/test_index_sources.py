"""What of a place is indexed, as what, and that files people broke do no harm."""

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.ingest import transcripts
from memfs.ingest.transcripts import Tally
from memfs.recall import index_sources, model_config
from memfs.search import doc_json
from memfs.search.catalog import IndexSource
from memfs.search.request import Filter
from memfs.store import archive
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.hosts.transcript_lines import SESSION, conversation, line, user


@pytest.fixture
def store(place: Place) -> Store:
    assert place.project
    return place.project


def found(place: Place, query: str, **only: object) -> list[str]:
    """Search by words after bringing the index up to date."""
    assert index_sources.sync(place, embed=False) is not None
    engine = index_sources.open_engine(place.home, place.home.index, None)
    return [hit.id for hit in engine.search(query, mode="text", limit=99, only=Filter(**only)).hits]  # type: ignore[arg-type]


def take(store: Store, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    transcripts.ingest_transcripts(store, [str(path)], Tally())


def passage(store: Store, name: str, data: bytes) -> Path:
    path = Path(store.root) / "archive/2026-05" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_messages_passages_and_blocks_are_found(
    place: Place, store: Store, tmp_path: Path, block_file: Callable[[str, str], Path]
) -> None:
    take(store, tmp_path / "t.jsonl", user("about marmalade", "u1"))
    kept, _ = archive.write_passage(store, "Marmalade is kept cold.", importance=8, tags=("food",))
    assert place.user
    own, _ = archive.write_passage(place.user, "I like marmalade.", importance=5, tags=())
    block_file("services/api", "---\ndescription: marmalade\n---\nv1\n")
    assert set(found(place, "marmalade")) == {
        f"claude/{SESSION}/u1",
        kept.id,
        own.id,
        "project:services/api",
    }
    assert found(place, "marmalade", kinds=("passage",), tags=("food",)) == [kept.id]
    assert found(place, "marmalade", kinds=("block",)) == ["project:services/api"]
    assert found(place, "marmalade", kinds=("message",)) == [f"claude/{SESSION}/u1"]


def test_a_message_is_indexed_with_all_that_is_known(store: Store, tmp_path: Path) -> None:
    take(store, tmp_path / "t.jsonl", user("hello", "u1"))
    (source,) = [
        each for each in index_sources.sources(Place(store, None)) if each.kind == "message"
    ]
    assert source.grows
    assert list(index_sources.make_documents(source, 0)) == [
        {
            "id": f"claude/{SESSION}/u1",
            "kind": "message",
            "text": "hello",
            "role": "user",
            "host": "claude",
            "session": SESSION,
            "project": "/home/dev/shop",
            "branch": "main",
            "group": zlib.crc32(f"claude/{SESSION}".encode()),
            "weight": 100,
            "at": 1_777_802_400,
            "time": "2026-05-03T10:00:00.000Z",
        }
    ]
    assert list(index_sources.make_documents(source, os.path.getsize(source.path))) == []


def test_a_session_that_was_rewritten_between_two_runs_is_found_once(
    place: Place, store: Store, tmp_path: Path
) -> None:
    want = set()
    for first in range(6):
        take(store, tmp_path / "t.jsonl", conversation(3 + first, first=10 * first))
        take(store, tmp_path / "t.jsonl", conversation(4 + first, first=100 + 10 * first))
        numbers = (*range(10 * first, 3 + 11 * first), *range(100 + 10 * first, 104 + 11 * first))
        want |= {f"claude/{SESSION}/u{n}" for n in numbers}
        assert set(found(place, "turn number", kinds=("message",))) == want


def test_what_a_killed_ingestion_left_is_indexed_once(
    place: Place, store: Store, tmp_path: Path
) -> None:
    """The index may see the beginning of a line that is cut off, and written again, later."""
    path = tmp_path / "t.jsonl"
    take(store, path, conversation(2))
    (log,) = Path(store.local, "recall/claude").glob("*[0-9].jsonl")
    state = log.with_name(log.name.replace(".jsonl", ".state.json"))
    old, size = state.read_bytes(), log.stat().st_size
    take(store, path, conversation(4))
    state.write_bytes(old)
    os.truncate(log, size + 50)
    assert len(found(place, "turn number", kinds=("message",))) == 2
    take(store, path, conversation(5))
    assert len(found(place, "turn number", kinds=("message",))) == 5


def test_what_a_rewrite_took_away_is_still_found(
    place: Place, store: Store, tmp_path: Path
) -> None:
    take(store, tmp_path / "t.jsonl", user("before the rewrite", "u1"))
    take(store, tmp_path / "t.jsonl", user("after it", "u2"))
    assert found(place, "rewrite") == [f"claude/{SESSION}/u1"]


def test_tool_output_is_indexed_as_such(place: Place, store: Store, tmp_path: Path) -> None:
    result = [{"type": "tool_result", "content": "segfault in libfoo"}]
    take(store, tmp_path / "t.jsonl", line("user", result, "u1"))
    assert found(place, "segfault", roles=("tool",)) == [f"claude/{SESSION}/u1"]
    assert found(place, "segfault", roles=("user",)) == []


def test_odd_texts_of_a_transcript_do_not_stop_the_index(
    place: Place, store: Store, tmp_path: Path
) -> None:
    take(store, tmp_path / "t.jsonl", user("half \ud83d a pair", "\ud800", cwd="\udc80"))
    assert found(place, "pair") == [f"claude/{SESSION}/?"]


BROKEN = {
    "binary": bytes(range(256)),
    "latin": b"---\ntags: [caf\xe9]\ncreated_at: \xff\n---\nLatin marmalade \xe9\n",
    "huge": b"---\nimportance: 99999999999999999999999\n---\nhuge marmalade\n",
    "negative": b"---\nimportance: -5\ncreated_at: 99999-01-01\n---\nless marmalade\n",
    "types": b"---\nimportance: [1]\ntags: {a: b}\ncreated_at: [x]\nsource: 5\n---\nother marmalade\n",
    "yaml": b"---\n\t: [\n---\nYAML marmalade\n",
    "bare": b"marmalade\n",
    "windows": b"\xef\xbb\xbf---\r\nimportance: 3\r\n---\r\nWindows marmalade\r\n",
    "empty": b"",
}


def test_passages_that_somebody_broke_do_not_stop_the_index(place: Place, store: Store) -> None:
    for name, data in BROKEN.items():
        passage(store, f"{name}.md", data)
    odd = os.fsdecode(b"odd\xff.md")
    passage(store, odd, b"odd marmalade\n")
    (Path(store.root) / "archive/2026-05/folder.md").mkdir()
    os.mkfifo(Path(store.root) / "archive/2026-05/fifo.md")
    names = set(found(place, "marmalade", kinds=("passage",)))
    assert {"latin", "huge", "negative", "types", "yaml", "bare", "windows", "odd?"} <= names
    assert set(found(place, "marmalade", kinds=("passage",))) == names
    (Path(store.root) / "archive/2026-05" / odd).unlink()
    assert set(found(place, "marmalade", kinds=("passage",))) == names - {"odd?"}


@pytest.mark.parametrize("name", BROKEN)
def test_blocks_that_somebody_broke_do_not_stop_the_index(
    place: Place, block_file: Callable[[str, str], Path], name: str
) -> None:
    block_file("broken", BROKEN[name].decode("utf-8", "surrogateescape"))
    block_file("whole", "whole marmalade\n")
    assert "project:whole" in found(place, "marmalade", kinds=("block",))


def test_the_blocks_of_a_session_are_not_indexed(place: Place, store: Store) -> None:
    session = Place(store, place.user, "s1")
    folder = Path(store.session("s1"))
    folder.mkdir(parents=True)
    (folder / "working.md").write_text("marmalade\n")
    assert found(session, "marmalade") == []


def test_links_out_of_the_store_are_not_indexed(place: Place, store: Store, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("marmalade\n")
    passage(store, "a.md", b"x\n").with_name("link.md").symlink_to(tmp_path / "secret.md")
    (Path(store.root) / "blocks/link.md").symlink_to(tmp_path / "secret.md")
    assert found(place, "marmalade") == []


def test_a_file_that_disappears_is_forgotten(place: Place, store: Store) -> None:
    path = passage(store, "p.md", b"marmalade\n")
    assert found(place, "marmalade") == ["p"]
    path.unlink()
    assert found(place, "marmalade") == []
    assert list(index_sources.make_documents(IndexSource(str(path), "passage"), 0)) == []


def test_the_vectors_follow(place: Place, store: Store) -> None:
    passage(store, "p.md", b"We bake sourdough bread.\n")
    told: dict[tuple[str, int], list[int]] = {}

    def stage(name: str, length: int) -> Callable[[int], object]:
        return told.setdefault((name, length), []).append

    done = index_sources.sync(place, embed=True, stage=stage)
    assert done
    assert {begun: sum(steps) for begun, steps in told.items()} == {
        ("indexing", 0): done.added,
        ("embedding", done.added): done.added,
    }
    hits = (
        index_sources.open_engine(
            place.home, place.home.index, model_config.load_wanted_model(place).files
        )
        .search("a loaf from the oven")
        .hits
    )
    assert hits[0].id == "p"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:10Z", 10),
        ("1970-01-01 00:00:10", 10),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-02", 86_400),
        ("2026-05-03T10:00:00.999Z", 1_777_802_400),
        ("", None),
        ("soon", None),
        ("99999-01-01", None),
        ("2026-13-01", None),
    ],
)
def test_times_are_read(text: str, seconds: int | None) -> None:
    assert doc_json.epoch(text) == seconds


@given(
    st.text()
    | st.datetimes(timezones=st.timezones() | st.none()).map(lambda moment: moment.isoformat())
)
def test_any_text_is_a_time_or_none(text: str) -> None:
    found = doc_json.epoch(text)
    assert found is None or -(1 << 62) < found < 1 << 62
