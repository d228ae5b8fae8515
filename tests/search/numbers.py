"""Numbers that several tests of the trainer need."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from training import losses
from training.bags import Floats


def slope_of(loss: Callable[[], float], values: Floats) -> Floats:
    """Central differences of `loss` in every entry of `values`."""
    step, out = 1e-6, np.zeros_like(values)
    for index in np.ndindex(*values.shape):
        kept = values[index]
        values[index] = kept + step
        above = loss()
        values[index] = kept - step
        out[index] = (above - loss()) / (2 * step)
        values[index] = kept
    return out


def normal(rows: int, dims: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).standard_normal((rows, dims))


def unit(rows: int, dims: int, seed: int = 0) -> Floats:
    return losses.normalise(normal(rows, dims, seed))[0]
