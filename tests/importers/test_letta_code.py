"""The memory of Letta Code's agents becomes blocks and passages, and their conversations sessions."""

from pathlib import Path

import pytest

from memfs.importers import readers
from memfs.importers.readers.letta_tools import NO_MEMORY
from memfs.ops import archive
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details, read_memory
from tests.importers.samples import make_letta_code


def write_memory(folder: Path, **files: str) -> Path:
    """Write files of a memory; `__` in a name is a slash."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def test_a_block_loses_nothing(place: Place, tmp_path: Path) -> None:
    head = "---\ndescription: Not: YAML\nlimit: 12000\nread_only: true\n---\n"
    write_memory(tmp_path, system__rules=f"{head}\r\nOne\r\n\r\n--- two ---\r\n")
    import_path(place, tmp_path)
    found = blocks.get(place, "rules")
    assert (found.value, found.limit, found.read_only) == ("\nOne\n\n--- two ---", 12000, True)
    assert found.description == "Not: YAML"


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
        f"cannot read system/folder.md: it is a link to {tmp_path}, outside",
        "cannot read system/gone.md: it is a broken link",
        "cannot read system/latin.md: it contains bytes that are not UTF-8",
        f"cannot read system/link.md: it is a link to {tmp_path}/secret.md, outside",
    ]
    assert blocks.get(place, "x").value == "y"
    assert "somebody else" not in read_memory(place)
