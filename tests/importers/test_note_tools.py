"""What basic-memory, opencode-agent-memory and folders of text files keep as notes."""

from pathlib import Path

import pytest

from memfs.importers import foreign_files, importing, readers
from memfs.ops import archive
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - the fixture
from tests.importers.importing import import_path, read_passages
from tests.importers.note_samples import (
    make_basic_memory,
    make_memory_folder,
    make_opencode_memory,
    write_texts,
)
from tests.importers.samples import write_json

NOTE = "---\ntitle: {}\ntype: {}\npermalink: {}\n---\n\n{}\n"


def test_a_long_note_is_cut_at_its_headings(place: Place, tmp_path: Path) -> None:
    body = "".join(f"## Part {number}\n\n{'word ' * 300}\n\n" for number in range(3))
    note = NOTE.format("Long", "note", "long", body)
    import_path(place, write_texts(tmp_path / "n", {"long.md": note}))
    texts = [each.passage.text for each in archive.list_passages(place)]
    assert sorted(text.partition("\n")[0] for text in texts) == [
        "Long > Part 0",
        "Long > Part 1",
        "Long > Part 2",
    ]


def test_a_long_decision_becomes_passages(place: Place, tmp_path: Path) -> None:
    note = NOTE.format("Long", "decision", "long", "a line of the decision\n" * 300)
    done = import_path(place, write_texts(tmp_path / "n", {"long.md": note}))
    assert {item.kind for item in done.items} == {"passage"}


def test_the_projects_of_a_configuration_are_found(
    place: Place, tmp_path: Path, home: Path
) -> None:
    note = NOTE.format("N", "note", "n", "of {}")
    main = write_texts(tmp_path / "main", {"n.md": note.replace("{}", "main")})
    repo = write_texts(tmp_path / "notes", {"n.md": note.replace("{}", "repo")})
    projects = {"main": str(main), "repo": {"path": str(repo)}, "gone": {"path": "/nowhere"}}
    config = {"projects": projects, "default_project": "main"}
    path = write_json(home / ".basic-memory/config.json", config)
    (home / ".basic-memory/memory.db").write_bytes(b"SQLite format 3\0")
    tool = readers.get("basic-memory")
    assert tool.find(str(home), {}) == [str(path)]
    done = import_path(place, path.parent)
    assert dict(done.taken) == {("note", "repo"): 1}
    assert dict(done.left) == {("note", "main"): 1}
    assert [item.detail for item in done.items if item.outcome == "refused"] == [
        "cannot read the project gone: there is no folder /nowhere"
    ]


def test_one_project_alone_is_of_no_project(place: Place, tmp_path: Path) -> None:
    notes = write_texts(tmp_path / "main", {"n.md": NOTE.format("N", "note", "n", "text")})
    config = {"projects": {"main": str(notes)}, "default_project": "main"}
    done = import_path(place, write_json(tmp_path / "c/config.json", config))
    assert dict(done.taken) == {("note", ""): 1}


@pytest.mark.parametrize(
    "head",
    [
        "title: 5\ntype: [a]\npermalink: {a: b}\ntags: {x: [1]}\nlimit: many\ncreated: yesterday",
        "title: T\ntype: note\ntags: null\nimportance: high",
        "title: T\ntype: block\nlabel: ../../x\nlimit: -5\nread_only: maybe",
        "title: T\ntype: block\nlabel: con",
        f"title: T\ntype: block\nlabel: {'x/' * 200}{'y' * 300}",
    ],
)
def test_odd_front_matter_does_no_harm(head: str, place: Place, tmp_path: Path) -> None:
    good = NOTE.format("N", "note", "n", "a good note")
    texts = {"a.md": good, "odd.md": f"---\n{head}\n---\n\nan odd note\n"}
    done = import_path(place, write_texts(tmp_path / "n", texts))
    assert {item.outcome for item in done.items} == {"new"}
    assert len(done.items) == 2


def test_links_out_of_the_folder_are_named_and_not_read(place: Place, tmp_path: Path) -> None:
    folder = make_basic_memory(tmp_path / "shop")
    secret = write_texts(tmp_path, {"secret.md": "elsewhere"}) / "secret.md"
    (folder / "notes/link.md").symlink_to(secret)
    done = import_path(place, folder)
    (refused,) = [item.detail for item in done.items if item.outcome == "refused"]
    assert refused.startswith("cannot read notes/link.md: it is a link to ")


