"""Vectors of a few texts by the bundled model, which is loaded at the first call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def embed_texts(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return a unit vector for each text, (n, dimensions); zero for a text without words."""
    from memfs.search.encoder import load_bundled  # with numpy and the tokenizer: 100 ms

    return load_bundled().encode(list(texts)).vectors
