"""Data sources and imported chats are searched with the index of a place, if there are any."""

import subprocess
from pathlib import Path

import pytest

from memfs.core.records import Message, Origin
from memfs.ops import archive, search
from memfs.ops.sessions import read_session
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store import data_sources, lock, recall
from memfs.store.blocks import Place

GUIDE = "# Kettles\n\nA kettle is descaled with vinegar, once a month.\n"
CHAT = "How do I descale a kettle in hard water?"


@pytest.fixture
def sourced(place: Place, repo: Path) -> Place:
    """A place with a data source, not indexed yet, and a passage."""
    write(repo / "docs/kettles.md", GUIDE)
    configure(repo, "guide: {paths: [docs]}")
    archive.run(place, "The kettle is blue.", importance=5, tags=(), origin=Origin())
    return place


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def configure(folder: Path, sources: str) -> None:
    (folder / ".agent-memory/config.yaml").write_text(f"memfs: 1\nsources: {{{sources}}}\n")


def chat(place: Place, host: str = "chatgpt", text: str = CHAT) -> None:
    """Let the user's store hold an imported chat."""
    assert place.user
    said = Message("m1", "kettle", host, "", "", "2026-04-01T10:00:00Z", "user", text)
    folder = Path(place.user.local, "recall", host)
    folder.mkdir(parents=True)
    recall.write_session(f"{folder}/kettle{recall.SUFFIX}", [said])


def found(index: OpenStore | Place, only: Filter | None = None) -> list[str]:
    index = OpenStore(index) if isinstance(index, Place) else index
    page = search.run(index, "kettle", mode=None, only=only or Filter(), limit=9, page=1)
    return sorted(f"{hit.kind}: {hit.text.splitlines()[-1]}" for hit in page.hits)


SOURCED = "source: A kettle is descaled with vinegar, once a month."
ARCHIVED = "passage: The kettle is blue."
CHATTED = f"message: {CHAT}"


def test_sources_are_found_beside_the_rest(sourced: Place) -> None:
    assert found(sourced) == [ARCHIVED, SOURCED]
    assert found(sourced, Filter(kinds=("source",))) == [SOURCED]
    assert found(sourced, Filter(kinds=("passage",))) == [ARCHIVED]
    assert found(sourced, Filter(kinds=("passage", "source"))) == [ARCHIVED, SOURCED]


@pytest.mark.parametrize("ignored", ["", "*.jsonl\n", "log/\ncommits\n", "*\n"])
def test_commits_are_found_beside_the_rest(sourced: Place, repo: Path, ignored: str) -> None:
    """What the project ignores is no matter: memfs writes their log itself."""
    (repo / ".git/info/exclude").write_text("")
    (repo / ".agent-memory/local/.gitignore").unlink(missing_ok=True)
    (repo / ".agent-memory/.gitignore").write_text(ignored)
    words = ["git", "commit", "-q", "--allow-empty", "-m", "Descale the kettle at night"]
    subprocess.run(words, check=True)
    commit = "commit: Descale the kettle at night"
    assert found(sourced) == [commit, ARCHIVED, SOURCED]
    assert found(sourced, Filter(kinds=("commit",))) == [commit]
    assert found(sourced, Filter(kinds=("commit", "passage"))) == [commit, ARCHIVED]
    assert found(sourced, Filter(kinds=("source",))) == [SOURCED]
    assert found(sourced, Filter(kinds=("commit",), tags=("t",))) == []
    only = Filter(kinds=("commit",))
    (hit,) = search.run(OpenStore(sourced), "kettle", mode=None, only=only, limit=1, page=1).hits
    ident = str(hit.metadata["commit"])
    assert (hit.id, hit.label) == (f"commit/{ident}", ident[:7])
    assert (hit.metadata["author"], len(ident)) == ("Tester", 40)
    (repo / ".agent-memory/config.yaml").write_text("memfs: 1\ngit: {history: off}\n")
    assert found(sourced) == [ARCHIVED]


@pytest.mark.parametrize(
    "only",
    [
        Filter(roles=("user",)),
        Filter(hosts=("claude",)),
        Filter(sessions=("s",)),
        Filter(tags=("t",)),
        Filter(importance=5),
        Filter(speakers=("a",)),
        Filter(kinds=("source",), tags=("t",)),
    ],
)
def test_what_no_source_has_leaves_them_out(sourced: Place, only: Filter) -> None:
    index = OpenStore(sourced)
    assert index.list_searches("text", only) == []
    assert SOURCED not in found(index, only)


def test_dates_are_those_of_the_files(sourced: Place) -> None:
    assert SOURCED in found(sourced, Filter(since=1))
    assert SOURCED not in found(sourced, Filter(until=1))


