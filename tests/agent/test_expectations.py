"""What stands in memory, and what is missed in it."""

from __future__ import annotations

import pytest

from memfs.agent.conversations import (
    Expectation,
    MemorySnapshot,
    SavedWords,
    contains_phrase,
    misses,
)


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
    assert missed(wanted, memory(human="Alice")) == ['human to say "Go" or "Golang"']
    assert missed(wanted, memory(persona="Alice: Go")) == [
        'human to say "Alice"',
        'human to say "Go" or "Golang"',
    ]


def test_places_count_together() -> None:
    wanted = Expectation((SavedWords(("human", "archive"), (("Alice",), ("Go",))),))
    assert missed(wanted, memory(("Go",), human="Alice")) == []


def test_a_new_block_is_one_that_was_not_there() -> None:
    wanted = Expectation((SavedWords(("new",), (("big aurora",),)),))
    assert missed(wanted, memory(big_aurora="")) == []
    assert missed(wanted, memory(human="big aurora")) == ['a new block to say "big aurora"']


def test_what_is_gone_may_stand_in_the_archive_but_in_no_block() -> None:
    wanted = Expectation(gone=("Vim",))
    assert missed(wanted, memory(("Was on Vim",), human="Helix")) == []
    assert missed(wanted, memory(team="Vim")) == ['no block to say "Vim" any more']


def test_what_must_never_be_written_is_in_no_version_either() -> None:
    wanted = Expectation(never=("Globex",))
    told = ['"Globex" not to be written at all']
    assert missed(wanted, memory()) == []
    assert missed(wanted, memory(scratch="Globex")) == told
    assert missed(wanted, memory(("Globex",))) == told
    assert missed(wanted, memory(edits=("human\nGlobex",))) == told


def test_scratch_is_no_saving() -> None:
    wanted = Expectation(untouched=True)
    assert missed(wanted, memory(scratch="note", edits=("working\nnote",))) == []
    assert missed(wanted, memory(lasting=1)) == ["nothing to be saved"]
