"""The vectors to learn from: teachers read, joined and reduced."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.bags import Floats
from training.corpus import TrainingError
from training.losses import normalise

ROWS_AND_COLUMNS = 2


def read_vectors(path: Path) -> NDArray[np.float32]:
    """Rows of a `.npy` file of floats, shape (rows, width), as float32.

    Raises TrainingError for another shape or type, or a value that is not finite.
    """
    try:
        vectors = np.load(path, allow_pickle=False)
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        # numpy's own message advises to allow pickles.
        raise TrainingError(f"{path}: not a .npy file of numbers") from error
    if not isinstance(vectors, np.ndarray) or vectors.ndim != ROWS_AND_COLUMNS:
        raise TrainingError(f"{path}: not a matrix with one row per text")
    if not np.issubdtype(vectors.dtype, np.floating):
        raise TrainingError(f"{path}: holds {vectors.dtype}, not floats")
    if not vectors.size:
        raise TrainingError(f"{path}: no vectors")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise TrainingError(f"{path}: row {bad[0]} has a NaN or infinite value")
    return vectors.astype(np.float32)


def read_targets(paths: Sequence[Path], weights: Sequence[float], texts: int, dims: int) -> Floats:
    """Make unit vectors to regress to, (texts, dims), from one file per teacher.

    `weights` gives each teacher's share of the joint cosine. Raises TrainingError if
    a file is unusable, has not `texts` rows, or all of them together have fewer than
    `dims` columns.
    """
    teachers = []
    for path in paths:
        vectors = read_vectors(path)
        if len(vectors) != texts:
            raise TrainingError(
                f"{path}: {len(vectors)} rows for {texts} texts; "
                "a teacher needs one row per text, in their order"
            )
        teachers.append(vectors)
    width = sum(vectors.shape[1] for vectors in teachers)
    if width < dims:
        raise TrainingError(f"the teachers have {width} dimensions, --dims is {dims}")
    return reduce(join(teachers, weights), dims)


def join(teachers: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Centre, normalise, weight and concatenate (texts, width) matrices.

    Centring first: raw sentence vectors share one large direction, and every cosine
    between them is high. Raises TrainingError for a teacher whose rows are all alike.
    """
    parts = []
    for number, (vectors, weight) in enumerate(zip(teachers, weights, strict=True), start=1):
        centred = vectors - vectors.mean(axis=0)
        largest = float(np.abs(vectors).max())
        # What is left after centring identical float32 rows is rounding error.
        if float(np.abs(centred).max()) <= 1e-5 * largest:
            raise TrainingError(f"teacher {number}: all its vectors are alike")
        # Cosines of a concatenation add up by squared length, hence the root.
        parts.append(normalise(centred)[0] * float(np.sqrt(weight)))
    return np.concatenate(parts, axis=1)


def reduce(vectors: Floats, dims: int) -> Floats:
    """Project (texts, width) `vectors` on their `dims` main axes, as unit rows."""
    spread = (vectors.T @ vectors / len(vectors)).astype(np.float64)
    axes = np.linalg.eigh(spread).eigenvectors[:, ::-1][:, :dims]
    # An axis has no sign of its own; without a rule it depends on the LAPACK build.
    peaks = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[peaks, np.arange(axes.shape[1])])
    return normalise(vectors @ axes.astype(vectors.dtype))[0]


def align(targets: Floats, student: Floats) -> Floats:
    """Rotate unit (texts, dims) `targets` onto `student`, the first texts' vectors.

    Principal axes differ from corpus to corpus. Without this, training that starts
    from a model would first have to unlearn the model's own axes. Cosines among the
    targets do not change.
    """
    cross = targets[: len(student)].T @ student
    left, _, right = np.linalg.svd(cross.astype(np.float64))
    turned: Floats = targets @ (left @ right).astype(targets.dtype)
    return turned
