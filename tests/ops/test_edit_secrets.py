"""No secret gets into memory by an edit, nor into the journal by an editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core import events
from memfs.core.body_edits import Append, Create, Describe, Edit, Rejected, Rename
from memfs.core.events import Event
from memfs.core.records import Origin
from memfs.ops import brief, edit, history, undo
from memfs.store import blocks, clean_texts
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
    assert "a secret" in outcome.message
    assert TOKEN not in outcome.message + outcome.hint
    assert Path(place.home.journal).read_bytes() == before


def test_a_secret_that_an_editor_wrote_is_not_journalled(place: Place) -> None:
    path = Path(blocks.get(place, "human").path)
    run(place, Append("human", "one"))
    path.write_text(path.read_text() + f"key: {TOKEN}\n")
    run(place, Append("human", "two"))
    run(place, Append("human", "three"))
    assert TOKEN in path.read_text()
    assert TOKEN not in Path(place.store("user").journal).read_text()
    assert [each.op for each in history.log(place, "human")][:4] == [
        "append",
        "append",
        "adopt",
        "append",
    ]
    undo.undo_edit(place, "human", Origin())
    assert "three" not in path.read_text()


def test_of_what_an_editor_wrote_what_was_shown_keeps_no_secret(place: Place) -> None:
    """What is new is told all the same, once."""
    path = Path(blocks.get(place, "human").path)
    top = str(place.home.top)

    def tell(kind: str, session: str = "s") -> str:
        return brief.run(Event("claude", kind, "", session, top, "", "", "go on")).context

    tell(events.START)
    for number in range(3):
        path.write_text(f"{path.read_text()}{number} the key: {TOKEN}\n")
        assert f"{number} the key: {TOKEN}" in tell(events.PROMPT)
        assert tell(events.PROMPT) == ""
        assert TOKEN in tell(events.START, f"new{number}")
        assert tell(events.PROMPT, f"new{number}") == ""
    kept = [each for each in Path(place.home.local).rglob("*") if each.is_file()]
    assert not [each for each in kept if TOKEN.encode() in each.read_bytes()]
    path.write_text(path.read_text().replace(TOKEN, "gone"))
    assert "2 the key: gone" in tell(events.PROMPT)


def test_what_is_known_to_hold_no_secret_is_not_looked_through_again(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"a": "one", "b": f"key: {TOKEN}"}
    assert clean_texts.redact_texts(texts)["b"] != texts["b"]
    noted = (home / ".agent-memory/local/clean").read_text()
    assert clean_texts.redact_texts({"a": "one"}) == {"a": "one"}
    assert (home / ".agent-memory/local/clean").read_text() == noted
    assert clean_texts.redact_texts(texts)["b"] != texts["b"], "with a secret, each time"
    for number in range(900):
        clean_texts.note_clean(f"text {number}.{each}" for each in range(10))
    assert (home / ".agent-memory/local/clean").stat().st_size < 70_000
