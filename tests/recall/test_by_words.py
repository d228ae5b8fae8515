"""What a prompt brings to mind: little, and only what clears the floor."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.recall import prompts
from memfs.search import prompt_relevance
from memfs.search.lexical import TextIndex
from tests.examples import examples
from tests.search.stores import document

SAID = "the flaky login test fails because the clock is not frozen"
DOCUMENTS = [
    document("said", SAID, role="user", host="claude", session="old", time="2026-05-03T10:00:00Z"),
    document("again", SAID, role="assistant", session="old2"),
    document("mine", "frozen clock login flaky: freezegun", role="user", session="now"),
    document("tool", "clock frozen login flaky flaky", role="tool", session="old"),
    document("block", "flaky login test frozen clock", kind="block", label="notes"),
    document("kept", "Freeze the clock in login tests: they are flaky else.", kind="passage"),
    document("peas", "peas", kind="passage"),
]
OTHERS = [document(f"o{n}", f"something else {n} entirely login", role="user") for n in range(30)]
PROMPT = "why is the login test flaky? is the clock frozen?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("index"))
    index = TextIndex.create(folder)
    index.add({**document, "num": number} for number, document in enumerate(DOCUMENTS + OTHERS))
    index.commit()
    return folder


def ids(
    folder: str, prompt: str, session: str = "now", shown: list[str] | None = None, limit: int = 10
) -> list[str]:
    return [
        hit.id for hit in prompts.recall_by_words(folder, prompt, session, shown or [], limit).found
    ]


def test_it_recalls_what_was_said_and_what_was_kept(folder: str) -> None:
    found = prompts.recall_by_words(folder, PROMPT, "now", [], 10).found
    assert {hit.id for hit in found} in ({"said", "kept"}, {"again", "kept"})
    hit = next(hit for hit in found if hit.id != "kept")
    assert hit.kind == "message"
    assert hit.snippet in (f"user: {SAID}", f"assistant: {SAID}")
    assert set(hit.reason.removeprefix("words: ").split(", ")) == {
        "login",
        "flaky",
        "clock",
        "frozen",
    }


@pytest.mark.parametrize(
    "prompt",
    [
        "login",
        "frozen",
        "login peas",
        "the",
        "",
        "  ",
        "???",
        "thanks, that is it",
        "login page of the customer portal should use a darker blue",
        "frozen yoghurt recipe with mango coconut and lime for the party on sunday",
        "clock clock clock clock",
    ],
)
def test_one_word_in_common_is_not_enough(folder: str, prompt: str) -> None:
    assert ids(folder, prompt) == []


def test_two_words_among_many_others_are_not_enough(folder: str) -> None:
    assert ids(folder, "frozen clock, flaky") != []
    assert ids(folder, "frozen clock radio shipment customs paperwork invoice harbour crane") == []


def test_words_that_come_up_all_the_time_recall_nothing(tmp_path: Path) -> None:
    index = TextIndex.create(str(tmp_path))
    texts = [f"fix tests, run lint: module{n % 60} team{n % 60}" for n in range(300)]
    texts += [f"something else {n}" for n in range(300)]
    index.add(
        document(f"m{n}", text, num=n, session=f"s{n}", host="claude")
        for n, text in enumerate(texts)
    )
    index.commit()
    assert ids(str(tmp_path), "fix tests") == []
    assert ids(str(tmp_path), "fix the tests, run lint") == []
    found = ids(str(tmp_path), "did lint run for module17 and team17?")
    assert found
    assert set(found) <= {f"m{n}" for n in range(17, 300, 60)}


def test_without_an_index_there_is_nothing(tmp_path: Path) -> None:
    assert ids(str(tmp_path / "none"), PROMPT) == []
    TextIndex.create(str(tmp_path))
    assert ids(str(tmp_path), PROMPT) == []


@given(
    st.text(st.characters(exclude_categories=[]), max_size=60)
    | st.lists(st.sampled_from(PROMPT.split())).map(" ".join)
)
@examples(80)
def test_no_prompt_raises(folder: str, prompt: str) -> None:
    index = TextIndex.open(folder)
    assert index
    stems = index.stems(prompt)
    for hit in prompts.recall_by_words(folder, prompt, "now", [], 3).found:
        assert len(stems & index.stems(hit.snippet)) >= prompt_relevance.FEWEST_WORDS
