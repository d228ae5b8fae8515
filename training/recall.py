"""The weights of sentences that answer a prompt (`memfs/recall/sentence_selection.py`), fitted.

    python -m training.recall training/projects/fitted/*.json

Each file is a scenario (see `benchmarks/scenarios.py`). Its sessions are ingested, its prompts are
looked up as the service does, and each sentence of the exchanges that were found is one example: it
is an answer if it has one of the strings that the prompt expects. Those in `held_out` are never
fitted to; `python -m benchmarks.recall training/projects/held_out/*.json` measures on them.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks import project, scenarios, scratch_store
from benchmarks.scenarios import Scenario
from memfs.core.snippet import split_words
from memfs.recall import answers, prompts
from memfs.recall.open_store import OpenStore
from memfs.recall.sentence_selection import WEIGHTS, count_names, describe_form, states_rule
from memfs.recall.sentences import split_sentences
from memfs.search import prompt_relevance
from memfs.search.engine import Engine

Floats = NDArray[np.float64]

RIDGE = 50.0  # of the standardised weights
_ROUNDS = 30


def list_examples(scenario: Scenario, engine: Engine) -> Iterator[tuple[dict[str, float], bool]]:
    """Yield what is weighed of each sentence, and whether it is an answer."""
    assert engine.vectors  # noqa: S101 - opened with them
    for prompt in scenario.prompts:
        lookup = prompt_relevance.look_up(engine, prompt.text, "")
        if lookup is None or prompt.kind == scenarios.UNRELATED:
            continue
        query, builder = lookup
        score = engine.vectors.build_scorer(builder.found.vector)
        turns = prompts.list_turns(builder)
        known = set(split_words(query.prompt))
        strings = [string.lower() for group in prompt.expect for string in group]
        for each in answers.find_candidates(engine.text, query, turns, score):
            for turn in each.exchange.turns:
                sentences = split_sentences(turn.text)
                for text in sentences:
                    is_answer = any(string in text.lower() for string in strings)
                    weighed = each.describe() | describe_form(text, turn, len(sentences))
                    weighed["specific"] = count_names(text, known)
                    weighed["rule"] = states_rule(text, turn)
                    yield weighed, is_answer


def play(scenario: Scenario, folder: str) -> list[tuple[dict[str, float], bool]]:
    """Ingest a scenario into a new project in a folder and return its examples."""
    path, env = scenarios.ingest(scenario, folder, "service:\n  mode: off")
    with scratch_store.home(env["MEMFS_HOME"]):
        opened = OpenStore(project.open_own(path))
        return list(list_examples(scenario, opened.update_engine("hybrid")))


def fit(rows: Floats, answers: Floats, ridge: float = RIDGE) -> tuple[Floats, float]:
    """Return the weights of the columns and the constant of a logistic regression (Newton).

    `rows` is n x k, `answers` n of 0 and 1. Columns are standardised for the ridge, which the
    constant has none of; the weights are those of the columns as they are.
    """
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    scaled = np.column_stack([(rows - mean) / spread, np.ones(len(rows))])
    pull = np.diag([*[ridge] * rows.shape[1], 0.0])
    weights = np.zeros(scaled.shape[1])
    for _ in range(_ROUNDS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (answers - likely) - pull @ weights
        curve = (scaled * (likely * (1 - likely))[:, None]).T @ scaled + pull
        weights += np.linalg.solve(curve, slope)
    found = weights[:-1] / spread
    return found, float(weights[-1] - found @ mean)


def main(paths: Sequence[str]) -> None:
    """Fit to scenario files and print the constant and the weights."""
    answers.SESSIONS = 2 * answers.SESSIONS  # what is not read at a prompt is an example, too
    examples = []
    for path in paths:
        with tempfile.TemporaryDirectory(prefix="memfs-fit-") as folder:
            examples += play(scenarios.read(path), folder)
    rows = np.array([[found.get(name, 0.0) for name in WEIGHTS] for found, _ in examples])
    weights, base = fit(rows, np.array([float(is_answer) for _, is_answer in examples]))
    print(f"{len(rows):,} sentences; base {base:.2f}")
    for name, weight in zip(WEIGHTS, weights, strict=True):
        print(f"{name:10} {weight:6.2f}   in use {WEIGHTS[name]:6.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
