"""The losses of the trainer, their gradients, and what moves the table along them."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.search.numbers import normal, slope_of, unit
from training import losses
from training.adam import Adam, learning_rate
from training.bags import Bags, Floats, accumulate, mean, spread

ASKED = Bags.pack([[0], [1, 2, 3], [4, 5]])
ANSWERED = Bags.pack([[0, 1, 2], [3], [4, 5]])
# Each loss as a function of two inputs; it has a gradient in one of them or in both.
LOSSES: dict[str, Callable[[Floats, Floats], tuple[float | Floats, ...]]] = {
    "regression": lambda a, b: losses.regression(a, losses.normalise(b)[0]),
    "similarity": lambda a, b: losses.similarity(a, losses.normalise(b)[0], 0.1),
    "contrast": lambda a, b: losses.contrast(a, b, 0.5),
    "maxsim": lambda a, b: losses.maxsim(ASKED, ANSWERED, (a, b), 0.3),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_central_differences(name: str) -> None:
    loss, inputs = LOSSES[name], (normal(6, 4), normal(6, 4, 1))
    value, *gradients = loss(*inputs)
    assert float(value) > 0
    assert len(gradients) == (2 if name in {"contrast", "maxsim"} else 1)
    for gradient, values in zip(gradients, inputs, strict=False):
        found = slope_of(lambda: float(loss(*inputs)[0]), values)
        assert_allclose(gradient, found, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_vectors_of_length_zero_have_no_gradient(name: str) -> None:
    value, gradient, *_ = LOSSES[name](np.zeros((6, 4)), normal(6, 4))
    assert math.isfinite(float(value))
    assert not np.any(gradient)


def test_gradient_reaches_the_table_through_the_mean() -> None:
    bags = Bags.pack([[0, 1, 1], [], [2], [1, 3, 0, 2]])
    table, teacher, gradient = normal(5, 3), unit(4, 3, 1), np.zeros((5, 3))
    spread(gradient, bags, losses.regression(mean(bags, table), teacher)[1])
    found = slope_of(lambda: losses.regression(mean(bags, table), teacher)[0], table)
    assert_allclose(gradient, found, atol=1e-8)


def test_regression_is_one_less_the_cosine() -> None:
    turned = np.array([[0.0, 2], [3, 0]]), np.eye(2)
    assert losses.regression(*turned)[0] == pytest.approx(1)
    assert losses.regression(2 * np.eye(2), np.eye(2))[0] == pytest.approx(0)


def test_similarity_is_zero_for_the_teacher_itself_and_for_a_lone_text() -> None:
    teacher = unit(6, 4)
    loss, gradient = losses.similarity(3 * teacher, teacher, 0.1)
    assert loss == pytest.approx(0, abs=1e-12)
    assert_allclose(gradient, 0, atol=1e-12)
    assert losses.similarity(teacher[:1], teacher[:1], 0.1)[0] == 0


def test_similarity_leaves_out_a_texts_likeness_to_itself() -> None:
    rows, total = (unit(3, 4), unit(3, 4, 1)), 0.0
    for k, others in enumerate(([1, 2], [0, 2], [0, 1])):
        found, wanted = (np.exp(r[others] @ r[k] / 0.1) for r in rows)
        found, wanted = found / found.sum(), wanted / wanted.sum()
        total += (wanted * np.log(wanted / found)).sum()
    assert losses.similarity(*rows, 0.1)[0] == pytest.approx(total / 3)


def test_contrast_of_equals_is_the_logarithm_of_the_batch() -> None:
    same = np.ones((7, 3))
    assert losses.contrast(same, same, 0.05)[0] == pytest.approx(math.log(7))


def test_maxsim_is_the_weighted_mean_of_each_query_tokens_best_cosine() -> None:
    queries, passages = Bags.pack([[0, 1], [2]]), Bags.pack([[0, 1, 2], [3, 4]])
    rows = normal(3, 4), normal(5, 4, 1)
    scores = np.zeros((2, 2))
    for i, mine in enumerate(([0, 1], [2])):
        for j, theirs in enumerate(([0, 1, 2], [3, 4])):
            near = losses.normalise(rows[1][theirs])[0] @ rows[0][mine].T
            best = near.max(axis=0)
            scores[i, j] = best.sum() / np.linalg.norm(rows[0][mine], axis=1).sum()
    forward = [-math.log(row[k] / row.sum()) for k, row in enumerate(np.exp(scores))]
    back = [-math.log(row[k] / row.sum()) for k, row in enumerate(np.exp(scores.T))]
    wanted = (np.mean(forward) + 0.5 * np.mean(back)) / 1.5
    assert losses.maxsim(queries, passages, rows, 1.0)[0] == pytest.approx(wanted)


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=8))
def test_bags_agree_with_loops(texts: list[list[int]]) -> None:
    bags, table = Bags.pack(texts), normal(10, 3)
    means = [table[t].mean(axis=0) if t else np.zeros(3) for t in texts]
    assert_allclose(mean(bags, table), means, atol=1e-12)
    backward = np.arange(len(texts))[::-1]
    taken = bags.take(backward, 4)
    lists = np.split(taken.ids, taken.starts[1:-1])
    assert [ids.tolist() for ids in lists] == [t[:4] for t in texts[::-1]]
    wanted, found = np.ones((10, 3)), np.ones((10, 3))
    rows = normal(len(texts), 3, 1)
    np.add.at(wanted, bags.ids, rows[bags.owners])
    accumulate(found, bags.ids, rows, bags.owners)
    assert_allclose(found, wanted, atol=1e-12)


def test_learning_rate_warms_up_and_falls_to_a_fiftieth() -> None:
    rates = [learning_rate(step, 1000, 0.5) for step in range(1000)]
    assert rates[0] == pytest.approx(0.01)
    assert max(rates) == pytest.approx(0.5, rel=0.01)
    assert rates.index(max(rates)) == 49
    assert rates[49:] == sorted(rates[49:], reverse=True)
    assert rates[-1] == pytest.approx(0.01)


@given(st.integers(1, 300), st.floats(1e-6, 1))
def test_learning_rate_stays_between_zero_and_its_peak(steps: int, peak: float) -> None:
    assert all(0 < learning_rate(k, steps, peak) <= peak for k in range(steps))


def test_adam_follows_the_paper_in_every_block() -> None:
    rows, rng = 2500, np.random.default_rng(0)
    table = np.zeros((rows, 2))
    wanted, first, second = np.zeros((3, rows, 2))
    adam = Adam(table)
    for step in range(1, 5):
        slope = rng.standard_normal((rows, 2))
        adam.step(slope, 0.1)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        root = np.sqrt(second / (1 - 0.99**step)) + 1e-8
        wanted -= 0.1 * first / (1 - 0.9**step) / root
    assert_allclose(table, wanted, atol=1e-12)