def test_what_changed_is_found_in_an_open_index(sourced: Place, repo: Path) -> None:
    index = OpenStore(sourced)
    assert found(index) == [ARCHIVED, SOURCED]
    write(repo / "docs/new.md", "The kettle whistles.\n")
    (repo / "docs/kettles.md").unlink()
    index.close()  # what was looked at counts for a moment
    assert found(index) == [ARCHIVED, "source: The kettle whistles."]
    configure(repo, "")
    index.close()
    assert found(index) == [ARCHIVED]


def test_what_another_process_watches_is_searched_as_it_is(sourced: Place, repo: Path) -> None:
    index = OpenStore(sourced)
    index.watched = True
    assert found(index) == [ARCHIVED]
    assert found(sourced) == [ARCHIVED, SOURCED]
    assert found(index) == [ARCHIVED, SOURCED]
    write(repo / "docs/new.md", "The kettle whistles.\n")
    assert found(index) == [ARCHIVED, SOURCED]


@pytest.mark.parametrize("watched", [False, True])
def test_what_was_read_of_commits_goes_with_the_next_search(
    sourced: Place, repo: Path, watched: bool
) -> None:
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "The kettle sings"], check=True)
    history = data_sources.find_history(sourced)
    assert history
    assert found(sourced) == ["commit: The kettle sings", ARCHIVED, SOURCED]
    (repo / ".agent-memory/config.yaml").write_text("memfs: 1\ngit: {history: off}\n")
    index = OpenStore(sourced, watched=watched)
    with lock.hold_lock(sourced.home, name="sources.commits.lock"):  # it is read elsewhere
        assert found(index) == [ARCHIVED]
    assert Path(history.index).is_dir()
    index.close()
    assert found(index) == [ARCHIVED]
    assert Path(history.index).is_dir() == watched  # then that is for the service


def test_a_damaged_index_is_made_anew(sourced: Place) -> None:
    index = OpenStore(sourced)
    assert found(index, Filter(kinds=("source",))) == [SOURCED]
    (source,) = data_sources.list_sources(sourced)
    for path in Path(source.index).glob("v*/text/*"):
        path.write_bytes(b"x" * 64)
    assert found(sourced, Filter(kinds=("source",))) == [SOURCED]


def test_a_source_that_another_process_indexes_is_searched_as_it_is(sourced: Place) -> None:
    assert found(sourced) == [ARCHIVED, SOURCED]
    index = OpenStore(sourced)
    with lock.hold_lock(sourced.home, name="sources.guide.lock"):
        assert found(index) == [ARCHIVED, SOURCED]
        assert "'guide'" in index.note


@pytest.mark.parametrize("host", ["chatgpt", "claude-ai"])
def test_imported_chats_are_found_in_a_project(place: Place, host: str) -> None:
    chat(place, host)
    index = OpenStore(place)
    assert found(index) == found(index, Filter(hosts=(host,))) == [CHATTED]
    assert found(index, Filter(kinds=("message",), since=1)) == [CHATTED]
    assert found(index, Filter(hosts=("claude",))) == found(index, Filter(kinds=("block",))) == []
    sessions = search.search_sessions(
        index, "kettle", mode=None, only=Filter(), limit=9, page=1
    ).hits
    assert [each.session for each in sessions] == ["kettle"]
    assert [message.text for message in read_session(place, "kettle")] == [CHAT]


def test_other_sessions_of_the_users_own_store_are_not(place: Place) -> None:
    chat(place, "claude", "A kettle for the mountain hut")
    assert found(place) == []
    chat(place, "chatgpt")
    assert found(place) == [CHATTED]
    assert place.user
    assert found(Place(None, place.user)) == ["message: A kettle for the mountain hut", CHATTED]


def test_chats_are_listed_by_time_with_the_rest(place: Place) -> None:
    chat(place)
    said = [
        Message(f"m{day}", "s", "claude", "", "", f"2026-04-0{day}T09:00:00Z", "user", f"day {day}")
        for day in (1, 2, 3)
    ]
    Path(place.home.local, "recall/claude").mkdir(parents=True)
    recall.write_session(f"{place.home.local}/recall/claude/s{recall.SUFFIX}", said)
    index = OpenStore(place)
    pages = [
        search.list_by_date(index, only=Filter(kinds=("message",)), limit=2, page=page)
        for page in (1, 2)
    ]
    assert [hit.text for page in pages for hit in page.hits] == ["day 1", CHAT, "day 2", "day 3"]
    assert {page.total for page in pages} == {4}
