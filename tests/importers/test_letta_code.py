"""The memory of Letta Code's agents becomes blocks and passages, and their conversations sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfs.importers import readers
from memfs.importers.readers.letta_tools import NO_MEMORY
from memfs.ops import archive
from memfs.store import blocks, recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details, read_memory
from tests.importers.samples import letta_code_message, make_letta_code, write_json


def write_memory(folder: Path, **files: str) -> Path:
    """Write files of a memory; `__` in a name is a slash."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def test_its_files_become_blocks(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_letta_code(tmp_path / "lc"))
    assert dict(done.taken) == {("block", ""): 3}
    assert dict(done.left) == {("session", "repo"): 1}  # it was in another folder
    assert dict(done.omitted) == {("skill", NO_MEMORY): 1}
    rules = blocks.get(place, "shop/rules")
    assert rules.value == "HTTP timeouts are 5 seconds. 世界"
    assert rules.description == "About system/shop/rules.md"
    assert rules.pinned
    assert not rules.read_only
    assert blocks.get(place, "persona").value == "I keep the notes."
    assert not blocks.get(place, "reference/gateway").pinned


def test_a_block_loses_nothing(place: Place, tmp_path: Path) -> None:
    head = "---\ndescription: Not: YAML\nlimit: 12000\nread_only: true\n---\n"
    write_memory(tmp_path, system__rules=f"{head}\r\nOne\r\n\r\n--- two ---\r\n")
    import_path(place, tmp_path)
    found = blocks.get(place, "rules")
    assert (found.value, found.limit, found.read_only) == ("\nOne\n\n--- two ---", 12000, True)
    assert found.description == "Not: YAML"


def test_a_conversation_becomes_a_session_without_reminders_and_dates(
    place: Place, tmp_path: Path
) -> None:
    done = import_path(place, make_letta_code(tmp_path / "lc"), project="repo")
    assert dict(done.taken)["block", ""] == 3
    (item,) = [each for each in done.items if each.kind == "session"]
    (found,) = recall.messages(item.path)
    assert found.text == "What is our timeout?"
    assert (found.at, found.role, found.host) == ("", "user", "letta-code")
    assert found.project == "/home/d/repo"
    assert found.session == "agent-local-e0a1ccb6-local-conv-1"


def test_the_later_form_of_conversations_is_read(place: Place, tmp_path: Path) -> None:
    path = make_letta_code(tmp_path / "lc")
    call = {"type": "toolCall", "id": "c", "name": "Read", "arguments": {"path": "a.py"}}
    real = {"metadata": {"created_at": "2026-05-01T10:00:00.5Z"}}
    entries: list[object] = [
        {"type": "session", "version": 3, "id": "x", "cwd": "/home/d/repo"},
        {"type": "message", "id": "1", "message": letta_code_message("u1", "First")},
        {"type": "message", "id": "1", "message": letta_code_message("u1", "Said")},
        {
            "type": "message",
            "message": {
                "id": "a1",
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Hm"}, {"text": "I look."}, call],
                **real,
            },
        },
        {
            "type": "message",
            "message": {
                "id": "t1",
                "role": "toolResult",
                "toolName": "Read",
                "content": [{"type": "text", "text": "x = 1"}],
                "timestamp": 1777629601000,
            },
        },
        {
            "type": "compaction",
            "summary": "It repeats",
            "message": {
                "id": "s1",
                "role": "user",
                "content": "It repeats",
                "metadata": {"compaction": {"summary": "It repeats"}},
            },
        },
        5,
        {"id": "no role"},
        {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "As at first"}]},
    ]
    lines = [*map(json.dumps, entries), '{"id": "cut", "ro']
    (path / "conversations/Y29udg/messages.jsonl").write_text("\n".join(lines))
    done = import_path(place, path, project="repo")
    (item,) = [item for item in done.items if item.kind == "session"]
    assert [(m.role, m.text, m.tool, m.at) for m in item.messages] == [
        ("user", "Said", "", ""),
        ("assistant", "I look.", "", "2026-05-01T10:00:00Z"),
        ("tool", "path: a.py", "Read", "2026-05-01T10:00:00Z"),
        ("tool", "x = 1", "Read", "2026-05-01T10:00:01Z"),
        ("user", "As at first", "", ""),
    ]
    assert [item.count for item in done.items if item.outcome == "refused"] == [3]


@pytest.fixture
def second(tmp_path: Path) -> Path:
    """A memory in the second layout."""
    head = '---\nname: "{0}"\ndescription: "About {0}"\n---\n{0} says 世界'
    folder = write_memory(
        tmp_path / "agents/agent-1/memory",
        MEMORY=head.format("Index"),
        human_notes=head.format("Human"),
        shop__MEMORY=head.format("Shop"),
        shop__gateway__MEMORY=head.format("Gateway"),
        shop__gateway__limits=head.format("Limits"),
        attached__README="Not of the memory",
        attached__deep__MEMORY=head.format("Deep"),
        skills__pdf__SKILL="How",
    )
    (folder / "shop/data.bin").write_bytes(b"\0")
    return tmp_path


