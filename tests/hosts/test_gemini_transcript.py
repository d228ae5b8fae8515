"""Gemini's transcripts: records that replace each other, in folders that name a project or hash it."""

import hashlib
import json
from pathlib import Path

import pytest

from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.transcripts import Tally
from memfs.store import recall
from memfs.store.blocks import Place
from tests.hosts.reading import FIXTURES, identify

DATA = (FIXTURES / "gemini/session.jsonl").read_bytes()
SAID = [
    ("user", "how is café spelled here?"),
    ("assistant", "I will search."),
    ("search_file_content", "pattern: caf"),
    ("result", "menu.py: cafe"),
    ("assistant", "Without the accent."),
    ("assistant", "Saved."),
    ("user", "and the menu?"),
]


def test_a_transcript_that_grows_and_changes_is_kept_as_it_is_now(
    place: Place, tmp_path: Path
) -> None:
    path, tally = tmp_path / "t.jsonl", Tally()
    for size in [*range(200, len(DATA), 311), len(DATA)]:
        path.write_bytes(DATA[:size])
        ingest_transcripts.ingest_transcripts(place.home, [str(path)], tally)
    identity = identify("gemini", DATA)
    assert identity
    log = recall.RecallLog(place.home, "gemini", identity)
    assert [(m.tool or m.role, m.text) for m in recall.messages(log.path)] == SAID
    assert tally.messages == len(SAID)
    again = Tally()
    ingest_transcripts.ingest_transcripts(place.home, [str(path)], again)
    assert (again.messages, again.skipped) == (0, None)


@pytest.mark.parametrize(
    ("folder", "file", "text", "project"),
    [
        ("shop", "tmp/shop/.project_root", "/home/dev/other\n", "/home/dev/other"),
        ("shop", "projects.json", '{"projects": {"/home/dev/p": "shop"}}', "/home/dev/p"),
        ("HASH", "projects.json", '{"projects": {"/home/dev/p": "shop"}}', "/home/dev/p"),
        ("x", "projects.json", '{"projects": {"/home/dev/p": "shop"}}', ""),
        ("x", "projects.json", "[]", ""),
    ],
)
def test_a_folder_of_chats_says_where_they_were_held(
    tmp_path: Path, folder: str, file: str, text: str, project: str
) -> None:
    """Some folders are named by a hash, as they all were until 2026."""
    name = hashlib.sha256(b"/home/dev/p").hexdigest() if folder == "HASH" else folder
    path = tmp_path / f"tmp/{name}/chats/session-1.jsonl"
    path.parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)
    head = {"sessionId": "s", "projectHash": "x", "startTime": "2026-11-20T11:00:00Z"}
    found = identify("gemini", json.dumps(head).encode() + b"\n", str(path))
    assert found
    assert found.project == project
