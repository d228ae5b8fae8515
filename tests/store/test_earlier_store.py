"""A store that version 0.2.0 made opens, searches, undoes and merges."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memfs.core import merge
from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit, facts, history, search, show, undo
from memfs.recall import prompts
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store import blocks, incoming_changes, local_folder, store_paths, trust
from memfs.store.blocks import Place

EARLIER = Path(__file__).parent / "earlier_store"
ORIGIN = Origin()


@pytest.fixture
def earlier(repo: Path) -> Place:
    """The store in a repository, committed; what never is committed is in `history` there."""
    root = repo / ".agent-memory"
    shutil.copytree(EARLIER, root, ignore=shutil.ignore_patterns("history"))
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", "memory"], check=True)
    store = store_paths.require(str(repo))
    local_folder.make(store)
    shutil.copytree(EARLIER / "history", store.local, dirs_exist_ok=True)
    incoming_changes.accept(store)
    trust.grant_trust(store)
    return blocks.find_place(str(repo))


def find(place: Place, query: str) -> list[tuple[str, str]]:
    page = search.run(OpenStore(place), query, mode=None, only=Filter(), limit=9, page=1)
    return [(hit.kind, hit.text) for hit in page.hits]


def test_it_is_shown_and_found(earlier: Place) -> None:
    shown = show.run(earlier, "notes")
    assert (shown.version, shown.block.value) == (
        3,
        "The gateway listens on port 7444.\nIt speaks HTTP/2.",
    )
    assert ("message", "Never deploy the ledger on a Friday.") in find(earlier, "deploy ledger")
    assert ("passage", "Invoices are rounded half to even.") in find(earlier, "invoices rounded")
    assert find(earlier, "make check before a push")[0][0] == "static"
    (fact,) = facts.select_facts(earlier)
    assert fact.statement == "Never deploy the ledger on a Friday"
    recalled = prompts.recall(earlier, (), "when may the ledger be deployed?", [], 3).found
    assert "Friday" in recalled[0].snippet


def test_its_history_goes_on(earlier: Place) -> None:
    edit.run(earlier, [Append("notes", "It is written in Go.")], ORIGIN)
    assert {entry.version for entry in history.log(earlier, "notes")} == {1, 2, 3, 4}
    for _ in range(2):
        undo.undo_edit(earlier, "notes", ORIGIN)
    assert show.run(earlier, "notes").block.value == (
        "The gateway listens on port 7443.\nIt speaks HTTP/2."
    )
    undo.restore_version(earlier, "notes", "1", ORIGIN)
    assert show.run(earlier, "notes").block.value == "The gateway listens on port 7443."


def test_it_merges_with_what_is_written_now(earlier: Place) -> None:
    base = blocks.get(earlier, "notes").raw
    edit.run(earlier, [Append("notes", "Ours.")], ORIGIN)
    ours = blocks.get(earlier, "notes").raw
    theirs = base.replace("7444", "7445").replace("version: 3", "version: 4")
    merged = merge.merge(base, ours, theirs)
    assert "port 7445.\nIt speaks HTTP/2.\nOurs." in merged
    assert "<<<<" not in merged
