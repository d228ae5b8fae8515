"""An import is taken back as a whole; what was changed since then stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import Origin
from memfs.importers import undo
from memfs.ops import archive, edit
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.importers.importing import import_path, read_stores, undo_import
from tests.importers.samples import make_claude_mem
from tests.ops.imports import BY, made, run


def test_a_passage_that_was_changed_since_stays(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_claude_mem(tmp_path))
    first, *others = archive.list_passages(place)
    archive.edit(place, first.passage.id, BY, text="What we know better now.")
    undone = undo_import(place, done)
    assert [why for _, why in undone.kept] == ["it was changed since"]
    assert dict(undone.removed) == {"passage": len(others), "message": 1, "session": 1}
    assert [each.passage.id for each in archive.list_passages(place)] == [first.passage.id]


def test_blocks_get_the_text_that_they_had(place: Place, tmp_path: Path) -> None:
    path = Path(blocks.get(place, "persona").path)
    path.write_text("---\npinned: true\n---\nOurs.\n", encoding="utf-8")
    before = read_stores(place)
    done = run(place, made(tmp_path, persona="---\npinned: true\n---\nTheirs.\n", new="New.\n"))
    assert "Theirs." in path.read_text(encoding="utf-8")
    undone = undo_import(place, done)
    assert dict(undone.removed) == {"block": 1, "block edit": 1}
    assert read_stores(place) == before


def test_a_block_that_was_edited_since_stays(place: Place, tmp_path: Path) -> None:
    done = run(place, made(tmp_path, new="New.\n"))
    edit.run(place, [Append("new", "More.")], BY)
    assert undo_import(place, done).kept == (("new", "it was edited since"),)
    assert blocks.get(place, "new").value == "New.\nMore."


def test_imports_are_listed_until_they_are_taken_back(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_claude_mem(tmp_path))
    (listed,) = undo.list_imports(place)
    assert (listed.id, listed.source, len(listed.parts)) == (done.id, "a tool", 3)
    undo_import(place, done)
    assert not undo.list_imports(place)


def test_an_agent_takes_no_import_back(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_claude_mem(tmp_path))
    with pytest.raises(RejectedError, match="by a person"):
        undo.run(place, done.id, Origin("agent"))
    with pytest.raises(NotFoundError, match="there is no import zzz"):
        undo.run(place, "zzz", BY)
