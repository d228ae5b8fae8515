"""Conversations as files: what is wrong in one is said with file and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memfs.agent import conversations
from memfs.core.errors import MemfsError
from tests.agent.conftest import Evaluate
from tests.agent.good_model import append
from tests.agent.scripted_endpoint import Say
from tests.cli.conftest import Run

OURS = "conversations.our-rule"
GOOD = """\
kind: decision
conversations:
  our-rule:
    blocks:
      services/api: {description: The API., value: "Port: 80"}
    turns: [We listen on 8080 now.]
    expect:
      saved:
        - {in: services/api, words: ["8080"]}
      gone: ["Port: 80"]
"""


def test_the_example_of_the_documentation_is_a_conversation() -> None:
    page = Path(__file__).parents[2] / "docs/agent.md"
    [example] = re.findall(r"```yaml\n(kind: .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    [found] = conversations.parse("agent.md", example)
    expected = found.expected
    assert (found.name, len(expected.saved), expected.gone) == ("our-port", 1, ("port 80",))


def test_what_ships_is_sound_and_every_kind_is_there() -> None:
    found = conversations.load()
    assert {each.kind for each in found} == set(conversations.KINDS)
    assert 25 <= len(found) <= 35


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kind: decision", "kind: decisions", "kind: expected one of personal, preference, dec"),
        ("kind: decision", "kind: 5", "kind: Expected `str`, got `int`"),
        ("kind: decision", "kind: decision\nturns: [x]", "Object contains unknown field `turns`"),
        ("conversations:", "conversation:", "Object contains unknown field `conversation`"),
        ("    turns: [We listen on 8080 now.]\n", "", f"{OURS}: Object missing required field `tu"),
        ("[We listen on 8080 now.]", "[x, 8080]", f"{OURS}.turns[1]: Expected `str`, got `int`"),
        ("[We listen on 8080 now.]", "[]", f"{OURS}.turns: Expected `array` of length >= 1"),
        ("[We listen on 8080 now.]", "' '", f"{OURS}.turns: Expected `str` matching"),
        ("gone:", "lost:", f"{OURS}.expect: Object contains unknown field `lost`"),
        ('"8080"', "8080", f"{OURS}.expect.saved[0].words[0]: Expected `str | array`, got `int`"),
        ('["8080"]', "x", f"{OURS}.expect.saved[0].words: Expected `array`, got `str`"),
        (', words: ["8080"]', "", f"{OURS}.expect.saved[0]: Object missing required field `words`"),
        ("in: services/api, ", "", f"{OURS}.expect.saved[0]: Object missing required field `in`"),
        (
            "services/api: {",
            "Services API: {",
            f"{OURS}.blocks.Services API: no label of a block: ",
        ),
        ("value: ", "text: ", f"{OURS}.blocks.services/api: Object contains unknown field `text`"),
        ("  our-rule:\n", "  our-rule: 5\n  x:\n", f"{OURS}: Expected `object`, got `int`"),
        (
            "  gone: [",
            "  untouched: maybe\n      gone: [",
            f"{OURS}.expect.untouched: Expected `bo",
        ),
        ("kind: decision", "kind: [decision", "line "),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_key(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in GOOD
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(MemfsError) as raised:
        conversations.load(str(tmp_path))
    assert raised.value.message.startswith(f"{path}: {told}")
    assert raised.value.code == 2


def test_a_name_is_given_once(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yml"):
        (tmp_path / name).write_text(GOOD)
    with pytest.raises(MemfsError, match=r"b\.yml: conversations\.our-rule: another one has this"):
        conversations.load(str(tmp_path))


def test_a_folder_without_conversations_is_an_error(memfs: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert memfs("eval", "--set", str(empty)).err == (
        f"error: there are no conversations (*.yaml) in {empty}\n"
    )
    gone = memfs("eval", "--set", str(empty / "gone"))
    assert gone.code == 2
    assert gone.err == f"error: cannot read {empty / 'gone'}: No such file or directory\n"


def test_conversations_of_the_user_are_played(evaluate: Evaluate, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "api.yaml").write_text(GOOD)
    call = append("services/api", "Port: 8080")
    shown = evaluate([Say("", (call,)), Say("ok")], "--set", str(folder), "-v")
    assert shown.code == 1
    assert 'expected no block to say "Port: 80" any more\n    there is Port: 80\n' in shown.out


def test_a_block_that_cannot_be_there_before_is_named(evaluate: Evaluate, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD.replace("Port: 80", "x" * 6000))
    shown = evaluate([Say("ok")], "--set", str(tmp_path))
    assert shown.code == 2
    assert shown.err.startswith("error: our-rule: cannot write 'services/api': 6,000 characters")
