"""Databases of other programs: nothing is written beside them, and all that is in them is read."""

import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from memfs.files import database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database that writes ahead, which its owner closed."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE rows (key TEXT UNIQUE, value BLOB)")
        keys = ["a:1", "a:2", "a:世界", "a", "b:1", "A:1", 7, None]
        base.executemany("INSERT INTO rows VALUES (?, 'x')", [(key,) for key in keys])
        base.commit()
    return path


def list_keys(path: Path, prefix: str) -> list[str]:
    with database.open_database(str(path)) as base:
        return list(base.list_keys("rows", "key", prefix))


def test_keys_are_listed_by_their_beginning(path: Path) -> None:
    assert list_keys(path, "a:") == ["a:1", "a:2", "a:世界"]
    assert list_keys(path, "c") == []
    with database.open_database(str(path)) as base:
        assert list(base.list_keys("none", "key", "a")) == []
        assert list(base.list_keys("rows", "none", "a")) == []


def test_one_that_its_owner_closed_is_read_where_it_is(path: Path) -> None:
    assert list_keys(path, "b") == ["b:1"]
    assert [each.name for each in path.parent.glob("a.db*")] == ["a.db"]


def write_during_reading(path: Path) -> None:
    with database.open_database(str(path)) as base, closing(sqlite3.connect(path)) as other:
        assert list(base.list_keys("rows", "key", "b"))
        other.execute("INSERT INTO rows VALUES ('c:1', 'x')")
        other.commit()


def test_a_change_during_the_reading_is_told(path: Path) -> None:
    with pytest.raises(OSError, match="try again"):
        write_during_reading(path)


def test_a_link_leads_to_what_was_written_last(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere/link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    with closing(sqlite3.connect(path)) as owner:
        owner.execute("PRAGMA wal_autocheckpoint = 0")
        owner.execute("INSERT INTO rows VALUES ('c:1', 'x')")
        owner.commit()
        assert list_keys(link, "c") == ["c:1"]


ENDLESS = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


def rewrite_schema(base: sqlite3.Connection, sql: str, name: str = "rows", page: str = "") -> None:
    """Write a text into the list of tables, as nobody's SQLite would."""
    base.execute("PRAGMA writable_schema = ON")
    if not page:
        base.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, name))
    else:
        row = "table", name, name, int(page), sql
        base.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    base.commit()


def make_view(base: sqlite3.Connection) -> None:
    base.execute("ALTER TABLE rows RENAME TO other")
    base.execute(f"CREATE VIEW rows (key, value) AS SELECT x, x FROM ({ENDLESS})")


def make_views(base: sqlite3.Connection) -> None:
    base.execute("ALTER TABLE rows RENAME TO v0")
    for number in range(40):
        base.execute(
            f"CREATE VIEW v{number + 1} AS SELECT a.key, b.value FROM v{number} a, v{number} b"
        )
    base.execute("CREATE VIEW rows AS SELECT * FROM v40")


def make_generated(base: sqlite3.Connection) -> None:
    base.execute("DROP TABLE rows")
    blob = "length(hex(zeroblob(30000000))) || value"
    base.execute(f"CREATE TABLE rows (value, key AS ({blob}))")
    base.executemany("INSERT INTO rows VALUES (?)", [(n,) for n in range(3)])


def make_blobs(base: sqlite3.Connection) -> None:
    base.execute("INSERT INTO rows VALUES ('big', zeroblob(70000000))")


def make_virtual(spelled: str) -> Callable[[sqlite3.Connection], None]:
    def make(base: sqlite3.Connection) -> None:
        base.execute("DROP TABLE rows")
        base.execute("CREATE TABLE x (key, value)")
        (page,) = base.execute("SELECT rootpage FROM sqlite_master WHERE name = 'x'").fetchone()
        rewrite_schema(base, f"{spelled} rows USING fts5(key, value)", page=str(page))

    return make


def make_odd_shadows(base: sqlite3.Connection) -> None:
    base.execute("DROP TABLE rows")
    base.execute("CREATE VIRTUAL TABLE rows USING fts5(key, value)")
    base.execute("INSERT INTO rows VALUES ('a', 'b')")
    base.execute("UPDATE rows_data SET block = randomblob(5000)")


def make_loop(base: sqlite3.Connection) -> None:
    rewrite_schema(base, "CREATE TABLE rows (key, value, " + "(" * 5000)


def make_check(base: sqlite3.Connection) -> None:
    base.execute(f"CREATE TABLE c (key, value CHECK (value IN (1, {'+'.join('1' * 90)})))")
    base.execute("CREATE INDEX i ON rows (abs(key), hex(key))")


