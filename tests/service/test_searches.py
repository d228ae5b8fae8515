"""What the service answers to a query is what a process by itself would find."""

import json
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from memfs.core.errors import MemfsError
from memfs.core.records import Message, Origin
from memfs.ops import archive, search
from memfs.recall import index_sources
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store import recall
from memfs.store.blocks import Place
from tests.service import running

EVERYTHING = Filter()


@pytest.fixture
def told(place: Place) -> Place:
    """A place with something in its archive and its recall."""
    for text in ("Gophers dig tunnels under the meadow.", "Badgers sleep all day, \ud83e\udda1."):
        archive.run(
            place,
            text.encode("utf-16", "surrogatepass").decode("utf-16"),
            importance=5,
            tags=("animals",),
            origin=Origin(),
        )
    said = [
        Message(
            f"m{number}", "s1", "claude", place.home.top, "main", "2026-05-03T10:00:00Z", role, text
        )
        for number, (role, text) in enumerate(
            [("user", "where do gophers live?"), ("assistant", "In tunnels, gophers do.")]
        )
    ]
    folder = Path(place.home.local, "recall/claude")
    folder.mkdir(parents=True)
    recall.write_session(f"{folder}/s1{recall.SUFFIX}", said)
    index_sources.sync(place, embed=True)
    return place


HEAVY = {"memfs.store.git", "msgspec", "numpy", "sqlite3", "subprocess", "tantivy", "tokenizers"}
QUERIES = (
    "search gophers",
    "search --sessions gophers",
    "recall 'where gophers live'",
    "graph s1",
    "graph --similar 'where do gophers live?'",
)


@pytest.mark.usefixtures("warm")
def test_the_command_line_loads_no_engine_and_says_the_same(
    told: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(words: str) -> tuple[object, set[str]]:
        done = subprocess.run(
            [
                sys.executable,
                "-X",
                "importtime",
                "-P",
                "-m",
                "memfs",
                *shlex.split(words),
                "--json",
            ],
            cwd=told.home.top,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stderr.splitlines()
        found = {line.rpartition("|")[2].strip() for line in lines if "import time:" in line}
        assert not [each for each in found if each.startswith(("memfs.agent", "memfs.team"))]
        return json.loads(done.stdout), found

    def ask(words: str) -> object:
        found, loaded = run(words)
        if "tantivy" in loaded:  # the service is still reading what is new
            return None
        assert not loaded & HEAVY
        return found

    answers = {words: running.until(partial(ask, words)) for words in QUERIES}
    assert "Traceback" not in running.log(Path.home())
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "off")  # the service has another environment
    assert {words: run(words)[0] for words in QUERIES} == answers


@pytest.mark.usefixtures("warm")
def test_what_is_wrong_is_said_by_the_asker(told: Place) -> None:
    with pytest.raises(MemfsError, match="the query is empty"):
        search.run(OpenStore(told), " ", mode=None, only=EVERYTHING, limit=3, page=1)
