"""The memory tool's six commands, in the wording its models know (`refused.jsonl` has its errors)."""

from collections.abc import Callable

import pytest

from memfs.store import blocks
from memfs.store.blocks import Place
from tests.tools.conftest import Do

Run = Callable[..., str]


@pytest.fixture
def run(do: Do) -> Run:
    return lambda command, **given: do("memory", command=command, **given).text


def test_a_file_lives_from_creation_to_deletion(run: Run, place: Place) -> None:
    path = "/memories/notes/api.txt"
    assert (
        run("create", path=path, file_text="a\nb\nc\n") == f"File created successfully at: {path}"
    )
    assert blocks.get(place, "notes/api").value == "a\nb\nc"
    assert run("view", path=path) == (
        f"Here's the content of {path} with line numbers:\n     1\ta\n     2\tb\n     3\tc"
    )
    assert run("view", path=path, view_range=[2, -1]).splitlines()[1:] == ["     2\tb", "     3\tc"]
    assert run("str_replace", path=path, old_str="b", new_str="B\nB2") == (
        "The memory file has been edited.\n     1\ta\n     2\tB\n     3\tB2\n     4\tc"
    )
    assert run("insert", path=path, insert_line=0, insert_text="top\n") == (
        f"The file {path} has been edited."
    )
    assert blocks.get(place, "notes/api").value == "top\na\nB\nB2\nc"
    assert run("rename", old_path=path, new_path="/memories/api.md") == (
        f"Successfully renamed {path} to /memories/api.md"
    )
    assert run("delete", path="/memories/api.md") == "Successfully deleted /memories/api.md"
    assert blocks.resolve_label(place, "api") is None


def test_a_folder_is_listed_renamed_and_deleted_whole(run: Run, place: Place) -> None:
    for name in ("x/one", "x/two", "x/deep/three"):
        run("create", path=f"/memories/{name}.md", file_text=name)
    listed = run("view", path="/memories").splitlines()
    assert listed[0] == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items and node_modules:"
    )
    assert [line.split("\t")[1] for line in listed[1:]] == [
        "/memories",
        "/memories/human.md",
        "/memories/persona.md",
        "/memories/system_rules.md",
        "/memories/x",
        "/memories/x/deep",
        "/memories/x/one.md",
        "/memories/x/two.md",
    ]
    assert all(line.split("\t")[0].endswith("K") for line in listed[1:])
    assert run("rename", old_path="/memories/x", new_path="/memories/y").startswith("Successfully")
    assert blocks.get(place, "y/deep/three").value == "x/deep/three"
    assert run("delete", path="/memories/y").startswith("Successfully")
    assert blocks.resolve_label(place, "y/one") is None


def test_several_occurrences_are_named_by_their_lines(run: Run) -> None:
    run("create", path="/memories/a.md", file_text="x\ny\nx")
    assert run("str_replace", path="/memories/a.md", old_str="x", new_str="z") == (
        "No replacement was performed. Multiple occurrences of old_str `x` in lines: 1, 3. "
        "Please ensure it is unique"
    )


def test_a_file_of_a_tier_is_renamed_to_what_was_asked_for(run: Run, place: Place) -> None:
    run("rename", old_path="/memories/user:human.md", new_path="/memories/people.md")
    assert blocks.resolve_label(place, "people")
