"""What is imported again: it reads here as it does at its source now, and nobody's edit is lost."""

from pathlib import Path

import pytest

from memfs.core.block import Block
from memfs.core.body_edits import Append
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import Origin
from memfs.importers import importing, undo
from memfs.importers.importing import Imported
from memfs.ops import archive as archiving
from memfs.ops import edit
from memfs.store import archive, blocks
from memfs.store.blocks import Place
from tests.importers.importing import import_path, read_stores, undo_import
from tests.importers.samples import make_claude_mem
from tests.ops.imports import BY, made
from tests.ops.imports import run as import_bundle

LONG = "".join(f"## Part {n}\n\n{f'word{n} ' * 150}\n\n" for n in range(9))


def run(place: Place, folder: Path, home: Path) -> Imported:
    by = Origin("user", reason=f"from {folder}")
    if tool := importing.find_tool((str(folder),), str(home)):
        return importing.import_tool(place, tool, by, user=False, project="", dry_run=False)
    return importing.import_files(
        place, (str(folder),), by, home=str(home), user=False, pin=False, dry_run=False
    )


def texts(place: Place) -> list[str]:
    found = (archive.read(path) for path in archive.sources(place.home))
    return [each.text for each in found if each]


@pytest.fixture(params=["folder of notes", "AGENTS.md", "copilot"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Where a short text and a long one come from, as `short` and `long` below it."""
    made = tmp_path / "source"
    names = {
        "folder of notes": ("port.md", "guide.md"),
        "AGENTS.md": ("AGENTS.md", "api/AGENTS.md"),
        "copilot": (".github/copilot-instructions.md", ".github/instructions/a.instructions.md"),
    }[request.param]
    for name, text in zip(names, ("The port is 7741.\n", f"# Guide\n\n{LONG}"), strict=True):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


def find(folder: Path, word: str) -> Path:
    return next(path for path in folder.rglob("*.md") if word in path.read_text())


def change(folder: Path) -> None:
    """Change a word of the short text, and one of the long one."""
    for old, new in (("7741", "9000"), ("word3", "now3")):
        path = find(folder, old)
        path.write_text(path.read_text().replace(old, new))


def find_block(place: Place, word: str) -> Block:
    return next(block for block in blocks.load(place) if word in block.value)


def test_what_changed_at_its_source_is_replaced(place: Place, home: Path, folder: Path) -> None:
    run(place, folder, home)
    before = texts(place)
    change(folder)
    done = run(place, folder, home)
    assert find_block(place, "The port is").value == "The port is 9000."
    after = texts(place)
    assert len(after) == len(before)
    assert not any("word3" in text for text in after)
    assert any("now3" in text for text in after)
    assert "1 replaced" in done.note
    copies = [path.read_text() for path in Path(place.home.local, "backup").iterdir()]
    assert any("word3" in text for text in copies)
    assert "replaced" not in run(place, folder, home).note


def test_what_a_person_changed_since_stays(place: Place, home: Path, folder: Path) -> None:
    run(place, folder, home)
    label = find_block(place, "7741").label
    edit.run(place, [Append(label, "Mine stays.")], Origin())
    own = next(path for path in archive.sources(place.home) if "word3" in Path(path).read_text())
    Path(own).write_text(Path(own).read_text() + "My own line.\n")
    change(folder)
    done = run(place, folder, home)
    assert blocks.get(place, label).value == "The port is 9000.\nMine stays."
    assert "1 changed both at their source and here (both versions stay)" in done.note
    assert "My own line." in Path(own).read_text()
    assert any("now3" in text for text in texts(place))


def test_what_its_source_deleted_is_told_and_stays(place: Place, home: Path, folder: Path) -> None:
    run(place, folder, home)
    before = texts(place)
    find(folder, "word3").unlink()
    done = run(place, folder, home)
    assert f"{len(before):,} no longer where they came from, but still in the store" in done.note
    assert texts(place) == before


def test_another_source_replaces_nothing(
    place: Place, home: Path, folder: Path, tmp_path: Path
) -> None:
    run(place, folder, home)
    other = folder.rename(tmp_path / "other")
    path = find(other, "word3")
    path.write_text(path.read_text().replace("word3", "now3"))
    run(place, other, home)
    found = texts(place)
    assert any("word3" in text for text in found)
    assert any("now3" in text for text in found)


def test_a_passage_that_was_changed_since_stays(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_claude_mem(tmp_path))
    first, *others = archiving.list_passages(place)
    archiving.edit(place, first.passage.id, BY, text="What we know better now.")
    undone = undo_import(place, done)
    assert [why for _, why in undone.kept] == ["it was changed after the import"]
    assert dict(undone.removed) == {"passage": len(others), "message": 1, "session": 1}
    assert [each.passage.id for each in archiving.list_passages(place)] == [first.passage.id]


def test_blocks_get_the_text_that_they_had(place: Place, tmp_path: Path) -> None:
    path = Path(blocks.get(place, "persona").path)
    path.write_text("---\npinned: true\n---\nOurs.\n", encoding="utf-8")
    before = read_stores(place)
    done = import_bundle(
        place, made(tmp_path, persona="---\npinned: true\n---\nTheirs.\n", new="New.\n")
    )
    assert "Theirs." in path.read_text(encoding="utf-8")
    undone = undo_import(place, done)
    assert dict(undone.removed) == {"block": 1, "block edit": 1}
    assert read_stores(place) == before


def test_a_block_that_was_edited_since_stays(place: Place, tmp_path: Path) -> None:
    done = import_bundle(place, made(tmp_path, new="New.\n"))
    edit.run(place, [Append("new", "More.")], BY)
    assert undo_import(place, done).kept == (("new", "it was edited after the import"),)
    assert blocks.get(place, "new").value == "New.\nMore."


def test_imports_are_listed_until_they_are_taken_back(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_claude_mem(tmp_path))
    (listed,) = undo.list_imports(place)
    assert (listed.id, listed.source, len(listed.parts)) == (done.id, "a tool", 3)
    undo_import(place, done)
    assert not undo.list_imports(place)


def test_an_agent_takes_no_import_back(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_claude_mem(tmp_path))
    with pytest.raises(RejectedError, match="only a person"):
        undo.run(place, done.id, Origin("agent"))
    with pytest.raises(NotFoundError, match="no import has the id 'zzz'"):
        undo.run(place, "zzz", BY)
