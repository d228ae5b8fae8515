"""The vector kind: windows of conversations, bounds, and what leaves."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.errors import MemfsError, NotFoundError
from memfs.core.records import Message, Origin
from memfs.core.tokens import estimate
from memfs.knowledge.kinds import content
from memfs.knowledge.kinds.graph import Graph
from memfs.knowledge.kinds.protocol import Capacity, Query, State
from memfs.knowledge.kinds.vector import Vector
from memfs.ops import archive, search
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store import chunk_log
from memfs.store.blocks import Place

TALK = [
    {"role": "user", "content": "How long do we wait between two attempts?", "id": "a1"},
    {"role": "assistant", "content": "The payment client waits two seconds, then doubles it."},
]


def archived(place: Place, query: str, limit: int = 20) -> list[str]:
    kept = OpenStore(place)
    only = Filter(kinds=("passage",))
    found = search.run(kept, query, mode=None, only=only, limit=limit, page=1)
    return [hit.text for hit in found.hits]


def test_a_conversation_is_found_again(place: Place) -> None:
    kind = Vector(place)
    [ident] = kind.store(TALK, session="s1", tags=["retry"])
    kind.store("The harbour is painted in summer.")
    [found, *_] = kind.retrieve(Query("what is the delay before the client retries a payment"))
    assert found.id == ident
    assert found.text == (
        "user: How long do we wait between two attempts?\n"
        "assistant: The payment client waits two seconds, then doubles it."
    )
    [window] = kind.retrieve(Query(id=ident))
    assert window.metadata["participants"] == ["user", "assistant"]
    assert window.metadata["messages"][0] == "a1"  # type: ignore[index]
    assert window.metadata["tokens"] == pytest.approx(estimate(found.text), abs=8)
    assert "payment" in window.metadata["topics"]  # type: ignore[operator]
    assert [f.id for f in kind.retrieve(Query("attempts", tags=("retry",)))] == [ident]


def test_threshold_recency_and_several_queries(place: Place) -> None:
    kind = Vector(place)
    old = kind.store("The retry waits two seconds.")[0]
    new = kind.store("The retry waits three seconds.")[0]
    far = kind.store("Sailors paint the harbour.")[0]
    assert {f.id for f in kind.retrieve(Query("retry", threshold=0.5))} == {old, new}
    latest = kind.retrieve(Query("retry", prefer_recent=True, threshold=0.5))
    assert sorted(latest, key=lambda each: each.at, reverse=True) == latest
    both = kind.retrieve(Query(("retry", "harbour"), threshold=0.5))
    assert {f.id for f in both} == {old, new, far}
    assert kind.retrieve(Query("")) == []
    assert len(kind.retrieve(Query("retry", limit=1))) == 1


def test_what_is_over_the_bounds_is_in_the_archive(place: Place) -> None:
    kind = Vector(place, capacity=Capacity(max_items=3))
    for number in range(6):
        kind.store(f"Note {number} is about the word zebra{number}.")
    assert kind.metrics().items == 3
    assert not [f for f in kind.retrieve(Query("zebra1")) if "zebra1" in f.text]
    assert kind.retrieve(Query("zebra5"))[0].text == "Note 5 is about the word zebra5."
    for number in range(6):
        assert f"Note {number} is about the word zebra{number}." in archived(
            place, f"zebra{number}"
        )
    again = Vector(place, capacity=Capacity(max_items=3))  # in another process
    assert again.metrics().items == 3


def test_bytes_and_time_bound_it_too(place: Place) -> None:
    small = Vector(place, "small", Capacity(max_bytes=300))
    for number in range(20):
        small.store(f"The number of this note is {number}.")
    assert 1 <= small.metrics().items < 20
    assert small.metrics().bytes <= 300
    short = Vector(place, "short", Capacity(ttl=0.05))
    short.store("The first thing.")
    time.sleep(0.1)
    short.store("The second thing.")
    assert short.metrics().items == 1
    assert "The first thing." in archived(place, "first thing")


def test_max_bytes_counts_what_was_stored(place: Place) -> None:
    """The bytes of the messages: not our record of them, roles, or what windows share."""
    kind = Vector(place, chunk_size=40, overlap=20)
    first = [{"role": "user", "content": f"Crane {number} is größer."} for number in range(30)]
    ids = kind.store(first, note="x" * 5000)
    assert len(ids) > 3
    size = sum(len(each["content"].encode()) for each in first)
    assert kind.metrics().bytes == size
    assert Vector(place).metrics().bytes == size, "also in another process"
    long = "ein Wort " * 300
    kind.store(long)
    assert kind.metrics().bytes == size + len(long), "a message in several windows"
    kind.update(ids[0], "Kürzer.")
    assert Vector(place).metrics().bytes == kind.metrics().bytes < size + len(long)
    exact = Vector(place, "exact", Capacity(max_bytes=3 * 1000))
    for letter in "abcd":
        exact.store(letter * 999 + "!", note="y" * 500)
    assert (exact.metrics().items, exact.metrics().bytes) == (3, 3000)


@pytest.mark.parametrize("named", [True, False])  # by the state, or by the place
def test_what_is_relevant_is_not_of_the_running_session(place: Place, named: bool) -> None:
    here = place if named else Place(place.project, place.user, "now")
    state = State("the harbour crane", session="now" if named else "")
    kind, graph = Vector(here), Graph(here)
    for number in range(40):  # more than a search would find at once
        text = {"role": "user", "content": f"The harbour crane has {number} winches."}
        kind.store([text], session="now")
        graph.store([text], session="now")
    assert kind.relevant(state, Query(limit=3)).found == ()
    [old] = kind.store("The harbour crane is painted red.", session="before")
    found = kind.relevant(state, Query(limit=3)).found
    assert [each.id for each in found] == [old]
    graph.store("Who paints cranes?", session="before")
    assert {e.metadata["session"] for e in kind.relevant(state, Query()).found} == {"before"}


def test_the_same_bounds_whoever_writes(place: Place) -> None:
    one, other = (Vector(place, capacity=Capacity(max_items=4)) for _ in range(2))
    for number in range(10):
        (one, other)[number % 2].store(f"Thing {number}")
    assert one.metrics().items == other.metrics().items == 4


def test_update_delete_and_archive(place: Place) -> None:
    kind = Vector(place)
    first, second = kind.store("The port is 8080.")[0], kind.store("The host is web1.")[0]
    assert kind.retrieve(Query("port", threshold=0.3))[0].text == "The port is 8080."
    kind.update(first, "The port is 9090.")
    assert kind.retrieve(Query("port", threshold=0.3))[0].text == "The port is 9090."
    assert "The port is 8080." not in archived(place, "port")
    kind.delete(second)
    assert kind.metrics().items == 1
    assert "The host is web1." not in archived(place, "host web1")
    with pytest.raises(NotFoundError):
        kind.delete(second)
    with pytest.raises(NotFoundError):
        kind.update("nothing", "x")
    assert kind.archive("2099-01-01") == 1
    assert kind.metrics().items == 0
    assert "The port is 9090." in archived(place, "port")


def test_compression_loses_nothing(place: Place) -> None:
    bounds = Capacity(max_items=20, compression_threshold=0.8)
    kind = Vector(place, capacity=bounds, chunk_size=60, overlap=0)
    texts = [f"We decided that service{n} keeps its data in bucket{n}." for n in range(16)]
    for text in texts:
        kind.store(text)
    assert kind.metrics().items < 16
    for text in texts:
        assert text in archived(place, text)
    assert any("summary" in w.passage.tags for w in kind._log.read_live())
    assert "bucket" in kind.summarize()


def test_a_kill_in_the_middle_of_a_line_loses_no_other(place: Place) -> None:
    kind = Vector(place)
    kind.store("The first.")
    [path] = chunk_log.list_segments(place.home)
    with open(path, "ab") as handle:
        handle.write(b'{"id": "00')
    again = Vector(place)
    again.store("The second.")
    assert [w.passage.text for w in again._log.read_live()] == ["The first.", "The second."]


def test_secrets_and_private_parts_are_not_kept(place: Place) -> None:
    key = "ghp_" + "x7Kq2mPz9LwR4tVb8NcY3sHd6JfG1aQeU5oZ"
    Vector(place).store(f"The key is {key}. <private>I am ill.</private>")
    [path] = chunk_log.list_segments(place.home)
    raw = Path(path).read_text()
    assert key not in raw
    assert "ill" not in raw
    if os.name == "posix":
        assert os.stat(path).st_mode & 0o077 == 0


def test_names_of_messages_are_kept_without_secrets() -> None:
    key = "ghp_" + "x7Kq2mPz9LwR4tVb8NcY3sHd6JfG1aQeU5oZ"
    names = ("session", "project", "branch", "tool", "speaker")
    [message] = content.messages({"content": "said", **dict.fromkeys(names, f"x/{key}")})
    assert {getattr(message, name) for name in names} == {"x/[redacted:github-token]"}


def test_messages_of_recall_and_like_conversations(place: Place) -> None:
    from tests.knowledge.session_graph.conftest import FIXED, say

    say(place, "one", *FIXED)
    kind = Vector(place)
    archive.run(place, "Fake clocks make tests quick.", importance=5, tags=(), origin=Origin())
    found = kind.retrieve(Query("fake clock in the retry test", limit=5))
    assert {f.type for f in found} == {"message", "passage"}
    [like] = kind.similar("the retry test times out")
    assert (like.type, like.group) == ("conversation", "claude/one")
    said = Message("m1", "two", "python", "", "", "2026-05-03T09:00:00Z", "user", "the retry test")
    told = kind.relevant(State("fake clock", (said,)), Query(limit=3))
    assert len(told.found) == 3
    assert told.confidence > 0.3


@pytest.mark.parametrize("given_", [{"content": 5}, 7, [None], {"role": "user"}])
def test_what_cannot_be_stored(place: Place, given_: object) -> None:
    with pytest.raises(MemfsError):
        Vector(place).store(given_)  # type: ignore[arg-type]


def test_windows_have_to_be_longer_than_what_they_share(place: Place) -> None:
    with pytest.raises(MemfsError, match="overlap is 50 tokens"):
        Vector(place, chunk_size=50, overlap=50)


@given(
    st.lists(st.text(alphabet="ab cd.\n", max_size=400), min_size=1, max_size=12),
    st.integers(20, 200),
    st.integers(0, 19),
)
def test_windows_hold_every_word(texts: list[str], size: int, overlap: int) -> None:
    said = [
        Message(f"m{n}", "s", "python", "", "", "", "user", text) for n, text in enumerate(texts)
    ]
    found = content.chunks(said, size, overlap)
    held = " ".join(chunk.text for chunk in found).split()
    words = [word for text in texts for word in text.split()]
    assert [word for word in words if word not in held] == []
    assert {ident for chunk in found for ident in chunk.messages} == {
        m.id for m in said if m.text.strip() or estimate(m.text) + 2 <= size
    }
