"""The optimiser and its learning rate."""

import math

import numpy as np

from training.bags import Floats

# Rows updated at once: what a block needs stays in the processor's cache.
BLOCK = 1024
WARM_UP = 50
# The cosine's tail: below this share of the peak a step changes nothing any more.
FLOOR = 0.02


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Learning rate of `step` (from 0) out of `steps`: warm-up, then a cosine.

    The warm-up takes 50 steps, or a tenth of a short run; the cosine falls from
    `peak` to a fiftieth of it.
    """
    warm_up = min(WARM_UP, math.ceil(steps / 10))
    cosine = 0.5 * (1 + math.cos(math.pi * step / steps))
    return peak * min(1.0, (step + 1) / warm_up) * max(FLOOR, cosine)


class Adam:
    """Adam over every row of a table, in place.

    Rows without a gradient move too, carried by their momentum. That is what lets a
    word seen once in a corpus travel as far as it needs to.
    """

    def __init__(self, table: Floats, betas: tuple[float, float] = (0.9, 0.99)) -> None:
        """Optimise (tokens, dims) `table`, which `step` changes."""
        self._table = table
        self._betas = betas
        self._first = np.zeros_like(table)
        self._second = np.zeros_like(table)
        self._steps = 0

    def step(self, gradient: Floats, rate: float) -> None:
        """Move the table against `gradient`, of its shape, at learning rate `rate`."""
        self._steps += 1
        one, two = self._betas
        scale = math.sqrt(1 - two**self._steps)
        pace = rate * scale / (1 - one**self._steps)
        for start in range(0, len(self._table), BLOCK):
            block = slice(start, start + BLOCK)
            slope, first, second = (gradient[block], self._first[block], self._second[block])
            first *= one
            first += (1 - one) * slope
            second *= two
            second += (1 - two) * slope * slope
            self._table[block] -= pace * first / (np.sqrt(second) + 1e-8 * scale)
