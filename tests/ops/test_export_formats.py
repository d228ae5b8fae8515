"""Memory in the formats of other tools: what was written comes back by their importers."""

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import front_matter_lines, yaml_edit
from memfs.core.errors import MemfsError, StoreError
from memfs.core.records import Message, Origin
from memfs.importers import exporting, writers
from memfs.importers.exporting import Exported, SecretsFound
from memfs.ops import archive, init
from memfs.store import archive as passages
from memfs.store import blocks, recall, static, store_paths
from memfs.store.blocks import Place
from tests.examples import examples
from tests.importers.importing import import_path, list_details
from tests.ops.test_export import OPTIONS, WRITE
from tests.ops.test_purge import SECRET, put

HEAD = "---\ndescription: {}\nlimit: {}\nread_only: {}\npinned: false\ntags: [{}]\n---\n"
TEXTS = (
    "Green tea at 70 degrees. 世界",
    "# A heading\n\n- [gotcha] seconds #http\n- implements [[Client]]\n\n```\n# code\n```",
    "- [ ] the first line is a task\n\n---\ntitle: no front matter\n---\n",
    "[1, 2] {3}: \"quotes\" 'and' # more",
    "word " * 900,
)
RESULT = {"letta": "memory.af", "server-memory": "memory.jsonl"}


def fill(place: Place, block_file: WRITE) -> None:
    """Put blocks and passages into a store whose texts are awkward in other formats."""
    block_file(
        "services/api", HEAD.format('"The API: \\"x\\""', 7000, "true", "http, a b") + "Wait 5 s.\n"
    )
    block_file("plain", "No front matter,\n\n- [decision] two paragraphs #tag\n")
    block_file("decisions/long", HEAD.format("Long", 9000, "false", "") + "a line\n" * 1000)
    for number, text in enumerate(TEXTS):
        archive.run(place, text, importance=3 + number, tags=("tea", "a b"), origin=Origin())


def convert(place: Place, tool: str, path: Path, **given: bool) -> Exported | SecretsFound:
    return exporting.convert(place, tool, str(path), **(OPTIONS | given))


def make_empty_place(folder: Path) -> Place:
    """Make a project store in which nothing is, beside the user's."""
    folder.mkdir()
    init.run(str(folder), str(folder))
    for path in Path(folder / ".agent-memory/blocks").rglob("*.md"):
        path.unlink()
    return blocks.find_place(str(folder))


def read_blocks(place: Place) -> dict[str, tuple[str, dict[str, object]]]:
    """Return the text of each block, and its keys with those that are what they would be without."""
    usual = {"read_only": False, "pinned": True, "limit": 5000, "description": "", "tags": []}
    found = [block for block in blocks.load(place) if block.tier == "project" and block.value]
    return {block.label: (block.value, usual | block.content[0]) for block in found}


def read_passages(place: Place) -> list[tuple[str, list[tuple[str, object]]]]:
    """Return the text and the front matter of each passage."""
    found = []
    for path in passages.sources(place.home):
        passage, keys = passages.read(path), blocks.front_matter(passages.read_head(path))
        assert passage
        found.append((passage.text, sorted({"tags": [], **keys}.items())))
    return sorted(found, key=str)


@pytest.mark.parametrize("tool", writers.EXPORTERS)
def test_what_was_written_comes_back(
    tool: str, place: Place, block_file: WRITE, tmp_path: Path
) -> None:
    fill(place, block_file)
    path = tmp_path / RESULT.get(tool, "out")
    done = convert(place, tool, path)
    assert isinstance(done, Exported)
    empty = make_empty_place(tmp_path / "other")
    for each in [path, *(Path(name) for name in done.paths if name.endswith(".archival.json"))]:
        imported = import_path(empty, each)
        assert not list_details(imported, "refused")
    assert read_blocks(empty) == read_blocks(place)
    assert read_passages(empty) == read_passages(place)