def test_web_pages_with_permalinks_are_no_notes(tmp_path: Path) -> None:
    page = "---\ntitle: About\ntype: page\npermalink: /about/\n---\n\nText.\n"
    path = write_texts(tmp_path / "site", {"about.md": page})
    assert not readers.get("basic-memory").sniff(str(path))


def test_a_file_is_a_block_and_a_long_one_passages(place: Place, tmp_path: Path) -> None:
    folder = make_memory_folder(tmp_path / "memories")
    write_texts(folder, {"long.xml": "<p>a line</p>\n" * 900, "empty": ""})
    done = import_path(place, folder)
    assert dict(done.taken) == {("file", ""): 3}
    assert blocks.get(place, "shop/todo").value == "- wait"
    assert not blocks.get(place, "progress").pinned
    found = archive.list_passages(place)
    assert {each.passage.source for each in found} == {"memory-folder: long"}
    assert len(found) > 1


@pytest.mark.parametrize(
    "texts",
    [
        {"a.md": "text", "main.py": "print()"},
        {"a.md": "text", ".git/HEAD": "ref"},
        {"a.md": "text", ".agent-memory/config.yaml": "memfs: 1"},
        {"MEMORY.md": "index"},
        {"memory-bank/progress.md": "text"},
        {},
    ],
)
def test_other_folders_are_none(texts: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    tool = readers.recognise(str(write_texts(folder, texts)))
    assert tool is None or tool.name != "memory-folder"


@pytest.mark.parametrize("known", [kind.path for kind in foreign_files.KINDS if not kind.ends])
@pytest.mark.parametrize("beside", ["a.md", "deep/b.txt", "p.png", "main.py"])
def test_what_a_folder_is_is_not_decided_by_one_file(
    place: Place, tmp_path: Path, memfs: Run, known: str, beside: str
) -> None:
    """All of it comes in, or what does not is named, and the exit code is 1."""
    texts = {known: "the zebra", beside: "the yak", "c.md": "the walrus"}
    folder = write_texts(tmp_path / "notes", texts)
    (folder / "p.png").write_bytes(b"\x89PNG\0") if beside == "p.png" else None
    done = memfs("import", str(folder))
    said = done.out + done.err
    kept = "".join(block.value for block in blocks.load(place))
    for name, text in texts.items():
        if name == "main.py" or (name.startswith(".") and text not in kept):
            continue  # a program, and what is hidden in a folder of notes, are none
        assert text in kept or name.rpartition("/")[2] in said, said
    assert done.code == (0 if beside in ("a.md", "deep/b.txt") else 1), said


@pytest.mark.parametrize("name", ["memory-bank", ".serena/memories", ".cursor/rules"])
def test_folders_of_known_files_are_imported_as_ever(name: str, repo: Path) -> None:
    write_texts(repo / name, {"a.md": "text"})
    assert importing.find_tool((str(repo / name),), str(repo)) == []


def test_blocks_and_journal_of_opencode(place: Place, home: Path) -> None:
    config = make_opencode_memory(home / ".config/opencode")
    own = "---\nlabel: Our_Rules\ndescription: R\nlimit: 9000\nread_only: true\n---\nWait.\n"
    write_texts(Path(".opencode/memory"), {"Our_Rules.md": own, "empty.md": ""})
    tool = readers.get("opencode-memory")
    assert tool.find(str(home), {}) == [
        f"{config}/memory",
        f"{config}/journal",
        str(Path(".opencode/memory").absolute()),
    ]
    import_path(place, config / "memory")
    assert blocks.get(place, "user:project").limit == 4000
    done = import_path(place, Path(".opencode/memory"))
    assert dict(done.omitted) == {("file", "without text"): 1}
    block = blocks.get(place, "project:our_rules")
    assert (block.value, block.limit, block.read_only, block.description) == (
        "Wait.",
        9000,
        True,
        "R",
    )
    import_path(place, config)
    assert read_passages(place, "text", "created_at", "tags") == {
        "opencode-memory: 20260101-000001-000": (
            "# Retry-After\n\nSeconds.",
            "2026-01-01T00:00:01Z",
            ("opencode-memory", "http", "journal"),
        )
    }
