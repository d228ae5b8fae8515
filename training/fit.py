"""The training loop: batches in, a better table out."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from training import losses
from training.adam import Adam, learning_rate
from training.bags import Bags, Floats, Ints, accumulate, chunks, mean, spread
from training.corpus import Pairs, TrainingError

# Texts kept out of training to measure it: one in fifty, at most this many.
HELD_OUT = 3000
# Late interaction compares all tokens with all: only the heads of long texts.
MAXSIM_QUERY = 24
MAXSIM_PASSAGE = 64


@dataclass(frozen=True)
class Settings:
    """How to train; a loss weight of 0 switches that loss off.

    `batch`, `pair_batch` and `maxsim_batch` count texts or pairs, `max_tokens` tokens
    per text; `lr` is Adam's peak rate; the temperatures divide cosines.
    """

    epochs: int = 3
    batch: int = 1024
    lr: float = 3e-3
    regression: float = 1.0
    # Cosines among the texts do not say which way the space is turned: at 1 and more
    # this loss can hold a table in a turn that regression then cannot undo.
    similarity: float = 0.3
    contrast: float = 0.0
    maxsim: float = 0.0
    temperature: float = 0.05
    similarity_temperature: float = 0.1
    max_tokens: int = 128
    pair_batch: int = 512
    maxsim_batch: int = 96
    seed: int = 0


class Material(NamedTuple):
    """What is learnt: texts, their unit targets (texts, dims), and pairs if any."""

    texts: Bags
    targets: Floats
    pairs: Pairs | None


class Outcome(NamedTuple):
    """Mean cosine of held-out texts with their targets, before and after."""

    before: float
    after: float


def fit(
    table: Floats, material: Material, settings: Settings, report: Callable[[str], None]
) -> Outcome:
    """Train (tokens, dims) `table` in place on two texts or more.

    Calls `report` with a line before the start and after each epoch. Raises
    TrainingError if a loss stops being finite.
    """
    rng = np.random.default_rng(settings.seed)
    order = rng.permutation(material.texts.size)
    held = min(HELD_OUT, max(1, len(order) // 50))
    test, rest = order[:held], order[held:]
    batch = min(settings.batch, len(rest))
    steps = settings.epochs * (len(rest) // batch)
    before = after = _held_out(table, material, test)
    report(f"start: held-out cosine {before:.4f}")
    began, step = time.monotonic(), 0
    state, optimiser = _State(table, material, settings, rng), Adam(table)
    for epoch in range(1, settings.epochs + 1):
        order = rng.permutation(rest)
        for first in range(0, len(order) - batch + 1, batch):
            state.learn(order[first : first + batch])
            rate = learning_rate(step, steps, settings.lr)
            optimiser.step(state.gradient, rate)
            step += 1
        means = state.means()
        if not all(math.isfinite(loss) for loss in means.values()):
            raise TrainingError("the loss is no longer finite; try a lower --lr")
        after = _held_out(table, material, test)
        line = " ".join(f"{name} {loss:.4f}" for name, loss in means.items())
        spent = f"{time.monotonic() - began:.0f} s"
        report(f"epoch {epoch}/{settings.epochs}: {line} held-out cosine {after:.4f} ({spent})")
    return Outcome(before, after)


@dataclass
class _State:
    """A run between two steps: the table and what one batch adds to its gradient."""

    table: Floats
    material: Material
    settings: Settings
    rng: np.random.Generator
    gradient: Floats = field(init=False)
    seen: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gradient = np.zeros_like(self.table)

    def learn(self, rows: Ints) -> None:
        """Set `gradient` to that of the texts `rows` and of freshly drawn pairs."""
        self.gradient[:] = 0
        self._teacher(rows)
        pairs, settings = self.material.pairs, self.settings
        if pairs and settings.contrast:
            self._contrast(pairs, pairs.draw(self.rng, settings.pair_batch))
        if pairs and settings.maxsim:
            self._maxsim(pairs, pairs.draw(self.rng, settings.maxsim_batch))

    def means(self) -> dict[str, float]:
        """Mean of each loss since the last call, unweighted."""
        seen, self.seen = self.seen, {}
        return {name: sum(values) / len(values) for name, values in seen.items()}

    def _note(self, name: str, loss: float) -> None:
        self.seen.setdefault(name, []).append(loss)

    def _teacher(self, rows: Ints) -> None:
        settings, teacher = self.settings, self.material.targets[rows]
        bags = self.material.texts.take(rows)
        student = mean(bags, self.table)
        slope = np.zeros_like(student)
        if settings.regression:
            loss, part = losses.regression(student, teacher)
            slope += settings.regression * part
            self._note("regression", loss)
        if settings.similarity:
            heat = settings.similarity_temperature
            loss, part = losses.similarity(student, teacher, heat)
            slope += settings.similarity * part
            self._note("similarity", loss)
        spread(self.gradient, bags, slope)

    def _contrast(self, pairs: Pairs, rows: Ints) -> None:
        queries, passages = pairs.queries.take(rows), pairs.passages.take(rows)
        means = mean(queries, self.table), mean(passages, self.table)
        loss, *slopes = losses.contrast(*means, self.settings.temperature)
        for bags, slope in zip((queries, passages), slopes, strict=True):
            spread(self.gradient, bags, self.settings.contrast * slope)
        self._note("contrast", loss)

    def _maxsim(self, pairs: Pairs, rows: Ints) -> None:
        queries = pairs.queries.take(rows, MAXSIM_QUERY)
        passages = pairs.passages.take(rows, MAXSIM_PASSAGE)
        tokens = self.table[queries.ids], self.table[passages.ids]
        heat = self.settings.temperature
        loss, *slopes = losses.maxsim(queries, passages, tokens, heat)
        for bags, slope in zip((queries, passages), slopes, strict=True):
            each = np.arange(len(bags.ids))
            accumulate(self.gradient, bags.ids, self.settings.maxsim * slope, each)
        self._note("maxsim", loss)


def _held_out(table: Floats, material: Material, rows: Ints) -> float:
    total = 0.0
    for part in chunks(len(rows)):
        vectors = losses.normalise(mean(material.texts.take(rows[part]), table))[0]
        total += float((vectors * material.targets[rows[part]]).sum())
    return total / len(rows)
