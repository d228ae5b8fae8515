"""Summaries without a model."""

from hypothesis import given
from hypothesis import strategies as st

from memfs.context import summary
from memfs.core.tokens import estimate

TEXT = """\
Good morning everybody, how are you all doing today?
We decided to deploy the shop to Frankfurt because of the latency to its customers.
The weather is quite nice outside.
Alice always wants the tests of the shop run before a deploy.
Haha, that was funny.
"""


def test_decisions_are_kept_and_small_talk_is_not() -> None:
    found = summary.extract(TEXT, 34)
    assert found == (
        "We decided to deploy the shop to Frankfurt because of the latency to its customers.\n"
        "Alice always wants the tests of the shop run before a deploy."
    )


def test_what_says_the_same_comes_once() -> None:
    text = "Use Postgres for the shop.\n" * 5 + "The queue is Redis.\nUse Postgres for the shop!"
    assert summary.extract(text, 14) == "Use Postgres for the shop.\nThe queue is Redis."


def test_every_language_has_sentences() -> None:
    assert summary.sentences("最初の文。次の文。") == ["最初の文。", "次の文。"]


@given(st.text(max_size=500), st.integers(-5, 50))
def test_a_summary_fits_its_room(text: str, room: int) -> None:
    assert estimate(summary.extract(text, room)) <= max(0, room)
