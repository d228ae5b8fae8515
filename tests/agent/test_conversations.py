"""Conversations as files, with what is wrong in one; what is missed in the memory after one."""

import re
from pathlib import Path

import pytest

from memfs.agent import conversations
from memfs.agent.conversations import (
    Expectation,
    MemorySnapshot,
    SavedWords,
    contains_phrase,
    misses,
)
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
            f"{OURS}.blocks.Services API: the label is not valid, ",
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
    with pytest.raises(
        MemfsError, match=r"b\.yml: conversations\.our-rule: another conversation has this"
    ):
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
    assert 'expected: "Port: 80" in no block\n    found: Port: 80\n' in shown.out


def test_a_block_that_cannot_be_there_before_is_named(evaluate: Evaluate, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD.replace("Port: 80", "x" * 6000))
    shown = evaluate([Say("ok")], "--set", str(tmp_path))
    assert shown.code == 2
    assert shown.err.startswith("error: our-rule: cannot write 'services/api': 6,000 characters")


@pytest.mark.parametrize(
    ("word", "text", "found"),
    [
        ("npm", "Uses NPM.", True),
        ("npm", "Uses pnpm", False),
        ("npm", "npm-check", True),
        ("deploy*", "No deployments on Friday", True),
        ("deploy*", "redeployed", False),
        ("two  sentences", "at most two\nsentences", True),
        ("3.9", "Python 3.9", True),
        ("3.9", "Python 3x9", False),
        ("Lucía", "Nombre: Luci\u0301a", True),
        ("上海", "他住在上海的北边", True),
        ("C++", "writes C++20", True),
        ("C++", "writes C, C++", True),
    ],
)
def test_words_stand_for_themselves(word: str, text: str, found: bool) -> None:
    assert contains_phrase(word, text) is found


def memory(
    passages: tuple[str, ...] = (),
    scratch: str = "",
    edits: tuple[str, ...] = (),
    lasting: int = 0,
    **values: str,
) -> MemorySnapshot:
    return MemorySnapshot(
        values, dict.fromkeys(values, "about it"), passages, scratch, edits, lasting
    )


EMPTY = memory(human="")


def missed(wanted: Expectation, after: MemorySnapshot) -> list[str]:
    return [miss.expected for miss in misses(wanted, EMPTY, after)]


def test_one_word_of_each_group_is_needed() -> None:
    wanted = Expectation((SavedWords(("human",), (("Alice",), ("Go", "Golang"))),))
    assert missed(wanted, memory(human="Alice writes Golang")) == []
    assert missed(wanted, memory(human="Alice")) == ['"Go" or "Golang" in human']
    assert missed(wanted, memory(persona="Alice: Go")) == [
        '"Alice" in human',
        '"Go" or "Golang" in human',
    ]


def test_places_count_together() -> None:
    wanted = Expectation((SavedWords(("human", "archive"), (("Alice",), ("Go",))),))
    assert missed(wanted, memory(("Go",), human="Alice")) == []


def test_a_new_block_is_one_that_was_not_there() -> None:
    wanted = Expectation((SavedWords(("new",), (("big aurora",),)),))
    assert missed(wanted, memory(big_aurora="")) == []
    assert missed(wanted, memory(human="big aurora")) == ['"big aurora" in a new block']


def test_what_is_gone_may_stand_in_the_archive_but_in_no_block() -> None:
    wanted = Expectation(gone=("Vim",))
    assert missed(wanted, memory(("Was on Vim",), human="Helix")) == []
    assert missed(wanted, memory(team="Vim")) == ['"Vim" in no block']


def test_what_must_never_be_written_is_in_no_version_either() -> None:
    wanted = Expectation(never=("Globex",))
    told = ['"Globex" saved nowhere']
    assert missed(wanted, memory()) == []
    assert missed(wanted, memory(scratch="Globex")) == told
    assert missed(wanted, memory(("Globex",))) == told
    assert missed(wanted, memory(edits=("human\nGlobex",))) == told


def test_scratch_is_no_saving() -> None:
    wanted = Expectation(untouched=True)
    assert missed(wanted, memory(scratch="note", edits=("working\nnote",))) == []
    assert missed(wanted, memory(lasting=1)) == ["nothing saved"]
