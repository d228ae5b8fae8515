"""Notes of basic-memory become passages, decisions among them blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.importers import readers
from memfs.ops import archive
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.importers.importing import import_path
from tests.importers.note_samples import make_basic_memory, write_texts
from tests.importers.samples import write_json

NOTE = "---\ntitle: {}\ntype: {}\npermalink: {}\n---\n\n{}\n"


def read_passages(place: Place) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return (text, tags) of the passages, by what their source calls them."""
    return {
        each.passage.source: (each.passage.text, each.passage.tags)
        for each in archive.list_passages(place)
    }


def test_a_note_is_a_passage_and_a_decision_a_block(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_basic_memory(tmp_path / "shop"))
    assert dict(done.taken) == {("decision", ""): 1, ("note", ""): 1}
    assert read_passages(place) == {
        "basic-memory: shop/notes/http-client": (
            "# HTTP client\n\nOne timeout for all calls. 世界",
            ("basic-memory",),
        )
    }
    block = blocks.get(place, "decisions/retry_policy")
    assert block.value == "# Retry policy\n\n- [gotcha] 429 carries Retry-After #gateway"
    assert (block.description, block.tags) == ("Retry policy", ["http", "gotcha", "gateway"])
    assert not block.pinned


def test_categories_and_tags_of_observations_are_tags(place: Place, tmp_path: Path) -> None:
    body = (
        "# N\n- [gotcha] seconds #http (of the gateway)\n- loose #late\n- [x] done #no\n"
        "- [a link](url) of a list\n- implements [[Client]]\n```\n- [code] is none\n```"
    )
    import_path(place, write_texts(tmp_path / "n", {"n.md": NOTE.format("N", "note", "n", body)}))
    assert read_passages(place) == {
        "basic-memory: n": (body, ("basic-memory", "gotcha", "http", "late"))
    }


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


def test_conversations_are_left_and_counted(place: Place, tmp_path: Path) -> None:
    texts = {
        f"{name}.md": NOTE.format(name, "conversation", name, "### Human\n\nhello")
        for name in ("one", "two")
    }
    texts["n.md"] = NOTE.format("N", "note", "n", "text")
    done = import_path(place, write_texts(tmp_path / "n", texts))
    assert dict(done.omitted) == {("conversation", "transcripts in prose"): 2}
    assert len(archive.list_passages(place)) == 1


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
    assert refused.startswith("cannot read notes/link.md: it is a link that leads out of")


def test_web_pages_with_permalinks_are_no_notes(tmp_path: Path) -> None:
    page = "---\ntitle: About\ntype: page\npermalink: /about/\n---\n\nText.\n"
    path = write_texts(tmp_path / "site", {"about.md": page})
    assert not readers.get("basic-memory").sniff(str(path))
