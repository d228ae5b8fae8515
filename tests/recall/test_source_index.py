"""The index of a data source follows its files, and says what it left out."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from memfs.core.errors import StoppedError
from memfs.ingest import cutting
from memfs.ingest.source_files import IGNORED
from memfs.recall import index_sources, source_index, source_state
from memfs.recall.source_state import SourceState
from memfs.store import data_sources, lock
from memfs.store.blocks import Place
from memfs.store.data_sources import DataSource

KEY = "AKIA" + "IOSFODNN7EXAMPLF"


@pytest.fixture
def docs(place: Place, repo: Path) -> Path:
    """The folder of a source named docs."""
    (repo / "docs").mkdir()
    configure(place)
    return repo / "docs"


def configure(place: Place, more: str = "") -> None:
    assert place.project
    text = f"memfs: 1\nsources:\n  docs:\n    paths: [docs]\n{more}"
    Path(place.project.root, "config.yaml").write_text(text)


def source(place: Place) -> DataSource:
    return data_sources.list_sources(place)[0]


def list_states(folder: str) -> dict[Path, tuple[int, int, int]]:
    """Return what changes with a file: a read, which the system may note late, is not in it."""
    found = ((each, each.stat()) for each in Path(folder).rglob("*"))
    return {each: (state.st_ino, state.st_size, state.st_mtime_ns) for each, state in found}


def sync(place: Place, *, embed: bool = False) -> SourceState:
    state = source_index.sync(place, source(place), embed=embed)
    assert state
    return state


def find(place: Place, query: str) -> list[str]:
    engine = index_sources.open_engine(place.home, source(place).index, None)
    return [each.id for each in engine.search(query).hits]


class Stages:
    """Counts what is reported, by stage; the lengths are what each begins with."""

    def __init__(self) -> None:
        self.lengths: dict[str, int] = {}
        self.done: dict[str, int] = {}

    def __call__(self, name: str, length: int) -> Callable[[int], object]:
        self.lengths[name] = length
        self.done[name] = 0

        def tick(more: int) -> None:
            self.done[name] += more

        return tick


def test_a_chunk_is_found_with_its_file_heading_and_line(place: Place, docs: Path) -> None:
    (docs / "sub").mkdir()
    (docs / "sub/a.md").write_text("# Tea\n\n## Green\n\nsteep at seventy degrees\n")
    os.utime(docs / "sub/a.md", (1_700_000_000, 1_700_000_000))
    sync(place, embed=True)
    model = source_index.find_model(place, source(place))
    engine = index_sources.open_engine(place.home, source(place).index, model)
    [hit] = engine.search("seventy degrees").hits
    assert (hit.id, hit.kind, hit.label) == ("docs/sub/a.md#1", "source", "docs")
    assert hit.text == "Tea\n\n## Green\n\nsteep at seventy degrees"
    assert hit.metadata == {"file": "docs/sub/a.md", "heading": "Tea", "line": 1, "end": 5}
    assert hit.at == "2023-11-14T22:13:20Z"
    assert engine.vectors


def test_what_changes_is_followed(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    (docs / "b.md").write_text("herons fish\n")
    assert (sync(place).files, sync(place).chunks) == (2, 2)
    (docs / "a.md").write_text("gophers sleep\n")
    (docs / "b.md").unlink()
    (docs / "c.md").write_text("storks fly\n")
    state = sync(place)
    assert (state.files, state.chunks) == (2, 2)
    assert find(place, "herons") == find(place, "dig") == []
    assert sorted(find(place, "storks gophers")) == ["docs/a.md#1", "docs/c.md#1"]


def test_a_look_at_what_has_not_changed_opens_nothing(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    sync(place, embed=True)
    before = list_states(source(place).index)
    stages = Stages()
    again = source_index.sync(place, source(place), embed=True, stage=stages)
    assert again == source_state.load_state(source(place))
    assert stages.lengths == {"looking": 0}
    assert list_states(source(place).index) == before


def test_what_is_left_out_is_counted_and_named(place: Place, docs: Path, repo: Path) -> None:
    (repo / ".gitignore").write_text("*.tmp\n")
    (docs / "a.tmp").write_text("x")
    (docs / "a.md").write_text("gophers dig\n")
    (docs / "bin").write_bytes(b"\0")
    (docs / "key.md").write_text(f"key = {KEY}\n")
    state = sync(place)
    assert state.left == {IGNORED: 1, cutting.BINARY: 1, cutting.SECRET: 1}
    assert state.named == [("docs/key.md", cutting.SECRET)]
    (docs / "b.md").write_text("others are not read again\n")
    assert sync(place).left == state.left
    (docs / "key.md").write_text("key is in the safe\n")
    assert sync(place).named == []
    assert source_state.load_state(source(place)) == sync(place)


@pytest.mark.usefixtures("bound")
def test_a_file_that_cannot_be_read_is_tried_again(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    (docs / "a.md").chmod(0)
    state = sync(place)
    assert state.named == [("docs/a.md", "cannot be read (Permission denied)")]
    assert (state.files, sum(state.left.values())) == (0, 1)
    (docs / "a.md").chmod(0o600)
    assert sync(place).files == 1


def test_a_file_that_grows_while_it_is_read_is_read_again(place: Place, docs: Path) -> None:
    for name in ("a", "b"):
        (docs / f"{name}.md").write_text("gophers dig\n")

    def stage(name: str, _length: int) -> Callable[[int], object]:
        def tick(_more: int) -> None:
            if name == "indexing":
                with (docs / "b.md").open("a") as file:
                    file.write("herons fish\n")

        return tick

    source_index.sync(place, source(place), embed=False, stage=stage)
    sync(place)
    (docs / "b.md").write_text("storks\n")
    assert sync(place).chunks == 2
    assert find(place, "herons") == []
    assert find(place, "storks") == ["docs/b.md#1"]


def test_another_size_of_chunks_cuts_all_anew(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("".join(f"gopher {n} digs\n\n" for n in range(60)))
    assert sync(place).chunks == 1
    configure(place, "    chunk_size: 200\n    overlap: 0\n")
    assert sync(place).chunks > 4
    configure(place, '    exclude: ["*.md"]\n')
    assert sync(place).chunks == 0


def test_a_path_that_is_gone_empties_the_index_and_is_named(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    sync(place)
    docs.rename(docs.parent / "moved")
    state = sync(place)
    assert (state.files, state.missing) == (0, [str(docs)])
    assert find(place, "gophers") == []


def test_a_damaged_index_is_made_anew(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    sync(place)
    for path in Path(source(place).index, "v5/text").glob("*.store"):
        path.write_bytes(b"rubbish")
    (docs / "b.md").write_text("herons fish\n")
    assert sync(place).files == 2
    assert find(place, "gophers") == ["docs/a.md#1"]
    Path(source(place).index, "state.json").write_text("{")
    assert sync(place).files == 2


def test_one_process_at_a_time(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    assert place.project
    with lock.hold_lock(place.project, name="sources.docs.lock"):
        assert source_index.sync(place, source(place), embed=False, wait=0.0) is None


def test_a_run_that_is_stopped_is_continued(place: Place, docs: Path) -> None:
    for number in range(20):
        (docs / f"{number:02}.md").write_text("gophers dig\n")

    def stage(name: str, _length: int) -> Callable[[int], object]:
        done = 0

        def tick(more: int) -> None:
            nonlocal done
            done += more
            if name == "indexing" and done > 8:
                raise StoppedError

        return tick

    with pytest.raises(StoppedError):
        source_index.sync(place, source(place), embed=False, stage=stage)
    state = source_state.load_state(source(place))
    assert state
    assert not state.whole
    stages = Stages()
    again = source_index.sync(place, source(place), embed=False, stage=stages)
    assert stages.done["indexing"] == 12
    assert again
    assert (again.files, again.chunks) == (20, 20)


KILLED = """
import os, signal
from memfs.recall import source_index, source_state
from memfs.store import blocks, data_sources

