"""The fit of the weights of sentences."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from benchmarks import scenarios
from memfs.recall.sentence_selection import WEIGHTS
from tests.search.numbers import normal
from training import recall

PROJECTS = sorted((Path(recall.__file__).parent / "projects").glob("*/*.json"))


def test_a_fit_finds_the_weights_that_made_its_answers() -> None:
    rows = normal(20_000, 3) * [1, 5, 0.2] + [0, 3, -1]
    likely = 1 / (1 + np.exp(-(rows @ [2.0, -0.5, 3.0] - 1.0)))
    answers = (np.random.default_rng(1).random(len(rows)) < likely).astype(float)
    weights, base = recall.fit(rows, answers, ridge=1e-3)
    assert_allclose([*weights, base], [2.0, -0.5, 3.0, -1.0], atol=0.3)


def test_each_expected_string_was_said_in_its_project() -> None:
    assert len(PROJECTS) == 12
    for path in PROJECTS:
        played = scenarios.read(str(path))
        said = "\n".join(turn.text + turn.input for s in played.sessions for turn in s.turns)
        for prompt in played.prompts:
            assert bool(prompt.expect) == (prompt.kind != scenarios.UNRELATED), (path, prompt.id)
            assert not prompt.expect or prompt.is_answered(said), (path, prompt.id)


def test_what_is_weighed_of_a_sentence_is_what_has_a_weight(tmp_path: Path) -> None:
    turns = (
        scenarios.ScenarioTurn("user", "which port has the billing stub?"),
        scenarios.ScenarioTurn(
            "assistant",
            "The billing stub listens on `8123` in development.\n" + "It is a stub.\n" * 20,
        ),
    )
    session = scenarios.ScenarioSession("s1", "2026-05-01T10:00:00Z", turns)
    prompt = scenarios.ScenarioPrompt("p1", "port of the billing stub", "where", (("8123",),))
    examples = recall.play(scenarios.Scenario("stub", (session,), (prompt,)), str(tmp_path))
    assert {is_answer for _, is_answer in examples} == {True, False}
    assert {name for found, _ in examples for name in found} == set(WEIGHTS)
