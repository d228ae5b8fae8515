"""The memory tool's six commands: the wording its models know, the paths it allows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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


@pytest.mark.parametrize(
    ("command", "given", "told"),
    [
        (
            "view",
            {"path": "/memories/no.md"},
            "The path /memories/no.md does not exist. Please provide a valid path.",
        ),
        (
            "create",
            {"path": "/memories/human.md", "file_text": "x"},
            "Error: File /memories/human.md already exists",
        ),
        (
            "str_replace",
            {"path": "/memories/no.md", "old_str": "a", "new_str": "b"},
            "Error: The path /memories/no.md does not exist. Please provide a valid path.",
        ),
        (
            "str_replace",
            {"path": "/memories/persona.md", "old_str": "zz", "new_str": "b"},
            "No replacement was performed, old_str `zz` did not appear verbatim in /memories/persona.md.",
        ),
        (
            "insert",
            {"path": "/memories/no.md", "insert_line": 0, "insert_text": "x"},
            "Error: The path /memories/no.md does not exist",
        ),
        (
            "insert",
            {"path": "/memories/human.md", "insert_line": 9, "insert_text": "x"},
            "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 0]",
        ),
        ("delete", {"path": "/memories/no.md"}, "Error: The path /memories/no.md does not exist"),
        (
            "rename",
            {"old_path": "/memories/no.md", "new_path": "/memories/a.md"},
            "Error: The path /memories/no.md does not exist",
        ),
        (
            "rename",
            {"old_path": "/memories/human.md", "new_path": "/memories/persona.md"},
            "Error: The destination /memories/persona.md already exists",
        ),
        ("delete", {"path": "/memories"}, "Error: Cannot delete the /memories directory itself"),
        ("view", {}, "error: the command view of memory needs path"),
        (
            "view",
            {"path": "/memories/persona.md", "view_range": [7, 9]},
            "Error: Invalid `view_range` parameter: [7, 9] of 2 lines",
        ),
    ],
)
def test_errors_have_the_wording_of_the_reference(
    run: Run, command: str, given: dict[str, object], told: str
) -> None:
    assert run(command, **given) == told


def test_several_occurrences_are_named_by_their_lines(run: Run) -> None:
    run("create", path="/memories/a.md", file_text="x\ny\nx")
    assert run("str_replace", path="/memories/a.md", old_str="x", new_str="z") == (
        "No replacement was performed. Multiple occurrences of old_str `x` in lines: 1, 3. "
        "Please ensure it is unique"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "memories/a.md",
        "/memories/../a.md",
        "/memories/..\\a",
        "/memories/%2e%2e/a",
        "/memoriesx/a",
        "../../a",
        "",
    ],
)
def test_paths_stay_below_the_folder(run: Run, path: str, place: Place) -> None:
    before = sorted(Path(place.home.root).rglob("*.md"))
    told = run("create", path=path, file_text="x")
    assert told.startswith(("Error: Path must be within /memories directory", "error: the command"))
    assert sorted(Path(place.home.root).rglob("*.md")) == before


def test_what_memfs_refuses_says_why(run: Run) -> None:
    told = run("create", path="/memories/big.md", file_text="x" * 9000)
    assert told.startswith("error: cannot write 'big': 9,000 characters, the limit is 5,000")


def test_a_file_of_a_tier_is_renamed_to_what_was_asked_for(run: Run, place: Place) -> None:
    run("rename", old_path="/memories/user:human.md", new_path="/memories/people.md")
    assert blocks.resolve_label(place, "people")
