"""When paging is due."""

import pytest

from memfs.context import page_scores

BEFORE = (
    "Why does the retry test of the payment client fail?",
    "The payment client waits two seconds before it retries.",
    "Run the tests of the payment client again.",
)


@pytest.mark.parametrize(
    ("trigger", "prompt"),
    [
        ("", "How long does the client wait between two retries of a payment?"),
        ("", "Add a test for the third retry of the payment"),
        ("", "do not switch to Postgres yet"),
        (
            "",
            "\u7d9a\u3051\u3066\u304f\u3060\u3055\u3044 \u304a\u9858\u3044 \u3057\u307e\u3059 \u306d",
        ),
        *(
            ("", going_on)
            for going_on in ("yes", "Thanks, that works.", "thanks, that looks right, go on")
        ),
        ("task", "OK, new task: the invoices."),
        ("task", "Let's switch to the newsletter."),
        ("task", "Forget about that, look at the map instead."),
        ("topic", "Paint the banner with a picture of the harbour in summer"),
    ],
)
def test_a_prompt_may_be_about_another_task_or_topic(trigger: str, prompt: str) -> None:
    assert page_scores.find_trigger(prompt, BEFORE) == trigger
    few = trigger if trigger == "task" else ""
    assert page_scores.find_trigger(prompt, BEFORE[:1]) == few
    assert page_scores.find_trigger(prompt, ()) == ""


@pytest.mark.parametrize(
    "prompt", ["Add a switch to turn logging off", "Fix the unrelated import in this file"]
)
def test_words_alone_do_not_say_it(prompt: str) -> None:
    assert page_scores.find_trigger(prompt, BEFORE[:1]) == ""


def test_a_full_window_and_lost_relevance_are_triggers() -> None:
    assert page_scores.find_trigger("yes", (), used=0.9) == "window"
    assert page_scores.find_trigger("yes", (), relevances=(0.1, 0.2, 0.9)) == "relevance"
    assert page_scores.find_trigger("yes", (), relevances=(0.1, 0.8, 0.9)) == ""
