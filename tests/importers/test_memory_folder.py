"""A folder of text files that no known tool wrote becomes blocks and passages."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.importers import foreign_files, importing, readers
from memfs.ops import archive
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.e2e.program import run
from tests.importers.importing import import_path
from tests.importers.note_samples import make_memory_folder, write_texts


def sniff(path: Path) -> bool:
    return readers.get("memory-folder").sniff(str(path))


def test_a_file_is_a_block_and_a_long_one_passages(place: Place, tmp_path: Path) -> None:
    folder = make_memory_folder(tmp_path / "memories")
    write_texts(folder, {"long.xml": "<p>a line</p>\n" * 900, "empty": ""})
    done = import_path(place, folder)
    assert dict(done.taken) == {("file", ""): 3}
    assert blocks.get(place, "shop/todo").value == "- wait"
    assert not blocks.get(place, "progress").pinned
    found = archive.list_passages(place)
    assert {each.passage.source for each in found} == {"memory-folder: long"}
    assert len(found) > 1


def test_names_that_no_label_can_be_are_cleaned(place: Place, tmp_path: Path) -> None:
    names = ("con.md", f"{'x' * 200}.md", "世界.txt", "a b\nc.md", "1/2/3/4/5.md", "-x-.md")
    folder = write_texts(tmp_path / "m", {name: f"text of {name!r}" for name in names})
    done = import_path(place, folder)
    assert len([item for item in done.items if item.outcome == "new"]) == len(names)


@pytest.mark.parametrize(
    "texts",
    [
        {"a.md": "text", "main.py": "print()"},
        {"a.md": "text", ".git/HEAD": "ref"},
        {"a.md": "text", ".agent-memory/config.yaml": "memfs: 1"},
        {"MEMORY.md": "index"},
        {"memory-bank/progress.md": "text"},
        {},
    ],
)
def test_other_folders_are_none(texts: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    assert not sniff(write_texts(folder, texts))


@pytest.mark.parametrize("known", [kind.path for kind in foreign_files.KINDS if not kind.ends])
@pytest.mark.parametrize("beside", ["a.md", "deep/b.txt", "p.png", "main.py"])
def test_what_a_folder_is_is_not_decided_by_one_file(
    place: Place, tmp_path: Path, home: Path, known: str, beside: str
) -> None:
    """All of it comes in, or what does not is named, and the exit code is 1."""
    texts = {known: "the zebra", beside: "the yak", "c.md": "the walrus"}
    folder = write_texts(tmp_path / "notes", texts)
    (folder / "p.png").write_bytes(b"\x89PNG\0") if beside == "p.png" else None
    code, said = run(Path(place.home.top), "import", str(folder))
    kept = "".join(block.value for block in blocks.load(place))
    for name, text in texts.items():
        if name == "main.py" or (name.startswith(".") and text not in kept):
            continue  # a program, and what is hidden in a folder of notes, are none
        assert text in kept or name.rpartition("/")[2] in said, said
    assert code == (0 if beside in ("a.md", "deep/b.txt") else 1), said


@pytest.mark.parametrize("name", ["memory-bank", ".serena/memories", ".cursor/rules"])
def test_folders_of_known_files_are_imported_as_ever(name: str, repo: Path) -> None:
    write_texts(repo / name, {"a.md": "text"})
    assert importing.find_tool((str(repo / name),), str(repo)) == []


def test_bytes_that_are_no_text_are_named(place: Place, tmp_path: Path) -> None:
    folder = make_memory_folder(tmp_path / "m")
    (folder / "data.txt").write_bytes(b"\xff\xfea\0")
    done = import_path(place, folder)
    assert [item.detail for item in done.items if item.outcome == "refused"] == [
        "cannot read data.txt: it is UTF-16, not UTF-8"
    ]