def make_shared_pages(base: sqlite3.Connection) -> None:
    """Lead every branch of a tree to the next tree, as deep as six: each leaf is read often."""
    base.execute("DROP TABLE rows")
    base.commit()
    base.execute("PRAGMA page_size = 512")
    base.execute("VACUUM")
    roots = []
    for name in ("rows", "b", "c", "d", "e", "f"):
        base.execute(f"CREATE TABLE {name} (key, value)")
        texts = [("k", "x" * 100)] * 150
        base.executemany(f"INSERT INTO {name} VALUES (?, ?)", texts)
        found = base.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,))
        roots.append(found.fetchone()[0])
    base.commit()
    path = Path(base.execute("PRAGMA database_list").fetchone()[2])
    data = bytearray(path.read_bytes())
    for root, child in pairwise(roots):
        start = 512 * (root - 1)
        assert data[start] == 5  # a page that leads to others
        (count,) = struct.unpack_from(">H", data, start + 3)
        for cell in struct.unpack_from(f">{count}H", data, start + 12):
            struct.pack_into(">I", data, start + cell, child)
        struct.pack_into(">I", data, start + 8, child)
    path.write_bytes(data)


HOSTILE: dict[str, Callable[[sqlite3.Connection], None]] = {
    "a view without end": make_view,
    "views of views": make_views,
    "columns that are computed": make_generated,
    "values larger than allowed": make_blobs,
    "shadows of a virtual table": make_odd_shadows,
    "pages in each other's place": make_shared_pages,
    "a schema that is no SQL": make_loop,
    "checks and indexes of expressions": make_check,
    **{
        repr(spelled): make_virtual(spelled)
        for spelled in (
            "CREATE VIRTUAL TABLE",
            "CREATE  VIRTUAL TABLE",
            "create/**/virtual table",
            "CREATE\tVIRTUAL\nTABLE",
            " CREATE VIRTUAL TABLE",
            "-- a\nCREATE VIRTUAL TABLE",
            "CREATE TABLE VIRTUAL TABLE",
        )
    },
}


def read_or_refuse(path: Path) -> int:
    """Return how many rows are read; what is refused names the file, and why."""
    try:
        with database.open_database(str(path), patience=4) as opened:
            return sum(1 for _ in opened.read_rows("rows", ("key", "value")))
    except OSError as error:
        found = error
    assert found.filename == str(path)
    assert "the database cannot be read (" in str(found)
    return 0


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_made_to_harm_is_read_or_refused_and_ends(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = DELETE")
        HOSTILE[name](base)
        base.commit()
    count = read_or_refuse(path)
    assert count <= (
        0 if name[:5] == "pages" or "view" in name or "VIRTUAL" in name.upper() else 400
    )


@pytest.mark.parametrize("query", [ENDLESS, "SELECT load_extension('x')", "DELETE FROM rows"])
def test_a_query_that_does_more_than_reading_is_refused(path: Path, query: str) -> None:
    with (
        database.open_database(str(path), patience=4) as opened,
        pytest.raises(OSError, match="cannot be read"),
    ):
        list(opened.run_query(query))


@pytest.mark.parametrize("share", [1, 3, 8, 20])
def test_a_damaged_file_is_read_or_refused(path: Path, share: int) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = DELETE")
        base.executemany("INSERT INTO rows VALUES (?, ?)", [(f"k{n}", "x" * n) for n in range(900)])
        base.commit()
    data = bytearray(path.read_bytes())
    for at in range(100 + share, len(data), len(data) // (share * 7)):
        data[at] ^= 0xA5
    path.write_bytes(data)
    assert read_or_refuse(path) <= 908


def test_a_process_that_hangs_is_ended(path: Path) -> None:
    """Also where SQLite itself does not notice, as in the code of a virtual table."""
    with database.open_database(str(path), patience=1) as opened:
        os.kill(opened.process_id, signal.SIGSTOP)
        with pytest.raises(OSError, match="reading took too long"):
            list(opened.read_rows("rows", ("key",)))
    with pytest.raises(ProcessLookupError):
        os.kill(opened.process_id, 0)


def test_two_queries_at_once_bring_their_own_rows(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.executemany(
            "INSERT INTO rows VALUES (?, ?)", [(f"n{n}", "x" * 9999) for n in range(200)]
        )
        base.commit()
    with database.open_database(str(path)) as opened:
        found = []
        for key in opened.list_keys("rows", "key", "n"):
            (row,) = opened.read_rows("rows", ("key",), where=("key", key))
            found.append((key, row.text("key")))
    assert len(found) == 200
    assert all(one == other for one, other in found)


def test_an_interrupt_ends_the_reading_and_its_process(path: Path) -> None:
    program = (
        "import sys\nfrom memfs.files import database\n"
        "with database.open_database(sys.argv[1], patience=60) as opened:\n"
        "    print(opened.process_id, flush=True)\n"
        "    import os, signal; os.kill(opened.process_id, signal.SIGSTOP)\n"
        "    list(opened.read_rows('rows', ('key',)))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        number = int(process.stdout.readline())
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.wait(10)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