@pytest.mark.parametrize("place_of", ["agents/agent-1/memory", "agents/agent-1", "agents"])
def test_the_second_layout_is_read(place_of: str, second: Path, place: Place) -> None:
    done = import_path(place, second / place_of)
    found = {each.label: each.pinned for each in blocks.load(place) if "世界" in each.value}
    assert found == {
        "memory": True,
        "human_notes": True,
        "shop/memory": False,
        "shop/gateway/memory": False,
        "shop/gateway/limits": False,
    }
    assert blocks.get(place, "shop/gateway/limits").description == "About Limits"
    assert dict(done.omitted) == {("skill", NO_MEMORY): 1, ("file", NO_MEMORY): 3}


def test_an_index_of_another_tool_is_not_one_of_its(tmp_path: Path) -> None:
    write_memory(tmp_path, MEMORY="- [Tests](tests.md)", tests="---\ndescription: x\n---\ny")
    assert readers.recognise(str(tmp_path)) is not readers.get("letta-code")


def test_it_is_found_where_it_usually_is(tmp_path: Path) -> None:
    local = make_letta_code(tmp_path / ".letta/lc-local-backend")
    cloud = tmp_path / ".letta/agents"
    assert readers.get("letta-code").find(str(tmp_path), {}) == [str(local)]
    write_memory(cloud / "agent-1/memory", system__x="---\ndescription: x\n---\ny")
    assert readers.get("letta-code").find(str(tmp_path), {}) == [str(local), str(cloud)]
    other = make_letta_code(tmp_path / "moved")
    found = readers.get("letta-code").find(str(tmp_path), {"LETTA_LOCAL_BACKEND_DIR": str(other)})
    assert found == [str(other), str(cloud)]


def test_agents_with_the_same_labels_are_told_apart(place: Place, tmp_path: Path) -> None:
    path = make_letta_code(tmp_path / "lc")
    head = "---\ndescription: About system/persona.md\n---\n"
    write_memory(path / "memfs/agent-2/memory", system__persona=f"{head}I am two.")
    write_json(path / "agents/two.json", {"id": "agent-2", "name": "Second One"})
    import_path(place, path)
    assert blocks.get(place, "second_one/persona").value == "I am two."
    assert blocks.get(place, "memo/persona").value == "I keep the notes."
    assert blocks.get(place, "shop/rules").pinned


def test_of_two_files_with_one_label_the_pinned_one_has_it(place: Place, tmp_path: Path) -> None:
    head = "---\ndescription: x\n---\n"
    write_memory(tmp_path, rules=f"{head}Looked up", system__rules=f"{head}Always")
    import_path(place, tmp_path)
    assert blocks.get(place, "rules").value == "Always"
    assert "Looked up" in read_memory(place)


def test_a_long_file_that_is_looked_up_becomes_passages(place: Place, tmp_path: Path) -> None:
    head = "---\ndescription: A guide\n---\n"
    text = "".join(f"Line {number} of it.\n" for number in range(500))
    write_memory(tmp_path, reference__guide=f"{head}{text}", system__guide=f"{head}{text}")
    import_path(place, tmp_path)
    passages = [each.passage for each in archive.list_passages(place)]
    assert any(each.text.startswith("A guide\n\nLine 0 of it.") for each in passages)
    assert {each.source for each in passages} == {"letta-code: reference/guide"}
    assert {each.created_at for each in passages} == {"unknown"}
    assert blocks.get(place, "guide").value == text.rstrip("\n")
    assert blocks.get(place, "guide").limit == len(text.rstrip("\n"))


def test_what_is_no_text_of_the_folder_is_named_and_not_read(place: Place, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("Of somebody else")
    memory = write_memory(tmp_path / "m", system__x="---\ndescription: x\n---\ny")
    (memory / "system/link.md").symlink_to(tmp_path / "secret.md")
    (memory / "system/gone.md").symlink_to(tmp_path / "m/nowhere.md")
    (memory / "system/folder.md").symlink_to(tmp_path)
    (memory / "system/bytes.md").write_bytes(b"\xff\xfe\0a")
    (memory / "system/latin.md").write_bytes(b"caf\xe9")
    (memory / "system/big.md").write_bytes(b"x" * (3 << 20))
    done = import_path(place, memory)
    said = [detail.partition(f" of {memory}")[0] for detail in list_details(done, "refused")]
    assert sorted(said) == [
        "cannot read system/big.md: it is too large (3,145,728 bytes)",
        "cannot read system/bytes.md: it is UTF-16, not UTF-8",
        "cannot read system/folder.md: it is a link that leads out",
        "cannot read system/gone.md: it is a link that leads nowhere",
        "cannot read system/latin.md: it contains bytes that are not UTF-8",
        "cannot read system/link.md: it is a link that leads out",
    ]
    assert blocks.get(place, "x").value == "y"
    assert "somebody else" not in read_memory(place)


def test_odd_values_do_no_harm(place: Place, tmp_path: Path) -> None:
    path = make_letta_code(tmp_path / "lc")
    odd: list[object] = [5, None, [], {}, [{"text": 5}], True, {"text": "x"}]
    rows = [{"id": f"m{n}", "role": "user", "content": value} for n, value in enumerate(odd)]
    rows += [{"id": value, "role": value, "metadata": value, "message": value} for value in odd]
    (path / "conversations/Y29udg/messages.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write_json(path / "conversations/Y29udg/conversation.json", {"id": 5, "agent_id": [1]})
    write_json(path / "agents/YWdlbnQ.json", {"id": "agent-local-e0a1ccb6", "name": {"x": 1}})
    done = import_path(place, path)
    assert dict(done.taken) == {("block", ""): 3}
