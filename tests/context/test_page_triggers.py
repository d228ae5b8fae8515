"""When paging is due."""

from __future__ import annotations

import pytest

from memfs.context import page_scores

BEFORE = (
    "Why does the retry test of the payment client fail?",
    "The payment client waits two seconds before it retries.",
    "Run the tests of the payment client again.",
)


@pytest.mark.parametrize(
    "prompt",
    [
        *("How long does the client wait between two retries of a payment?", "Thanks, that works."),
        *("Add a test for the third retry of the payment", "yes", "do not switch to Postgres yet"),
        "thanks, that looks right, go on",
        "\u7d9a\u3051\u3066\u304f\u3060\u3055\u3044 \u304a\u9858\u3044 \u3057\u307e\u3059 \u306d",
    ],
)
def test_going_on_is_no_trigger(prompt: str) -> None:
    assert page_scores.find_trigger(prompt, BEFORE) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "OK, new task: the invoices.",
        "Let's switch to the newsletter.",
        "Forget about that, look at the map instead.",
    ],
)
def test_people_say_that_they_go_on_to_something_else(prompt: str) -> None:
    assert page_scores.find_trigger(prompt, BEFORE) == "task"
    assert page_scores.find_trigger(prompt, ()) == ""


@pytest.mark.parametrize(
    "prompt", ["Add a switch to turn logging off", "Fix the unrelated import in this file"]
)
def test_words_alone_do_not_say_it(prompt: str) -> None:
    assert page_scores.find_trigger(prompt, BEFORE[:1]) == ""


def test_a_prompt_can_be_about_something_else() -> None:
    prompt = "Paint the banner with a picture of the harbour in summer"
    assert page_scores.find_trigger(prompt, BEFORE) == "topic"
    assert page_scores.find_trigger(prompt, BEFORE[:1]) == ""


def test_a_full_window_and_lost_relevance_are_triggers() -> None:
    assert page_scores.find_trigger("yes", (), used=0.9) == "window"
    assert page_scores.find_trigger("yes", (), relevances=(0.1, 0.2, 0.9)) == "relevance"
    assert page_scores.find_trigger("yes", (), relevances=(0.1, 0.8, 0.9)) == ""
