"""No secret gets into memory by an edit, nor into the journal by an editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create, Describe, Edit, Rejected, Rename
from memfs.core.records import Origin
from memfs.ops import edit, history
from memfs.store import blocks
from memfs.store.blocks import Place

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def run(place: Place, wanted: Edit) -> edit.Outcome:
    return edit.run(place, [wanted], Origin())


@pytest.mark.parametrize(
    "wanted",
    [
        Describe("human", {"description": f"the key is {TOKEN}"}),
        Describe("human", {"tags": ["a", TOKEN]}),
        Create("api", f"the key is {TOKEN}", "x"),
        Create("api", "d", "x", tags=(TOKEN,)),
        Create(f"keys/{TOKEN.lower()}", "d", "x"),
        Rename("human", f"keys/{TOKEN.lower()}"),
    ],
    ids=["description", "tags", "new description", "new tags", "label", "new label"],
)
def test_no_secret_gets_into_the_head_or_the_name(place: Place, wanted: Edit) -> None:
    before = Path(place.home.journal).read_bytes()
    outcome = run(place, wanted)
    assert isinstance(outcome, Rejected)
    assert "holds a secret" in outcome.message
    assert TOKEN not in outcome.message + outcome.hint
    assert Path(place.home.journal).read_bytes() == before


def test_a_secret_that_an_editor_wrote_is_not_journalled(place: Place) -> None:
    path = Path(blocks.get(place, "human").path)
    assert place.user
    run(place, Append("human", "one"))
    path.write_text(path.read_text() + f"key: {TOKEN}\n")
    run(place, Append("human", "two"))
    run(place, Append("human", "three"))
    assert TOKEN in path.read_text()
    assert TOKEN not in Path(place.user.journal).read_text()
    assert [each.op for each in history.log(place, "human")][:4] == [
        "append",
        "append",
        "adopt",
        "append",
    ]
    history.undo(place, "human", Origin())
    assert "three" not in path.read_text()
