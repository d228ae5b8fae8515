"""What is in agent files of Letta becomes the same blocks, and sessions."""

import json
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.ops import archive, edit
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.importers.importing import BY, count_outcomes, import_path, list_details
from tests.importers.samples import letta_file, letta_message, make_letta, write_json

VALUES = (
    "\nName: Alice",
    "",
    "  indented\n\n---\nno: front matter\n---\n",
    "x" * 120_000,
    '"quoted" \\ \t 世界 🦊 <!-- c -->',
    "# A heading\n- [ ] a list",
)


def test_a_block_is_the_same_as_it_was(place: Place, tmp_path: Path) -> None:
    given: list[dict[str, object]] = [
        {
            "label": f"block_{number}",
            "value": value,
            "limit": 200_000 + number,
            "description": f"What {number} is for: 'all' \"of\" it, # 世界",
            "read_only": number % 2 == 1,
            "tags": ["Shop", "x"] if number else None,
        }
        for number, value in enumerate(VALUES)
    ]
    done = import_path(place, write_json(tmp_path / "a.af", letta_file(*given, messages=[])))
    assert count_outcomes(done) == {"new": len(VALUES)}
    for row in given:
        block = blocks.get(place, f"project:{row['label']}")
        assert block.value == str(row["value"]).rstrip("\n")
        assert block.limit == row["limit"]
        assert block.description == row["description"]
        assert block.read_only is row["read_only"]
        assert block.pinned
        assert block.tags == (row["tags"] or [])
        assert block.meta["source"] == f"letta: {row['label']}"


def test_it_takes_the_place_of_a_block_that_nobody_touched(place: Place, tmp_path: Path) -> None:
    import_path(place, make_letta(tmp_path))
    assert blocks.get(place, "user:human").value == "\nName: Alice"
    assert blocks.get(place, "user:human").description == "The user"
    with pytest.raises(Exception, match="there is no block"):
        blocks.get(place, "project:human")


def test_and_is_merged_with_one_that_somebody_wrote(place: Place, tmp_path: Path) -> None:
    edit.run(place, [Append("user:human", "Bob likes tea.")], BY)
    import_path(place, make_letta(tmp_path))
    value = blocks.get(place, "user:human").value
    assert "Bob likes tea." in value
    assert "Name: Alice" in value


def test_a_later_export_of_an_agent_adds_what_was_said_since(place: Place, tmp_path: Path) -> None:
    first = [letta_message("system", "x"), letta_message("user", "One")]
    import_path(place, write_json(tmp_path / "a.af", letta_file(messages=first)))
    later = [first[0], letta_message("user", "Two", id="message-1"), first[1]]
    done = import_path(place, write_json(tmp_path / "b.af", letta_file(messages=later)))
    assert count_outcomes(done) == {"merged": 1}
    (item,) = done.items
    assert item.detail == "1 messages"


def old_event(kind: str, text: str) -> str:
    return json.dumps({"type": kind, "message": text, "time": "2025-03-30 08:54:21 PM PDT-0700"})


@pytest.mark.parametrize(
    ("label", "ours"),
    [
        ("../../x", "x-5ec1f7/x-5ec1f7/x"),
        ("/note_directory", "note_directory"),
        ("a/b/c/d", "a-b/c/d"),
        ("con", "con-"),
        ("世界", "shi-jie-"),
        ("n" * 300, f"{'n' * 40}-"),
        ("two\nlines", "two-lines"),
    ],
)
def test_a_label_that_is_none_of_ours_becomes_one(
    label: str, ours: str, place: Place, tmp_path: Path
) -> None:
    given = {"label": label, "value": "Kept.", "limit": 5000}
    import_path(place, write_json(tmp_path / "a.af", letta_file(given, messages=[])))
    (found,) = [each for each in blocks.load(place) if each.value == "Kept."]
    assert found.label.startswith(ours)
    assert found.meta["source"] == f"letta: {' '.join(label.split())}"


def test_a_text_that_no_block_can_hold_becomes_passages(place: Place, tmp_path: Path) -> None:
    text = "\n".join(f"Line {number} of a long book." for number in range(15_000))
    given = {"label": "book", "value": text, "limit": 10**9}
    path = write_json(tmp_path / "a.af", letta_file(given, messages=[]))
    import_path(place, path)
    assert len(archive.list_passages(place)) > 100
    assert set(count_outcomes(import_path(place, path))) == {"same"}


def test_a_deeply_nested_file_gets_a_clear_word(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "deep.af"
    path.write_text('{"agents": [{"block_ids": ' + "[" * 200_000)
    (detail,) = list_details(import_path(place, path), "refused")
    assert "not valid JSON" in detail
