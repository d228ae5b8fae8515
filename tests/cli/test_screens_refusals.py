"""Whole screens of commands that are refused."""

import subprocess
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("place")


def test_refusals(memfs: Run) -> None:
    memfs("edit", "human", "--append", "Name: Alice")
    assert memfs("edit", "human", "--replace", "Zed", "X") == (
        1,
        "",
        (
            "error: cannot replace text in 'human': 'Zed' is not in the block\n"
            "hint: match the text exactly; read the block with memfs show\n"
        ),
    )
    assert memfs("show", "human").out == "Name: Alice\n"
    refused = memfs("edit", "human", "--append", "x" * 5000)
    assert refused.code == 1
    assert refused.err.startswith(
        "error: cannot write 'human': 5,012 characters, the limit is 5,000\nhint: shorten the text by 12"
    )
    assert memfs("show", "humn") == (
        1,
        "",
        "error: there is no block 'humn'\nhint: did you mean 'human'? list the blocks: memfs show --list\n",
    )


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("install cluade", "claude"),
        ("uninstall cluade", "claude"),
        ("session list --host codx", "codex"),
        ("search --host codx x", "codex"),
        ("review session s --host gemni", "gemini"),
        ("sync agnets", "agents"),
    ],
)
def test_a_name_that_is_mistyped_is_guessed(memfs: Run, words: str, meant: str) -> None:
    done = memfs(*words.split())
    assert (done.code, f"\nhint: did you mean '{meant}'? run memfs " in done.err) == (2, True)


def test_a_label_that_is_not_as_it_was_typed_is_told(memfs: Run) -> None:
    told = "! the label was changed to 'a_b': labels are lower case, with _ instead of spaces\n"
    assert memfs("create", "A b", "x").err.startswith(told)
    assert memfs("rename", "a_b", "a_c").err.count("!") == 0
    assert memfs("rename", "a_c", "user:a b").err.startswith(told)


def test_a_search_without_a_project_store_says_where_it_looked(
    memfs: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert memfs("search", "zebra") == (
        0,
        "",
        "no hits in your own store; to create a store for this project, run memfs init\n",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Name: Al", "Name: Bo"),
        ("- Name: Al\n- Host: it's", "- Host: it's\n- Name: Bo"),
        ("x\n  Name: Al\n  y", "x\n  y\n  Name: Bo"),
        ("- Port: 8080 (b)\n- Port: 80", "- Port: 8080 (b)\n- Port: 443"),
        ("x\n\tPort: 80 (it's \\n)\n\tPort: 80", "x\n\tPort: 80 (it's \\n)\n\tPort: 443"),
        ("```\nName: Al\n```\nName: Al", "```\nName: Al\n```\nName: Bo"),
    ],
)
def test_the_command_named_for_a_line_that_says_otherwise(
    memfs: Run, before: str, after: str
) -> None:
    memfs("create", "user:persona", before)
    told = memfs("edit", "user:persona", "--append", after.rpartition("\n")[2]).err
    command = told.rstrip("\n").rpartition("the line is outdated, run: memfs ")[2]
    split = subprocess.check_output(["bash", "-c", f"printf '%s\\0' {command}"])
    done = memfs(*split.decode().split("\0")[:-1])
    assert (done.code, memfs("show", "user:persona").out) == (0, f"{after}\n"), command


def test_the_command_named_for_a_scratch_block(memfs: Run, place: Place) -> None:
    path = Path(place.home.session("s1"), "working.md")
    path.parent.mkdir(parents=True)
    path.write_text("Name: Al\n")
    told = memfs("edit", "working", "--session", "s1", "--append", "Name: Bo").err
    assert told.endswith("memfs edit session:working --session s1 --remove 'Name: Al'\n")
    removed = memfs("edit", "session:working", "--session", "s1", "--remove", "Name: Al")
    assert (removed.code, path.read_text().partition("Name:")[2]) == (0, " Bo\n")


def test_usage_errors(memfs: Run) -> None:
    assert memfs("edit").code == 2
    assert memfs("edit", "human", "--insert", "two", "x").code == 2
    assert memfs("edit", "../up", "--append", "x").code == 2
    assert memfs("shwo").code == 2
    assert "did you mean 'show'?" in memfs("shwo").err
    assert memfs("search", " ").code == 2
    assert memfs("search", "x", "--since", "soon").code == 2
    assert memfs("show", "human@last").code == 2


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ('[{"op": "shout"}]', "edit 1 has op 'shout', not one of append, replace, remove"),
        (
            '[{"op": "append", "label": "human", "txt": "x"}]',
            "edit 1 (append) does not take 'txt', only label, text",
        ),
        (
            '[{"op": "append", "label": "human", "text": 5}]',
            "'text' in edit 1 is 5, expected a string",
        ),
        (
            '[{"op": "insert", "label": "human", "line": "1", "text": "x"}]',
            "expected a whole number",
        ),
        ('[{"op": "append", "label": "human"}]', "edit 1 (append) needs 'text'"),
        ("[]", "expected a JSON list of edits"),
        ("[3]", "edit 1 is not a JSON object"),
        ("{", "invalid JSON"),
    ],
)
def test_a_wrong_patch_is_explained(memfs: Run, patch: str, reason: str) -> None:
    shown = memfs("edit", "--patch", "-", stdin=patch)
    assert shown.code == 2
    assert reason in shown.err


def test_a_page_that_is_not_there(memfs: Run) -> None:
    memfs("archive", "add", "We chose httpx over requests.")
    shown = memfs("search", "httpx", "--in", "archive", "-p", "99")
    assert shown.err == "there is no page 99: the search found 1 hit on 1 page\n"


@pytest.mark.parametrize("when", ["99999999999d", "0001-01-01", "2026-02-30", "x"])
def test_a_date_that_is_none(memfs: Run, when: str) -> None:
    assert memfs("search", "x", "--since", when).code in (0, 2)
    assert "a bug" not in memfs("search", "x", "--since", when).err


def test_without_a_store(
    memfs: Run, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    shutil.rmtree(home / ".agent-memory")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    told = (
        f"error: there is no memfs store at or above {folder}\nhint: create a store: memfs init\n"
    )
    for words in (("show", "--list"), ("search", "zebra"), ("recall", "zebra")):
        assert memfs(*words) == (1, "", told)