def stage(name, length):
    done = [0]
    def tick(more):
        done[0] += more
        if name == "indexing" and done[0] > 150:
            os.kill(os.getpid(), signal.SIGKILL)
    return tick

source_index._COMMIT = 50
place = blocks.find_place(".")
source_index.sync(place, data_sources.list_sources(place)[0], embed=False, stage=stage)
"""


def test_a_run_that_is_killed_is_continued(place: Place, docs: Path) -> None:
    for number in range(300):
        (docs / f"{number:03}.md").write_text(f"gopher{number} digs\n")
    (docs / "000.md").write_text(f"key = {KEY}\n")
    killed = subprocess.run([sys.executable, "-c", KILLED], check=False)
    assert killed.returncode == -signal.SIGKILL
    stages = Stages()
    state = source_index.sync(place, source(place), embed=True, stage=stages)
    assert 140 < stages.done["indexing"] < 260
    assert state
    assert (state.files, state.chunks, state.left) == (299, 299, {cutting.SECRET: 1})
    assert find(place, "gopher7") == ["docs/007.md#1"]


def test_pdf_files_are_read_once_the_library_is_there(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    state = sync(place)
    told = replace(state, left={"PDF needs an extra: pip install x": 1})
    source_index._write(source(place), "state.json", asdict(told))
    assert sync(place).left == {}


def test_a_users_own_has_its_index_and_model_in_the_users_store(place: Place, home: Path) -> None:
    (home / "notes").mkdir()
    (home / "notes/a.txt").write_text("gophers dig\n")
    assert place.user
    Path(place.user.root, "config.yaml").write_text(
        "memfs: 1\nsources:\n  notes:\n    paths: [~/notes]\n"
    )
    assert place.project
    Path(place.project.root, "config.yaml").write_text("memfs: 1\nembedding: none\n")
    found = source(place)
    assert source_index.sync(place, found, embed=True)
    assert found.index == f"{home}/.agent-memory/local/sources/notes"
    model = source_index.find_model(place, found)
    assert model
    [hit] = index_sources.open_engine(place.home, found.index, model).search("gophers").hits
    assert hit.metadata["file"] == "~/notes/a.txt"


def test_what_is_removed_leaves_nothing(place: Place, docs: Path) -> None:
    (docs / "a.md").write_text("gophers dig\n")
    sync(place)
    assert os.path.exists(source(place).index)
    source_index.remove(place.home, "docs")
    assert not os.path.exists(source(place).index)
    assert source_state.load_state(source(place)) is None
