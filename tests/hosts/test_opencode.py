"""opencode's sessions: from its database while it writes, and from exports."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.core.records import Identity
from memfs.hosts import opencode, opencode_sessions
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.transcripts import Tally
from memfs.ops import ingest
from memfs.store import lock, recall, spool
from memfs.store.blocks import Place
from tests.hosts.reading import FIXTURES, said

SCHEMA = """
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""
EXPORT = (FIXTURES / "opencode/export.json").read_bytes()
MESSAGES = [
    (each["info"]["id"], each["info"], each["parts"]) for each in json.loads(EXPORT)["messages"]
]


def text(said: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": said, **more}


SAID = [
    ("user", "which café port?"),
    ("bash", "command: ls"),
    ("result", "a.txt"),
    ("assistant", "8080."),
    ("user", "and the menu?"),
]


class Base:
    """A database that is open and written to, as it is while opencode runs."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.now = path, 1
        self.base = sqlite3.connect(path, isolation_level=None)
        self.base.execute("PRAGMA journal_mode=WAL")
        self.base.executescript(SCHEMA)

    def session(self, name: str, folder: str = "", parent: str | None = None) -> None:
        self.now += 1
        self.base.execute(
            "INSERT INTO session VALUES (?,?,?,?,?)", (name, parent, folder, self.now, self.now)
        )

    def say(self, session: str, ident: str, info: object, parts: list[dict[str, object]]) -> None:
        self.now += 1
        name = f"{session}-{ident}"
        made = json.dumps(info)
        self.base.execute(
            "INSERT OR REPLACE INTO message VALUES (?,?,?,?,?)",
            (name, session, self.now, self.now, made),
        )
        for place, part in enumerate(parts):
            row = (f"{name}-{place}", name, session, self.now, self.now, json.dumps(part))
            self.base.execute("INSERT OR REPLACE INTO part VALUES (?,?,?,?,?,?)", row)

    def listed(self, project: str = "") -> list[Identity]:
        head = self.path.read_bytes()[:4096]
        return opencode_sessions.READER.sessions(str(self.path), head, project)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    made = Base(tmp_path / "opencode.db")
    yield made
    made.base.close()


def test_a_session_in_the_database_says_what_its_export_says(base: Base) -> None:
    base.session("s", "/home/dev/shop")
    for message in MESSAGES:
        base.say("s", *message)
    (identity,) = base.listed()
    assert identity[:5] == ("s", "", "/home/dev/shop", "", True)
    found = opencode_sessions.READER.read_session(str(base.path), identity)
    assert said(found) == SAID
    assert (found.malformed, found.left_out) == (0, 1)
    assert found.messages[0].id == "s-m1-0"
    exported = opencode_sessions.READER.read_transcript(EXPORT, identity, start=0)
    without_ids = [[each._replace(id="") for each in one.messages] for one in (found, exported)]
    assert without_ids[0] == without_ids[1]


def test_a_database_is_read_while_it_is_written_and_each_message_is_kept_once(
    place: Place, base: Base
) -> None:
    assert place.project
    top = place.project.top
    base.session("s", top)
    base.session("side", f"{top}/web", "s")
    base.session("other", f"{top}-old")
    sizes = []
    for count in range(1, len(MESSAGES) + 1):
        base.say("s", *MESSAGES[count - 1])
        base.say("side", *MESSAGES[0])
        base.say("other", *MESSAGES[0])
        tally = Tally()
        ingest_transcripts.ingest_transcripts(place.home, [str(base.path)], tally)
        assert tally.skipped is None
        sizes.append(tally.messages)
    assert sizes == [2, 3, 0, 1]
    folder = Path(place.home.local) / "recall/opencode"
    assert sorted(path.name for path in folder.glob("*.jsonl")) == ["s.agent-side.jsonl", "s.jsonl"]
    log = recall.RecallLog(place.home, "opencode", Identity("s", ""))
    assert [(m.tool or m.role, m.text) for m in recall.messages(log.path)] == SAID
    side = recall.RecallLog(place.home, "opencode", Identity("s", "side"))
    assert [(m.side, m.project) for m in recall.messages(side.path)] == [(True, f"{top}/web")]


def test_an_answer_that_was_still_being_written_is_replaced(place: Place, base: Base) -> None:
    assert place.project
    base.session("s", place.project.top)
    for answer in ("It is", "It is eight."):
        base.say("s", "m", MESSAGES[1][1], [text(answer)])
        ingest_transcripts.ingest_transcripts(place.home, [str(base.path)], Tally())
    log = recall.RecallLog(place.home, "opencode", Identity("s", ""))
    assert [message.text for message in recall.messages(log.path)] == ["It is eight."]


def test_a_database_is_never_written_to(base: Base) -> None:
    base.session("s")
    base.say("s", *MESSAGES[0])
    wal = base.path.with_name("opencode.db-wal")
    before = base.path.read_bytes(), wal.read_bytes()
    opencode_sessions.READER.read_session(str(base.path), base.listed()[0])
    assert (base.path.read_bytes(), wal.read_bytes()) == before


def test_one_that_cannot_be_read_is_skipped_with_the_reason(place: Place, tmp_path: Path) -> None:
    tally = Tally()
    for name, tables in (("other", ["session"]), ("new", ["session", "message", "part"])):
        with sqlite3.connect(tmp_path / f"{name}.db") as base:
            for table in tables:
                base.execute(f"CREATE TABLE {table} (id text)")
        base.close()
        ingest_transcripts.ingest_transcripts(place.home, [str(tmp_path / f"{name}.db")], tally)
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    ingest_transcripts.ingest_transcripts(place.home, [str(tmp_path / "broken.db")], tally)
    assert [reason.partition(" (")[0] for _, reason in tally.skipped or []] == [
        "not a transcript of a known assistant",
        "the database cannot be read",
        "the database cannot be read",
    ]


def test_rows_that_hold_no_json_are_counted(base: Base) -> None:
    base.session("s")
    base.say("s", *MESSAGES[0])
    base.base.execute("INSERT INTO message VALUES ('x', 's', 1, 1, '{')")
    base.base.execute("INSERT INTO part VALUES ('y', 'x', 's', 1, 1, '[]')")
    found = opencode_sessions.READER.read_session(str(base.path), base.listed()[0])
    assert (said(found), found.malformed) == (SAID[:1], 2)


@pytest.mark.parametrize("data", [b"", b"{}", b"hello"], ids=repr)
def test_what_is_no_database_has_no_sessions(data: bytes, tmp_path: Path) -> None:
    assert opencode_sessions.READER.sessions(str(tmp_path / "x"), data, "") == []


def test_its_database_is_found_where_it_has_sessions_of_the_project(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(opencode_sessions.READER.list_transcripts(str(home), "/home/dev/shop")) == []
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    made = []
    for root, folder in (
        (tmp_path / "data", "/home/dev/shop/web"),
        (home / ".local/share", "/home/dev"),
    ):
        base = Base(root / "opencode/opencode.db")
        base.session("s", folder)
        base.base.close()
        made.append(str(base.path))
    assert list(opencode_sessions.READER.list_transcripts(str(home), "/home/dev/shop")) == made[:1]
    assert list(opencode_sessions.READER.list_transcripts(str(home), "/home/dev")) == made


def test_one_session_is_listed_with_its_subagents(base: Base) -> None:
    for name, parent in (("s", None), ("side", "s"), ("other", None)):
        base.session(name, "/elsewhere", parent)
    found = opencode_sessions.READER.sessions(
        str(base.path), base.path.read_bytes()[:4096], "", "s"
    )
    assert [each[:2] for each in found] == [("s", ""), ("s", "side")]


def test_at_the_end_of_a_turn_its_session_alone_is_read(
    place: Place, repo: Path, home: Path
) -> None:
    base = Base(home / ".local/share/opencode/opencode.db")
    base.session("s", str(home))  # started elsewhere, and it is in this folder now
    base.session("other", str(repo))
    for session in ("s", "other"):
        base.say(session, *MESSAGES[0])
    sent: dict[str, object] = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(repo)}
    event = opencode.HOST.parse_event(sent)
    assert event
    with lock.hold_lock(place.home, name=lock.INGEST):
        assert ingest.ingest_event(event).messages == 0
    assert [note[3] for note in spool.list_notes(place.home)] == ["s"]
    assert ingest.ingest_event(event).messages == 1
    base.base.close()
    assert [Path(path).name for path in recall.sources(place.home)] == ["s.jsonl"]


def test_a_database_of_another_name_is_the_one_that_is_read(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_DB", "mine.db")
    sent: dict[str, object] = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": "/p"}
    found = opencode.HOST.parse_event(sent)
    assert found
    assert found.transcript == ""
    path = home / ".local/share/opencode/mine.db"
    Base(path).base.close()
    found = opencode.HOST.parse_event(sent)
    assert found
    assert found.transcript == str(path)
    assert list(opencode_sessions.READER.list_transcripts(str(home), "/p")) == []
