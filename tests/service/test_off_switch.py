"""A running service does nothing for a store whose memory is turned off (`enabled: false`)."""

from pathlib import Path

from memfs.ipc import client
from memfs.ops import init
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.service import running
from tests.service.running import answered, count_found, payload, until
from tests.service.test_current import claude, write


def switch(place: Place, value: str) -> None:
    assert place.project
    Path(place.project.root, "config.yaml").write_text(f"memfs: 1\nenabled: {value}\n")


def write_block(folder: Path, name: str, word: str) -> None:
    path = folder / f".agent-memory/blocks/{name}.md"
    path.write_text(f"The word is {word}.")


def index_other(home: Path, folder: Path) -> None:
    """Have the service index a later change of another store, and all else that waits."""
    init.run(str(folder), str(home))
    other = blocks.find_place(str(folder))
    assert client.ask("hold", [str(folder)], wait=running.LONG) is not None
    write_block(folder, "first", "dahlia")
    until(lambda: count_found(other, "dahlia"))
    until(lambda: not running.begin().work)


def test_it_reads_nothing_until_memory_is_on_again(
    held: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    switch(held, "false")
    write_block(repo, "second", "petunia")
    write(*claude(home, repo, "hydrangea"))
    index_other(home, tmp_path / "other")
    assert count_found(held, "begonia")
    assert not count_found(held, "petunia")
    assert not count_found(held, "hydrangea")
    for store in (repo, home, tmp_path / "other"):
        assert not list(store.glob(".agent-memory/local/recall/**/*.jsonl"))
    switch(held, "true")
    write_block(repo, "third", "gladiolus")
    write(*claude(home, repo, "chrysanthemum"))
    for word in ("gladiolus", "petunia", "chrysanthemum", "hydrangea"):
        until(lambda word=word: count_found(held, word))  # type: ignore[misc]


def test_it_says_nothing_and_holds_no_store(
    place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    switch(place, "false")
    before = running.begin()
    write_block(repo, "second", "petunia")
    assert client.ask("hold", [str(repo)], wait=running.LONG) is not None
    assert answered(payload(repo, "UserPromptSubmit", "where is the petunia?")) == ""
    index_other(home, tmp_path / "other")
    status = running.begin()
    assert status.process == before.process
    assert status.stores == (str(tmp_path / "other/.agent-memory"),)
    assert not Path(place.home.index).exists()
