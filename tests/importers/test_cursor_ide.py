"""Sessions of Cursor's editor become sessions of the project that was open."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memfs.core.records import Message
from memfs.importers import readers
from memfs.importers.readers.task_folders import parse_folder
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details, read_session
from tests.importers.samples import make_cursor_ide, make_vscode_state, write_json

CREATED = 1767225600000


def make_state(folder: Path, **composers: object) -> Path:
    """Make a database of sessions by their ids."""
    rows = {f"composerData:{name.replace('_', '-')}": each for name, each in composers.items()}
    return make_vscode_state(folder / "globalStorage/state.vscdb", {}, rows)


def test_turns_in_their_session_are_read(place: Place, tmp_path: Path) -> None:
    turns = [
        {"type": 1, "text": "How?", "createdAt": 1},
        {"type": 2, "text": "", "codeBlocks": [{"languageId": "sh", "content": "make\n"}]},
        {"type": 2, "thinking": {"text": "Hm."}},
    ]
    path = make_state(tmp_path, c_1={"createdAt": CREATED, "conversation": turns})
    import_path(place, path)
    assert [(each.id, each.role, each.text) for each in read_session(place)] == [
        ("@0", "user", "How?"),
        ("@1", "assistant", "```sh\nmake\n```"),
    ]


def test_chats_of_the_time_before_sessions_are_read(place: Place, tmp_path: Path) -> None:
    bubbles = [{"type": "user", "text": "Why?"}, {"type": "ai", "rawText": "So."}, 7]
    tabs = [{"tabId": "t-1", "lastSendTime": CREATED, "bubbles": bubbles}, {"tabId": None}]
    workspace = tmp_path / "workspaceStorage/w-1"
    write_json(workspace / "workspace.json", {"folder": f"file://{tmp_path}/repo"})
    chats = {"workbench.panel.aichat.view.aichat.chatdata": {"tabs": tabs}}
    make_vscode_state(workspace / "state.vscdb", chats, {})
    done = import_path(place, make_state(tmp_path, c_1={}))
    assert dict(done.taken) == {("chat", "repo"): 1}
    assert [each.text for each in read_session(place, "t-1")] == ["Why?", "So."]


@pytest.mark.parametrize(
    "tie",
    [
        {"workspaceIdentifier": {"id": "w-1"}},
        {"workspaceIdentifier": {"id": "gone", "uri": {"fsPath": "/home/ana/other"}}},
        {"conversation": [{"type": 1, "text": "x", "workspaceUris": ["file:///home/ana/other"]}]},
        {"conversation": [{"type": 1, "text": "x", "workspaceProjectDir": "/home/ana/other"}]},
        {"conversation": [{"type": 1, "text": "x", "cwd": "/home/ana/other"}]},
    ],
)
def test_a_session_of_another_folder_is_left(
    place: Place, tmp_path: Path, tie: dict[str, object]
) -> None:
    uri = {"folder": "vscode-remote://ssh-remote%2Bhost/home/ana/other"}
    write_json(tmp_path / "workspaceStorage/w-1/workspace.json", uri)
    composer = {"conversation": [{"type": 1, "text": "x"}], **tie}
    done = import_path(place, make_state(tmp_path, c_1=composer))
    assert dict(done.left) == {("session", "other"): 1}
    assert not recall.sources(place.home)


def test_a_table_ties_sessions_to_folders(place: Place, tmp_path: Path) -> None:
    write_json(tmp_path / "workspaceStorage/w-1/workspace.json", {"folder": "file:///other"})
    path = make_state(tmp_path, c_1={"conversation": [{"type": 1, "text": "x"}]})
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE composerHeaders (composerId TEXT, workspaceId TEXT)")
        base.execute("INSERT INTO composerHeaders VALUES ('c-1', 'w-1')")
        base.commit()
    assert dict(import_path(place, path).left) == {("session", "other"): 1}


def test_a_session_whose_transcript_is_there_comes_once(place: Place, tmp_path: Path) -> None:
    said = Message("m", "c-1", "cursor", "", "", "", "user", "Why does it fail?")
    recall.write_session(recall.get_path(place.home, "cursor", "c-1"), [said])
    done = import_path(place, make_cursor_ide(tmp_path / "tool").parent.parent)
    assert not done.items


def test_of_a_session_that_goes_on_the_new_turns_are_added(place: Place, tmp_path: Path) -> None:
    path = make_cursor_ide(tmp_path / "tool")
    import_path(place, path)
    turns = [{"bubbleId": f"b-{number}"} for number in (1, 2, 3)]
    with closing(sqlite3.connect(path)) as base:
        composer = json.dumps({"fullConversationHeadersOnly": turns})
        base.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c-1', ?)", (composer,))
        bubble = json.dumps({"type": 1, "text": "More"})
        base.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c-1:b-3', ?)", (bubble,))
        base.commit()
    done = import_path(place, path)
    assert [item.outcome for item in done.items] == ["merged"]
    assert [each.id for each in read_session(place)][-1] == "b-3"


def test_a_turn_that_is_too_large_is_named_and_the_others_come_in(
    place: Place, tmp_path: Path
) -> None:
    path = make_cursor_ide(tmp_path / "tool")
    with closing(sqlite3.connect(path)) as base:
        base.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c-1:b-2', zeroblob(70000000))")
        base.commit()
    done = import_path(place, path)
    assert "too large" in list_details(done, "refused")[0]
    assert [each.id for each in read_session(place)] == ["b-1"]


def test_a_view_in_place_of_the_table_is_not_run(tmp_path: Path) -> None:
    path = make_state(tmp_path)
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE VIEW cursorDiskKV AS SELECT 'composerData:x' AS key, 1 AS value")
        base.commit()
    assert readers.recognise(str(path)) is None


def test_the_database_is_found_where_cursor_has_it(home: Path) -> None:
    for top in (".config/Cursor", "Library/Application Support/Cursor"):
        make_state(home / top / "User", c_1={})
    make_vscode_state(home / ".config/Code/User/globalStorage/state.vscdb", {"a": 1}, {})
    assert readers.get("cursor-ide").find(str(home), {}) == [
        str(home / top / "User/globalStorage/state.vscdb")
        for top in (".config/Cursor", "Library/Application Support/Cursor")
    ]


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/ana/a%20b", "/home/ana/a b"),
        ("file:///c%3A/Users/ana/shop", "c:/Users/ana/shop"),
        ("vscode-remote://ssh-remote%2Bhost/home/ana/shop", "/home/ana/shop"),
        ("/home/ana/shop", "/home/ana/shop"),
        ("c:\\Users\\ana", "c:\\Users\\ana"),
        ("https://example.org/shop", ""),
        ("shop", ""),
        ("", ""),
        ("file://", ""),
    ],
)
def test_the_folder_of_a_uri(uri: str, path: str) -> None:
    assert parse_folder(uri) == path
