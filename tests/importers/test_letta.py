"""What is in agent files of Letta becomes the same blocks, and sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.importers.readers.letta_tools import GENERATED, NO_MEMORY
from memfs.ops import archive, edit
from memfs.ops.sessions import find_session
from memfs.store import blocks, recall
from memfs.store.blocks import Place
from tests.importers.importing import BY, count_outcomes, import_path, list_details, read_memory
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


def test_a_session_holds_what_was_said(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_letta(tmp_path))
    assert dict(done.omitted) == {
        ("skill", NO_MEMORY): 1,
        ("environment variable", "which may hold secrets"): 1,
    }
    _, path = find_session(place, "agent-47a71c8d-6652-4bab")
    assert [(each.role, each.text, each.tool) for each in recall.messages(path)] == [
        ("user", "What is our timeout?", ""),
        ("assistant", "It is 5 seconds.", ""),
        ("tool", "label: x", "memory_insert"),
        ("tool", "noted", "memory_insert"),
    ]
    assert "ghp_" not in read_memory(place)


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


def test_a_file_of_the_first_generation_is_read(place: Place, tmp_path: Path) -> None:
    call = {"name": "send_message", "arguments": '{"message": "I look it up."}'}
    other = {"name": "find", "arguments": '{"order": "5"}'}
    calls = [{"id": "c1", "function": call}, {"id": "c2", "function": other}]
    found = {
        "agent_type": "memgpt_agent",
        "core_memory": [
            {"label": "Project Rules", "value": "\nBe kind.\n", "limit": 2000},
            {"label": "notes", "value": "Longer than its limit", "limit": 5},
        ],
        "messages": [
            letta_message("system", "You are"),
            letta_message("user", old_event("login", "Never")),
            letta_message("user", old_event("user_message", "Where is it?")),
            letta_message("assistant", "I should look.", tool_calls=calls),
            letta_message("tool", old_event("x", "y"), tool_call_id="c1"),
            letta_message("tool", '{"status": "OK", "message": "5"}', tool_call_id="c2", name="me"),
        ],
        "name": "support",
        "tool_exec_environment_variables": [{"key": "TOKEN", "value": "hush"}],
    }
    path = tmp_path / "old.af"
    path.write_text(json.dumps(json.dumps(found)))  # some were written as a text of JSON
    done = import_path(place, path)
    assert not list_details(done, "refused")
    assert blocks.get(place, "project_rules").value == "\nBe kind."
    assert blocks.get(place, "project_rules").limit == 2000
    assert blocks.get(place, "notes").limit == len("Longer than its limit")
    session = next(item for item in done.items if item.kind == "session")
    assert [(each.role, each.text, each.tool) for each in session.messages] == [
        ("user", "Where is it?", ""),
        ("assistant", "I look it up.", ""),
        ("tool", "order: 5", "find"),
        ("tool", "5", "find"),
    ]
    assert "hush" not in read_memory(place)


def test_blocks_of_several_agents_are_told_apart(place: Place, tmp_path: Path) -> None:
    rows = [
        {"id": "b0", "label": "persona", "value": "I am one.", "limit": 5000},
        {"id": "b1", "label": "persona", "value": "I am two.", "limit": 5000},
        {"id": "b2", "label": "rules", "value": "Of both.", "limit": 5000},
        {"id": "b3", "label": "persona", "value": "Of nobody.", "limit": 5000},
    ]
    agents = [
        {"name": "One", "block_ids": ["b0", "b2"], "messages": []},
        {"name": "Two", "block_ids": ["b1", "b2"], "messages": []},
    ]
    import_path(place, write_json(tmp_path / "a.af", {"agents": agents, "blocks": rows}))
    found = {each.label: (each.value, each.pinned) for each in blocks.load(place) if each.value}
    assert found["one/persona"] == ("I am one.", True)
    assert found["two/persona"] == ("I am two.", True)
    assert found["rules"] == ("Of both.", True)
    assert found["persona"] == ("Of nobody.", False)


def test_of_an_agent_with_a_folder_of_memory_its_system_files_are_pinned(
    place: Place, tmp_path: Path
) -> None:
    given = [
        {"label": "system/shop/rules", "value": "Pinned.", "limit": 5000},
        {"label": "reference/gateway", "value": "Looked up.", "limit": 5000},
        {"label": "system/memory_filesystem", "value": "A tree.", "limit": 5000},
    ]
    done = import_path(place, write_json(tmp_path / "a.af", letta_file(*given, messages=[])))
    assert blocks.get(place, "shop/rules").pinned
    assert not blocks.get(place, "reference/gateway").pinned
    assert done.omitted["block", GENERATED] == 1


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


def test_two_labels_that_become_one_keep_both_texts(place: Place, tmp_path: Path) -> None:
    given: list[dict[str, object]] = [
        {"label": label, "value": f"Of {label}", "limit": 9} for label in ("Rules", "rules")
    ]
    import_path(place, write_json(tmp_path / "a.af", letta_file(*given, messages=[])))
    found = {each.label: each.value for each in blocks.load(place) if each.value}
    assert found["rules"] == "Of Rules"
    assert [value for label, value in found.items() if label.startswith("rules-")] == ["Of rules"]


def test_a_text_that_no_block_can_hold_becomes_passages(place: Place, tmp_path: Path) -> None:
    text = "\n".join(f"Line {number} of a long book." for number in range(15_000))
    given = {"label": "book", "value": text, "limit": 10**9}
    path = write_json(tmp_path / "a.af", letta_file(given, messages=[]))
    import_path(place, path)
    assert len(archive.list_passages(place)) > 100
    assert set(count_outcomes(import_path(place, path))) == {"same"}


def test_odd_types_are_counted_and_nothing_fails(place: Place, tmp_path: Path) -> None:
    odd: list[object] = [5, None, [], {}, [{}], "x", True, 1.5, {"type": "text", "text": 5}]
    for number, value in enumerate(odd):
        block = {
            "label": f"rules{number}",
            "value": "Kept.",
            "limit": value,
            "read_only": value,
            "description": value,
            "tags": value,
        }
        message = letta_message("user", "Kept, too.", created_at=value, name=value)
        found = letta_file(block, {"label": value, "value": value}, messages=[message])
        agents = found["agents"]
        assert isinstance(agents, list)
        rows: list[object] = [value, {"role": value, "content": value, "tool_calls": value}]
        agents[0]["messages"] += rows
        agents[0]["name"] = value
        found["files"] = value
        path = write_json(tmp_path / "odd.af", found)
        assert "Kept." in str([item.detail for item in import_path(place, path).items])
        break_down = {**found, "agents": value, "blocks": value, "block_ids": 1}
        import_path(place, write_json(tmp_path / "odder.af", break_down))


def test_a_deeply_nested_file_gets_a_clear_word(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "deep.af"
    path.write_text('{"agents": [{"block_ids": ' + "[" * 200_000)
    (detail,) = list_details(import_path(place, path), "refused")
    assert "not whole JSON" in detail


def test_archival_passages_come_from_their_list(place: Place, tmp_path: Path) -> None:
    row = {
        "created_at": "2026-11-23T18:52:02.796014Z",
        "is_deleted": False,
        "tags": ["gateway", "limits"],
        "id": "passage-5487be6d",
        "text": "The gateway closes at 6 seconds.",
        "embedding": [0.5] * 4096,
    }
    gone = {**row, "id": "passage-2", "text": "Gone.", "is_deleted": True}
    found = [row, gone, {"id": "passage-3"}, 5]
    done = import_path(place, write_json(tmp_path / "archival.json", found))
    (passage,) = [each.passage for each in archive.list_passages(place)]
    assert passage.text == "The gateway closes at 6 seconds."
    assert passage.created_at == "2026-11-23T18:52:02Z"
    assert passage.tags == ("letta", "gateway", "limits")
    assert dict(done.omitted) == {("passage", "which were deleted there"): 1}
    assert [item.count for item in done.items if item.outcome == "refused"] == [2]


def test_a_document_of_an_agent_becomes_passages(place: Place, tmp_path: Path) -> None:
    found = {
        **letta_file(messages=[]),
        "files": [{"id": "file-0", "file_name": "f/talk.md", "content": "What was said."}],
    }
    import_path(place, write_json(tmp_path / "a.af", found))
    (passage,) = [each.passage for each in archive.list_passages(place)]
    assert passage.text == "# f/talk.md\n\nWhat was said."
