"""Vectors of a few texts, by the model that ships with memfs; it is loaded for the first ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


def embed_texts(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return a unit vector for each text, (n, dimensions); that of a text without words is zero."""
    from memfs.search.encoder import bundled  # with numpy and the tokenizer: 100 ms

    return bundled().encode(list(texts)).vectors
