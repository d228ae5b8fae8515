"""The service watches data sources, and answers searches and prompts from their open indexes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.ipc import client
from memfs.ops import archive, search
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store import data_sources
from memfs.store.blocks import Place
from tests.recall.test_open_sources import configure, write
from tests.service import running
from tests.service.running import answered, asked, hook, payload, until

LEDGER = """# Ledger export

The ledger export reconciles invoices with the bank statement, once a night.
"""
PROMPT = "how does the ledger export reconcile invoices with the bank statement?"


@pytest.fixture
def held(place: Place, repo: Path) -> Place:
    """A place with a data source, which the service holds and has read."""
    write(repo / "docs/ledger.md", LEDGER)
    configure(repo, "guide: {paths: [docs]}")
    running.begin()
    assert client.ask("hold", [str(repo)], wait=running.LONG) is not None
    until(lambda: found(place, "ledger"))
    return place


def found(place: Place, word: str) -> list[str]:
    """Return where the published indexes of sources have a word: nothing is read for that."""
    index = OpenStore(place)
    index.watched = True
    engines = [engine for _, engine in index.list_sources("text")]
    return [hit.location for e in engines for hit in e.search(word, mode="text").hits]


def test_changes_of_files_are_found_without_anybody_who_asks(held: Place, repo: Path) -> None:
    write(repo / "docs/deep/new.md", "The word is begonia.\n")
    assert until(lambda: found(held, "begonia")) == ["docs/deep/new.md:1"]
    write(repo / "docs/deep/new.md", "The word is petunia.\n")
    until(lambda: found(held, "petunia") and not found(held, "begonia"))
    shutil.rmtree(repo / "docs/deep")
    until(lambda: not found(held, "petunia"))


def test_a_search_is_answered_from_the_open_index(held: Place) -> None:
    def ask() -> list[str]:
        index = OpenStore(held)
        only = Filter(kinds=("source",))
        page = search.run(index, "ledger", mode=None, only=only, limit=5, page=1)
        return [hit.location for hit in page.hits]

    assert until(ask)[0].startswith("docs/ledger.md:")


def test_a_prompt_is_told_what_a_source_says(held: Place, repo: Path) -> None:
    hook(payload(repo, "SessionStart"))
    told = until(lambda: asked(payload(repo, "UserPromptSubmit", PROMPT)))
    assert "source guide, docs/ledger.md:" in told
    assert "reconciles invoices" in told
    assert not answered(payload(repo, "UserPromptSubmit", PROMPT))  # it was shown
    assert held.project


def test_a_source_that_comes_is_watched_and_one_that_goes_is_dropped(
    held: Place, repo: Path, tmp_path: Path
) -> None:
    def prompt(session: str) -> str:
        hook(payload(repo, "SessionStart", session=session))
        return hook(payload(repo, "UserPromptSubmit", PROMPT, session=session))

    write(tmp_path / "notes/first.md", "The word is begonia.\n")
    (Path.home() / ".agent-memory/config.yaml").write_text(
        f"memfs: 1\nsources: {{notes: {{paths: [{tmp_path}/notes]}}}}\n"
    )
    sessions = iter(range(1000))  # the configuration is looked at after a prompt
    until(lambda: prompt(f"s{next(sessions)}") and found(held, "begonia"))
    write(tmp_path / "notes/second.md", "The word is petunia.\n")
    until(lambda: found(held, "petunia"))
    configure(repo, "")
    assert [source.name for source in data_sources.list_sources(held)] == ["notes"]
    until(lambda: "reconciles" not in prompt(f"s{next(sessions)}"))


def test_a_prompt_is_told_which_file_is_gone(held: Place, repo: Path) -> None:
    def commit(*words: str) -> None:
        subprocess.run(["git", "add", "-A"], check=True)
        subprocess.run(["git", "commit", "-q", "-m", *words], check=True)

    def ask() -> str:
        session = f"s{next(sessions)}"
        hook(payload(repo, "SessionStart", session=session))
        return hook(payload(repo, "UserPromptSubmit", question, session=session))

    sessions, question = iter(range(1000)), "which module rounds the invoices of the courier?"
    text = "The module `src/courier.py` rounds the invoices of the courier."
    archive.run(held, text, importance=5, tags=(), origin=Origin())
    write(repo / "src/courier.py", "x = 1\n")
    commit("one")
    until(lambda: "src/courier.py" in ask())
    assert "gone" not in ask()
    (repo / "src/courier.py").unlink()
    commit("two", "--date=2030-09-03T12:00:00Z")
    until(lambda: "; file was removed in 2030-09)" in ask())
