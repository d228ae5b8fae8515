"""What ChatGPT exports becomes sessions and passages of the person's own store."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path

import pytest

from memfs.core.records import Message
from memfs.importers import readers
from memfs.ops import archive
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers.importing import count_outcomes, import_path, list_details
from tests.importers.samples import (
    make_chatgpt_conversation,
    make_chatgpt_node,
    make_zip,
    write_json,
)


def read_session(place: Place, name: str = "c-1") -> list[Message]:
    assert place.user
    return list(recall.messages(recall.get_path(place.user, "chatgpt", name)))


def make_line(*nodes: dict[str, object], **more: object) -> dict[str, object]:
    """Make a conversation of nodes, each of which follows the one before it."""
    names = [f"n{number}" for number in range(len(nodes))]
    mapping = {
        name: {**node, "parent": before}
        for name, before, node in zip(names, ["", *names], nodes, strict=False)
    }
    return make_chatgpt_conversation(mapping=mapping, current_node=names[-1], **more)


def import_conversations(place: Place, tmp_path: Path, *conversations: object) -> None:
    import_path(place, write_json(tmp_path / "conversations.json", list(conversations)))


def test_only_the_branch_that_the_person_saw_comes_in(place: Place, tmp_path: Path) -> None:
    import_conversations(place, tmp_path, make_chatgpt_conversation())
    assert [(each.id, each.role, each.text, each.at) for each in read_session(place)] == [
        ("prompt", "user", "Which bicycle? 世界", "2026-01-01T00:00:00Z"),
        ("answer", "assistant", "The one with 8 gears.", "2026-01-01T00:00:00Z"),
    ]
    assert not recall.sources(place.home)  # nothing of it is the project's


def test_without_a_current_node_the_latest_end_counts(place: Place, tmp_path: Path) -> None:
    conversation = make_chatgpt_conversation(current_node=None)
    import_conversations(place, tmp_path, conversation)
    assert [each.id for each in read_session(place)][-1:] == ["answer"]


def test_a_circle_of_parents_comes_to_an_end(place: Place, tmp_path: Path) -> None:
    nodes = {
        "a": make_chatgpt_node("b", "user", "One"),
        "b": make_chatgpt_node("a", "assistant", "Two"),
    }
    conversation = make_chatgpt_conversation(mapping=nodes, current_node="b")
    import_conversations(place, tmp_path, conversation)
    assert [each.text for each in read_session(place)] == ["One", "Two"]


def test_code_and_parts_are_read_and_what_is_hidden_is_not(place: Place, tmp_path: Path) -> None:
    parts = ["See this:", {"content_type": "image_asset_pointer"}, {"text": "spoken"}, 7, None]
    hidden = {"is_visually_hidden_from_conversation": True}
    import_conversations(
        place,
        tmp_path,
        make_line(
            make_chatgpt_node(None, "system", "You are a model."),
            make_chatgpt_node(None, "user", "not shown", metadata=hidden),
            make_chatgpt_node(
                None, "user", "", content={"content_type": "multimodal_text", "parts": parts}
            ),
            make_chatgpt_node(
                None, "assistant", "", content={"content_type": "thoughts", "thoughts": []}
            ),
            make_chatgpt_node(
                None,
                "assistant",
                "",
                recipient="python",
                content={"content_type": "code", "text": "1 + 1"},
            ),
            make_chatgpt_node(
                None, "tool", "", content={"content_type": "execution_output", "text": "2"}
            ),
            make_chatgpt_node(
                None,
                "assistant",
                "",
                content={"content_type": "code", "language": "python", "text": "print(2)"},
            ),
            make_chatgpt_node(None, "assistant", "Two\ue200cite\ue202turn0\ue201.【4†source】"),
        ),
    )
    assert [(each.role, each.tool, each.text) for each in read_session(place)] == [
        ("user", "", "See this:\nspoken"),
        ("tool", "python", "1 + 1"),
        ("tool", "result", "2"),
        ("assistant", "", "```python\nprint(2)\n```"),
        ("assistant", "", "Two."),
    ]


def test_instructions_and_memories_that_held_last_are_texts_of_the_person(
    place: Place, tmp_path: Path
) -> None:
    said = {"about_user_message": "Ana, Porto", "about_model_message": "Be brief."}
    newer = make_line(
        make_chatgpt_node(
            None,
            "user",
            "",
            create_time=1767300000,
            content={"content_type": "user_editable_context"},
            metadata={"user_context_message_data": said},
        ),
        make_chatgpt_node(
            None,
            "assistant",
            "",
            create_time=1767300000,
            content={
                "content_type": "model_editable_context",
                "model_set_context": "# Model Set Context\n\n1. [2025-05-02]. Has a cat.\n"
                "2. [2025-06-03]. Rides\na bicycle.",
            },
        ),
        conversation_id="c-2",
    )
    import_conversations(place, tmp_path, newer, make_chatgpt_conversation())
    found = [(each.tier, each.passage) for each in archive.list_passages(place)]
    assert {tier for tier, _ in found} == {"user"}
    heading = "# Custom instructions of ChatGPT"
    assert {(each.text, each.created_at) for _, each in found} == {
        (
            f"{heading}\n\nAbout the user: Ana, Porto\n\nHow to answer: Be brief.",
            "2026-01-01T20:40:00Z",
        ),
        ("Has a cat.", "2025-05-02T00:00:00Z"),
        ("Rides\na bicycle.", "2025-06-03T00:00:00Z"),
    }


def test_of_a_grown_export_the_new_messages_are_added(place: Place, tmp_path: Path) -> None:
    conversation = make_chatgpt_conversation()
    import_conversations(place, tmp_path, conversation)
    nodes = conversation["mapping"]
    assert isinstance(nodes, dict)
    nodes["more"] = make_chatgpt_node("answer", "user", "And its price?")
    grown = make_zip(
        tmp_path / "later.zip",
        {
            "export/conversations-000.json": [{**conversation, "current_node": "more"}],
            "export/conversations-001.json": [make_chatgpt_conversation(conversation_id="c-2")],
            "chat.html": {},
        },
    )
    done = import_path(place, grown)
    outcomes = {item.name: item.outcome for item in done.items if item.kind == "session"}
    assert outcomes == {"chatgpt/c-1.jsonl": "merged", "chatgpt/c-2.jsonl": "new"}
    assert [each.id for each in read_session(place)] == ["prompt", "answer", "more"]


def test_odd_types_in_every_field_do_no_harm(place: Place, tmp_path: Path) -> None:
    odd: list[object] = [7, None, True, [], [{}], {"a": [1]}, "text", 1e300, -1]
    conversations: list[object] = [*odd, {"mapping": {}}, make_chatgpt_conversation()]
    for value in odd:
        conversations += [
            make_chatgpt_conversation(**{key: value})
            for key in make_chatgpt_conversation()
            if key != "conversation_id"
        ]
        conversations += [
            make_line(make_chatgpt_node(None, "user", "x", **{key: value}))
            for key in ("author", "content", "create_time", "metadata", "id", "recipient")
        ]
        conversations.append(make_line({"message": value}))
        content = dict.fromkeys(("content_type", "parts", "text", "model_set_context"), value)
        conversations.append(make_line(make_chatgpt_node(None, "user", "x", content=content)))
    # The first tells whose the list is.
    done = import_path(
        place, write_json(tmp_path / "all.json", [make_chatgpt_conversation(), *conversations])
    )
    assert len(list_details(done, "refused")) > 3
    assert "Which bicycle? 世界" in [each.text for each in read_session(place)]


@pytest.mark.parametrize("ident", ["../../x", "a" * 300, "a\nb", "CON", ".", "\x1b[31m", "c:\\x"])
def test_a_hostile_id_names_no_file_elsewhere(place: Place, tmp_path: Path, ident: str) -> None:
    import_conversations(place, tmp_path, make_chatgpt_conversation(conversation_id=ident))
    assert place.user
    (path,) = recall.sources(place.user)
    assert Path(path).parent == Path(place.user.local) / "recall/chatgpt"


def test_a_message_without_a_time_has_that_before_it_and_without_any_it_is_unknown(
    place: Place, tmp_path: Path
) -> None:
    nodes = [make_chatgpt_node(None, "user", text, create_time=None) for text in "ab"]
    bare = make_line(*nodes, create_time=None)
    import_conversations(place, tmp_path, bare, make_line(*nodes, conversation_id="c-2"))
    assert [each.at for each in read_session(place)] == ["", ""]
    assert {each.at for each in read_session(place, "c-2")} == {"2026-01-01T00:00:00Z"}


def test_what_is_before_the_damage_is_taken_and_the_other_files_too(
    place: Place, tmp_path: Path
) -> None:
    whole = json.dumps([make_chatgpt_conversation(), make_chatgpt_conversation()]).encode()
    path = make_zip(
        tmp_path / "e.zip",
        {
            "conversations-000.json": whole[: len(whole) * 3 // 4],
            "conversations-001.json": [make_chatgpt_conversation(conversation_id="c-2")],
        },
    )
    done = import_path(place, path)
    (detail,) = list_details(done, "refused")
    assert "conversations-000.json" in detail
    assert "damaged after 1 elements" in detail
    assert read_session(place)
    assert read_session(place, "c-2")


def test_deep_nesting_is_damage(place: Place, tmp_path: Path) -> None:
    deep = json.dumps([make_chatgpt_conversation()])[:-1] + ", " + "[" * 200_000
    path = make_zip(tmp_path / "e.zip", {"conversations.json": deep.encode()})
    done = import_path(place, path)
    assert "nested too deeply" in list_details(done, "refused")[0]
    assert count_outcomes(done)["new"]


def test_what_unpacks_to_too_much_is_left(place: Place, tmp_path: Path) -> None:
    first = json.dumps([make_chatgpt_conversation()])[:-1].encode()
    path = make_zip(tmp_path / "e.zip", {"conversations.json": first + b"," + b" " * (40 << 20)})
    done = import_path(place, path)
    assert "too much for its size" in list_details(done, "refused")[0]
    assert read_session(place)


def test_a_size_that_a_header_claims_is_not_believed(place: Place, tmp_path: Path) -> None:
    data = bytearray(
        make_zip(
            tmp_path / "e.zip", {"conversations.json": [make_chatgpt_conversation()]}
        ).read_bytes()
    )
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 4_000_000_000)  # unpacked
    (tmp_path / "e.zip").write_bytes(data)
    if readers.recognise(str(tmp_path / "e.zip")):
        assert import_path(place, tmp_path / "e.zip")


def test_links_in_a_zip_are_not_read(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        info = zipfile.ZipInfo("conversations.json")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, json.dumps([make_chatgpt_conversation()]))
    (tmp_path / "e.zip").write_bytes(out.getvalue())
    assert readers.recognise(str(tmp_path / "e.zip")) is None
