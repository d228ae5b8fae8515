"""An index in memory finds and ranks as one in files does."""

from pathlib import Path

from memfs.core.records import Message
from memfs.search import doc_json, encoder
from memfs.search.catalog import IndexSource
from memfs.search.engine import Engine
from memfs.search.indexer import open_writer
from memfs.team.server import search

LONG = " ".join(f"word{number} of a long report" for number in range(80))
TEXTS = [
    "The checkout fails with StaleLeaseError in lease_pool.py since the update",
    "The lease is renewed after it was given back. Renew it inside the lock.",
    "That was it, thanks",
    f"{LONG} and the lease at its end",
    "…",
    "The lease is renewed after it was given back: renew it inside the lock",
]


def make_documents() -> list[dict[str, object]]:
    return [
        doc_json.document(
            Message(
                f"m{number}", f"s{number // 3}", "claude", "p", "main",
                f"2026-05-03T10:0{number}:00Z", ("user", "assistant")[number % 2], text,
            )
        )
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip


def test_it_gives_the_hits_of_an_index_in_files(tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    (tmp_path / "source").touch()
    with open_writer(folder) as writer:
        source = IndexSource(str(tmp_path / "source"), "message")
        writer.update([source], lambda *_: iter(make_documents()))
        writer.embed()
    model = encoder.load_bundled()
    windows = search.encode_windows(TEXTS, model)
    assert [len(each.tokens) > 1 for each in windows] == [False, False, False, True, False, False]
    found = search.make_engine(make_documents(), windows, model)
    in_files = Engine.open(folder)
    for query in (
        "StaleLeaseError lease_pool.py",
        "who renews a lease",
        '"inside the lock"',
        "thx",
    ):
        assert found.search(query).hits == in_files.search(query).hits
    assert search.make_engine([], [], model).search("lease").hits == []