KEYS = st.dictionaries(
    st.from_regex(r"[a-z][a-z_-]{2,9}", fullmatch=True).filter(
        lambda key: key not in {*front_matter_lines.KNOWN, *writers.NOTE_KEYS, "memfs", "paged_out"}
    ),
    st.sampled_from(
        ["Re: hello", "no", "1e3", "3.10", "a # b", "übersicht", "2026-05-01", '"quoted"', "[a"]
    )
    | st.integers(-9, 10**6)
    | st.booleans()
    | st.lists(st.sampled_from(["a, b", "no", "# c", "世界"]) | st.integers(0, 9), min_size=1)
    | st.fixed_dictionaries({"b": st.integers(0, 9), "c d": st.just("x: y")}),
    max_size=4,
)


@examples(30)
@given(
    keys=KEYS,
    pinned=st.booleans(),
    read_only=st.booleans(),
    text=st.sampled_from(TEXTS),
    n=st.integers(1, 10),
)
@pytest.mark.parametrize("tool", writers.EXPORTERS)
def test_every_key_of_an_owner_comes_back(
    tool: str, place: Place, keys: dict[str, object], pinned: bool, read_only: bool, text: str,
    n: int, tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("keys")
    here = make_empty_place(folder / "here")
    about = {
        "limit": 9000,
        "pinned": pinned,
        "read_only": read_only,
        "priority": n,
        "tags": ["A b"],
    }
    put(f"{here.home.root}/blocks/a/b.md", yaml_edit.write("", about | keys, "\n") + text + "\n")
    dated = {"created_at": "2026-05-01T10:00:00Z", "importance": n, "tags": ["A b"], "source": "x"}
    name = f"{here.home.root}/archive/2026-05/p.md"
    put(name, yaml_edit.write("", dated | keys, "\n") + text + "\n")
    done = convert(here, tool, folder / RESULT.get(tool, "out"))
    assert isinstance(done, Exported)
    assert done.unplaced.get("keys", 0) == 0
    there = make_empty_place(folder / "there")
    for each in [folder / RESULT.get(tool, "out"), *map(Path, done.paths)]:
        if each.name.endswith((".archival.json", RESULT.get(tool, "out"))):
            import_path(there, each)
    assert read_blocks(there) == read_blocks(here)
    assert read_passages(there) == read_passages(here)


def test_keys_that_a_format_has_no_place_for_are_counted(place: Place, tmp_path: Path) -> None:
    put(f"{place.home.root}/blocks/a.md", "---\ntype: reference\ntitle: A\nx: 1\n---\ntext\n")
    for tool, number in (("basic-memory", 2), ("markdown", 0)):
        done = convert(place, tool, tmp_path / tool)
        assert isinstance(done, Exported)
        assert done.unplaced["keys"] == number


@pytest.mark.parametrize("tool", writers.EXPORTERS)
def test_the_same_memory_gives_the_same_bytes_for_its_owner_alone(
    tool: str, place: Place, block_file: WRITE, tmp_path: Path
) -> None:
    fill(place, block_file)
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        path = tmp_path / name / RESULT.get(tool, "out")
        done = convert(place, tool, path)
        assert isinstance(done, Exported)
        files = [Path(each) for each in done.paths]
        assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
        found.append({str(each.relative_to(tmp_path / name)): each.read_bytes() for each in files})
    assert found[0] == found[1]


@pytest.mark.parametrize("tool", writers.EXPORTERS)
def test_a_secret_is_named_and_nothing_is_written(
    tool: str, place: Place, block_file: WRITE, tmp_path: Path
) -> None:
    block_file("api", f"key: {SECRET}\n")
    path = tmp_path / RESULT.get(tool, "out")
    done = convert(place, tool, path)
    assert isinstance(done, SecretsFound)
    assert not path.exists()
    assert isinstance(convert(place, tool, path, anyway=True), Exported)
    assert path.exists()


def test_facts_and_static_entries_are_texts(place: Place, tmp_path: Path) -> None:
    static.write_entry(place.home, "http/limits", "five", "reference", ("http",))
    fact = {"id": "f", "statement": "Port is\n7741", "confidence": 0.9, "category": "config"}
    gone = {**fact, "id": "g", "statement": "Port is 1", "status": "superseded"}
    dated = ({**each, "at": "2026-05-01T00:00:00Z"} for each in (fact, gone))
    lines = "".join(json.dumps(each) + "\n" for each in dated)
    put(f"{place.home.root}/facts/2026-05.jsonl", lines)
    convert(place, "server-memory", tmp_path / "m.jsonl")
    found = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    texts = [each["observations"] for each in found if each["entityType"] == "memory passage"]
    assert [each[0] for each in texts] == ["five", "- [config] Port is 7741"]
    assert "tags: static, reference, http" in texts[0]


@pytest.mark.parametrize("tool", writers.EXPORTERS)
def test_sessions_go_where_there_is_a_place_for_them(
    tool: str, place: Place, tmp_path: Path
) -> None:
    said = [
        Message("1", "s/1", "claude", "", "", "2026-05-01T00:00:00Z", "user", "Which port?"),
        Message("2", "s/1", "claude", "", "", "", "tool", "ls", "Bash"),
        Message("3", "s/1", "claude", "", "", "", "assistant", "7741"),
    ]
    recall.write_session(recall.get_path(place.home, "claude", "s/1"), said)
    path = tmp_path / RESULT.get(tool, "out")
    done = convert(place, tool, path, everything=True)
    assert isinstance(done, Exported)
    assert done.counts["sessions"] + done.unplaced["sessions"] == 1
    if done.counts["sessions"]:
        name = f"*/claude/{store_paths.file_name('s/1')}.md"
        (note,) = path.glob(name)
        text = note.read_text(encoding="utf-8")
        assert "### User 2026-05-01T00:00:00Z\n\nWhich port?\n\n### Assistant\n\n7741\n" in text
        assert "ls" not in text
        back = import_path(make_empty_place(tmp_path / "other"), path)
        assert back.omitted["conversation", "written as prose, not as messages"] == 1


def test_nothing_is_written_over_unasked(place: Place, block_file: WRITE, tmp_path: Path) -> None:
    fill(place, block_file)
    folder = tmp_path / "out"
    convert(place, "markdown", folder)
    with pytest.raises(StoreError, match="is not empty"):
        convert(place, "markdown", folder)
    convert(place, "markdown", folder, force=True)
    with pytest.raises(StoreError, match="is not a folder"):
        convert(place, "basic-memory", folder / "plain.md")
    with pytest.raises(MemfsError, match="is a folder"):
        convert(place, "letta", folder)
    (tmp_path / "m.archival.json").write_text("theirs")
    with pytest.raises(StoreError, match="already exists"):
        convert(place, "letta", tmp_path / "m.af")
    assert (tmp_path / "m.archival.json").read_text() == "theirs"
    assert not (tmp_path / "m.af").exists()


def test_an_unknown_format_is_named(place: Place, tmp_path: Path) -> None:
    with pytest.raises(MemfsError, match="unknown format 'zep'"):
        convert(place, "zep", tmp_path / "x")


def test_an_agent_file_has_what_its_program_writes(
    place: Place, block_file: WRITE, tmp_path: Path
) -> None:
    fill(place, block_file)
    convert(place, "letta", tmp_path / "m.af")
    found = json.loads((tmp_path / "m.af").read_text(encoding="utf-8"))
    assert found.keys() == {
        "agents", "groups", "blocks", "files", "sources", "tools", "mcp_servers", "skills",
        "metadata", "created_at",
    }  # fmt: skip
    (agent,) = found["agents"]
    assert agent["block_ids"] == [each["id"] for each in found["blocks"]]
    api = next(each for each in found["blocks"] if each["label"] == "services/api")
    assert (api["value"], api["limit"], api["read_only"]) == ("Wait 5 s.", 7000, True)
