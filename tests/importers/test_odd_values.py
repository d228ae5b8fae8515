"""Fields of a tool's memory may hold anything: nothing fails, and no name leads elsewhere."""

import importlib
import inspect
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import pytest

from memfs.files import database
from memfs.importers import readers, tool_members
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers import samples
from tests.importers.importing import import_path
from tests.importers.note_samples import SAMPLES

ODD: tuple[object, ...] = (7, None, True, [], [{}], {"a": [1]}, "text", 1e300, -1)
ODD_CELLS = (7, None, "text", b"\0\xff", '[{"a": 1}]', "{")
NOTES = {"opencode-memory", "basic-memory", "memory-folder"}
NAMES = ["../../x", "a" * 200, "a\nb", "CON", ".", "\x1b[31m", "c:\\x", "世界", "-x"]


def list_objects(value: object) -> Iterator[dict[str, object]]:
    """Yield the objects in a JSON value, the outer ones first."""
    if isinstance(value, dict):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inside:
        yield from list_objects(each)


def make_odd(text: str, words: set[str]) -> Iterator[str]:
    """Yield a JSON text with odd values: of one key, and of all keys that an object could have."""
    keys = {key for each in list_objects(json.loads(text)) for key in each}
    for odd in ODD:
        for key in keys:
            value = json.loads(text)
            for each in [each for each in list_objects(value) if key in each]:
                each[key] = odd
            yield json.dumps(value)
        value = json.loads(text)
        for each in [*list_objects(value)]:
            each.update(dict.fromkeys(words - each.keys(), odd))
        yield json.dumps(value)
        yield json.dumps([value, odd, {"": odd}])


def vary_database(path: Path, words: set[str]) -> Iterator[None]:
    """Write odd values into each column of a database, and into the JSON that is in a cell."""
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as base:
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master")]
        tables = [name for name in tables if not name.startswith("sqlite_")]
        columns = [(t, row[1]) for t in tables for row in base.execute(f"PRAGMA table_info({t})")]
        cells = [
            (table, column, cell)
            for table, column in columns
            for (cell,) in base.execute(f"SELECT {column} FROM {table}")
            if isinstance(cell, str) and cell.startswith("{")
        ]
    changes = [(*each, "TRUE", value) for each in columns for value in ODD_CELLS]
    for table, column, cell in cells:
        where = f"{column} = '{cell}'"
        texts = islice(make_odd(cell, words), 0, None, 4)  # each reading takes a process
        changes += [(table, column, where, text) for text in texts]
    for table, column, where, changed in changes:
        path.write_bytes(whole)
        with closing(sqlite3.connect(path)) as base:
            with suppress(sqlite3.IntegrityError):  # of a column that takes no such value
                base.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (changed,))
            base.commit()
        yield
    path.write_bytes(whole)


def vary(path: Path, words: set[str]) -> Iterator[None]:
    """Write odd values into one of the files of a tool after the other."""
    for file in [path, *path.rglob("*")] if path.is_dir() else [path]:
        if file.is_file() and database.is_database(str(file)):
            yield from vary_database(file, words)
        elif file.suffix in (".json", ".jsonl", ".af"):
            lines = file.read_text("utf-8").split("\n")
            for text in make_odd(lines[0], words):
                file.write_text("\n".join([text, *lines[1:]]), "utf-8")
                yield
            file.write_text("\n".join(lines), "utf-8")


@pytest.mark.parametrize("tool", sorted(SAMPLES.keys() - NOTES))
def test_odd_values_in_every_field_do_no_harm(tool: str, place: Place, tmp_path: Path) -> None:
    path = SAMPLES[tool](tmp_path / "tool")
    if path.suffix == ".zip":
        path = samples.write_json(tmp_path / "c.json", [samples.make_chatgpt_conversation()])
    module = importlib.import_module(f"{readers.__name__}.{readers.NAMES[tool].partition('.')[0]}")
    words = set(re.findall(r'"(\w+)"', inspect.getsource(module)))
    importer = readers.get(tool)
    count = 0
    for _ in vary(path, words):
        assert importer.sniff(str(path)) in (True, False)
        items = importer.read(str(path))
        made = tool_members.collect_members(place, tool, items, user=True, project="")
        assert all(name.endswith((".md", ".jsonl")) for name in made.files.get("user", {}))
        count += 1
    assert count > 20


@pytest.mark.parametrize(
    ("tool", "ident"),
    [
        (tool, ident)
        for tool in ("chatgpt", "claude-ai", "cline", "cursor-ide")
        for ident in NAMES
        if tool != "cline" or not set(ident) & set("./\\")  # it is the name of a folder
    ],
)
def test_a_hostile_id_names_no_file_elsewhere(
    tool: str, ident: str, place: Place, tmp_path: Path
) -> None:
    chats = {
        "chatgpt": samples.make_chatgpt_conversation(conversation_id=ident),
        "claude-ai": samples.make_claude_ai_conversation(uuid=ident),
    }
    if tool == "cline":
        path = samples.make_task(tmp_path, "x", ident, workspace="") / "tasks"
        (path / ident / "history_item.json").unlink()
    elif tool == "cursor-ide":
        rows = {f"composerData:{ident}": {"conversation": [{"type": 1, "text": "x"}]}}
        path = samples.make_vscode_state(tmp_path / "globalStorage/state.vscdb", {}, rows)
    else:
        path = samples.write_json(tmp_path / "conversations.json", [chats[tool]])
    import_path(place, path, user=True)
    assert place.user
    (found,) = recall.sources(place.user)
    assert Path(found).parent == Path(place.user.local) / "recall" / tool
