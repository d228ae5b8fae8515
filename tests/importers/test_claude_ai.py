"""What Claude.ai exports becomes sessions and passages of its owner's own store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfs.core.records import Message
from memfs.importers import readers
from memfs.ops import archive
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details
from tests.importers.samples import make_claude_ai_conversation, make_zip, write_json


def read_session(place: Place, name: str = "c-1") -> list[Message]:
    assert place.user
    return list(recall.messages(recall.get_path(place.user, "claude-ai", name)))


def read_passages(place: Place) -> dict[str, tuple[str, str, str]]:
    """Return (tier, date, text) of passages by their source."""
    return {
        each.passage.source: (each.tier, each.passage.created_at, each.passage.text)
        for each in archive.list_passages(place)
    }


def test_blocks_win_over_text_and_thoughts_are_left(place: Place, tmp_path: Path) -> None:
    import_path(place, write_json(tmp_path / "any.json", [make_claude_ai_conversation()]))
    assert [(each.id, each.role, each.text, each.at) for each in read_session(place)] == [
        ("m-1", "user", "When do I plant garlic? 世界", "2026-01-01T10:00:00Z"),
        ("m-2", "assistant", "In October.", "2026-01-01T10:00:05Z"),
    ]
    assert not recall.sources(place.home)  # nothing of it is the project's


def test_calls_of_tools_stand_where_they_were_made(place: Place, tmp_path: Path) -> None:
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "text", "text": "Now."},
        {"type": "tool_use", "name": "web_search", "input": {"query": "garlic"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "October"}]},
        {"type": "token_budget"},
        {"type": "text", "text": "In October."},
    ]
    message = {"uuid": "m-1", "sender": "assistant", "content": blocks}
    conversation = make_claude_ai_conversation(chat_messages=[message])
    import_path(place, write_json(tmp_path / "c.json", [conversation]))
    assert [(each.id, each.role, each.tool, each.text) for each in read_session(place)] == [
        ("m-1", "assistant", "", "I look.\n\nNow."),
        ("m-1.2", "tool", "web_search", "query: garlic"),
        ("m-1.3", "tool", "result", "October"),
        ("m-1.5", "assistant", "", "In October."),
    ]


def test_a_short_attachment_is_in_its_message_and_a_long_one_is_a_passage(
    place: Place, tmp_path: Path
) -> None:
    long = "A line of a long file.\n" * 100
    message = {
        "uuid": "m-1",
        "sender": "human",
        "text": "Look:",
        "attachments": [
            {"file_name": "a.txt", "extracted_content": "short"},
            {"file_name": "../../b.txt", "extracted_content": long},
        ],
    }
    conversation = make_claude_ai_conversation(chat_messages=[message])
    import_path(place, write_json(tmp_path / "c.json", [conversation]))
    (said,) = read_session(place)
    assert said.text == "Look:\n\n[attachment: a.txt]\nshort\n\n[attachment: ../../b.txt]"
    ((source, (tier, at, text)),) = read_passages(place).items()
    assert source == "claude-ai: attachment ../../b.txt of m-1.1"
    assert (tier, at) == ("user", "2026-01-01T10:00:00Z")
    assert text == f"# ../../b.txt\n\n{long.strip()}"


def test_where_a_leaf_is_named_its_branch_alone_comes_in(place: Place, tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    said = [("a", root, "One"), ("b", "a", "First answer"), ("c", "a", "Second answer")]
    messages = [
        {"uuid": name, "parent_message_uuid": before, "sender": "human", "text": text}
        for name, before, text in said
    ]
    conversation = make_claude_ai_conversation(
        chat_messages=messages, current_leaf_message_uuid="c"
    )
    import_path(place, write_json(tmp_path / "c.json", [conversation]))
    assert [each.text for each in read_session(place)] == ["One", "Second answer"]


def test_projects_and_memory_become_passages(place: Place, tmp_path: Path) -> None:
    document = {
        "uuid": "d-1",
        "filename": "plan.md",
        "content": "Beds 1 to 4.",
        "created_at": "2026-01-02T00:00:00Z",
    }
    project = {
        "uuid": "p-1",
        "name": "Garden",
        "description": "Vegetables",
        "prompt_template": "Be brief.",
        "docs": [document],
        "created_at": "2026-01-01T00:00:00Z",
    }
    starter = {**project, "uuid": "p-2", "is_starter_project": True}
    memory = {"conversations_memory": "Has a garden.", "project_memories": {"p-1": "Four beds."}}
    path = make_zip(
        tmp_path / "data.zip",
        {
            "conversations.json": [make_claude_ai_conversation()],
            "projects/p-1.json": project,
            "projects.json": [starter],
            "memories.json": [memory],
            "users.json": [{"uuid": "u", "email_address": "ana@example.org"}],
        },
    )
    done = import_path(place, path)
    assert dict(done.taken) == {
        ("conversation", ""): 1,
        ("memory", ""): 2,
        ("instruction", "Garden"): 1,
        ("document", "Garden"): 1,
    }
    assert read_passages(place) == {
        "claude-ai: instructions of p-1 of Garden": (
            "user",
            "2026-01-01T00:00:00Z",
            "# Garden\n\nVegetables\n\nBe brief.",
        ),
        "claude-ai: document d-1 of Garden": (
            "user",
            "2026-01-02T00:00:00Z",
            "# plan.md\n\nBeds 1 to 4.",
        ),
        "claude-ai: memory": ("user", "unknown", "Has a garden."),
        "claude-ai: memory of project p-1": ("user", "unknown", "Four beds."),
    }


def test_of_a_grown_export_the_new_messages_are_added(place: Place, tmp_path: Path) -> None:
    conversation = make_claude_ai_conversation()
    import_path(place, write_json(tmp_path / "1.json", [conversation]))
    messages = conversation["chat_messages"]
    assert isinstance(messages, list)
    messages.append({"uuid": "m-3", "sender": "human", "text": "Thanks."})
    done = import_path(place, write_json(tmp_path / "2.json", [conversation]))
    assert [item.outcome for item in done.items] == ["merged"]
    assert [each.id for each in read_session(place)] == ["m-1", "m-2", "m-3"]


def test_odd_types_in_every_field_do_no_harm(place: Place, tmp_path: Path) -> None:
    odd: list[object] = [7, None, True, [], [{}], {"a": [1]}, "text", 1e300]
    elements: list[object] = [make_claude_ai_conversation(), *odd]
    for value in odd:
        block = dict.fromkeys(("type", "text", "name", "input", "content"), value)
        part = dict.fromkeys(("uuid", "sender", "text", "content", "attachments"), value)
        attachment = {"file_name": value, "extracted_content": value}
        messages = [
            part,
            {"sender": "human", "content": [block], "attachments": [attachment]},
            {"sender": "human", "content": [{**block, "type": "tool_result"}]},
            {"sender": "human", "content": [{**block, "type": "tool_use"}]},
        ]
        elements += [
            make_claude_ai_conversation(**{key: value})
            for key in make_claude_ai_conversation()
            if key != "uuid"
        ]
        elements += [
            make_claude_ai_conversation(uuid="c-2", chat_messages=messages),
            dict.fromkeys(("prompt_template", "docs", "name", "uuid"), value),
            {"docs": [dict.fromkeys(("uuid", "filename", "content", "created_at"), value)]},
            {"conversations_memory": value, "project_memories": value},
        ]
    done = import_path(place, write_json(tmp_path / "c.json", elements))
    assert list_details(done, "refused")
    assert "In October." in [each.text for each in read_session(place)]


def test_a_list_that_ends_early_gives_what_is_before(place: Place, tmp_path: Path) -> None:
    data = json.dumps([make_claude_ai_conversation(), {"uuid": "c-2"}])
    (tmp_path / "conversations.json").write_text(data[:-8])
    done = import_path(place, tmp_path / "conversations.json")
    assert "damaged after 1 elements" in list_details(done, "refused")[0]
    assert read_session(place)


@pytest.mark.parametrize("text", ["", "[]", "[1]", '{"observations": []}', "# Notes", '["a"]'])
def test_what_is_no_export_is_not_recognised(tmp_path: Path, text: str) -> None:
    (tmp_path / "conversations.json").write_text(text)
    assert readers.recognise(str(tmp_path / "conversations.json")) is None
