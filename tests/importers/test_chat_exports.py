"""What ChatGPT and Claude.ai export becomes sessions and passages of its owner's own store."""

import io
import json
import struct
import zipfile
from pathlib import Path

import pytest

from memfs.importers import readers
from memfs.store.blocks import Place
from tests.importers.importing import count_outcomes, import_path, list_details, read_session
from tests.importers.samples import (
    make_chatgpt_conversation,
    make_chatgpt_node,
    make_zip,
    write_json,
)


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
    assert [each.id for each in read_session(place, "c-1")] == ["prompt", "answer", "more"]


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
    assert "damaged after element 1" in detail
    assert read_session(place, "c-1")
    assert read_session(place, "c-2")


def test_deep_nesting_is_damage(place: Place, tmp_path: Path) -> None:
    deep = json.dumps([make_chatgpt_conversation()])[:-1] + ", " + "[" * 200_000
    path = make_zip(tmp_path / "e.zip", {"conversations.json": deep.encode()})
    done = import_path(place, path)
    assert "nested too deeply" in list_details(done, "refused")[0]
    assert count_outcomes(done)["new"]


def test_what_unpacks_to_too_much_is_left(place: Place, tmp_path: Path) -> None:
    first = json.dumps([make_chatgpt_conversation()])[:-1].encode()
    path = make_zip(tmp_path / "e.zip", {"conversations.json": first + b"," + b" " * (20 << 20)})
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


@pytest.mark.parametrize("text", ["", "[]", "[1]", '{"observations": []}', "# Notes", '["a"]'])
def test_what_is_no_export_is_not_recognised(tmp_path: Path, text: str) -> None:
    (tmp_path / "conversations.json").write_text(text)
    assert readers.recognise(str(tmp_path / "conversations.json")) is None
