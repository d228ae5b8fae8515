"""The table that training starts from."""

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.bags import Bags, Floats, accumulate, chunks, mean
from training.corpus import TrainingError
from training.losses import normalise
from training.quantise import load_model

# Smooth inverse frequency (Arora et al. 2017): a token of this share of the corpus
# weighs half; "the" weighs next to nothing.
RARE = 1e-3
# A token's mean is pulled to zero as if it had been seen this often more.
PRIOR = 5.0
RIDGE = 10.0
RIDGE_TEXTS = 40_000


def from_model(folder: Path, tokenizer: Tokenizer, dims: int) -> Floats:
    """Table of the model in `folder`, shape (tokens, dims), float32.

    Raises TrainingError if it has another vocabulary or other dimensions.
    """
    model = load_model(folder)
    if model.tokenizer.get_vocab() != tokenizer.get_vocab():
        raise TrainingError(f"{folder}: its vocabulary is not that of --tokenizer")
    if model.table.shape != (tokenizer.get_vocab_size(), dims):
        raise TrainingError(
            f"{folder}: its table is {model.table.shape[0]} x {model.table.shape[1]}, "
            f"not {tokenizer.get_vocab_size()} x {dims}"
        )
    return model.table


def from_features(
    features: Floats, texts: Bags, targets: Floats, rng: np.random.Generator
) -> Floats:
    """Table (tokens, dims) from any vectors per token, by a ridge map.

    `features` is (tokens, width), say a transformer's output for each token alone;
    `targets` (texts, dims) of unit rows. Frequent tokens are weighted down, the
    features centred, and one linear map is fitted from the texts' means to the
    targets. Rows have a mean length of 1.
    """
    counts = np.bincount(texts.ids, minlength=len(features)).astype(features.dtype)
    share = counts / max(float(counts.sum()), 1.0)
    weight = (RARE / (RARE + share))[:, None].astype(features.dtype)
    mass = share[:, None] * weight
    centre = (features * mass).sum(axis=0) / max(float(mass.sum()), 1e-12)
    # A row of zeros says that nothing is known; centring would give it a meaning.
    known = features.any(axis=1, keepdims=True)
    centred = _mean_length_one(np.where(known, features - centre, 0))
    weighted = (centred * weight).astype(features.dtype)
    sample = rng.permutation(texts.size)[:RIDGE_TEXTS]
    square = np.zeros((features.shape[1], features.shape[1]))
    cross = np.zeros((features.shape[1], targets.shape[1]))
    for part in chunks(len(sample)):
        rows = sample[part]
        unit = normalise(mean(texts.take(rows), weighted))[0]
        square += unit.T @ unit
        cross += unit.T @ targets[rows]
    solved = np.linalg.solve(square + RIDGE * np.eye(len(square)), cross)
    return _mean_length_one(weighted @ solved.astype(features.dtype))


def from_statistics(texts: Bags, targets: Floats, tokens: int) -> Floats:
    """Features (tokens, dims): the mean target of the texts a token occurs in.

    Seldom seen tokens are pulled to zero; those never seen are zero.
    """
    sums = np.zeros((tokens, targets.shape[1]), dtype=targets.dtype)
    for rows in chunks(texts.size):
        part = texts.take(rows)
        accumulate(sums, part.ids, targets[rows], part.owners)
    counts = np.bincount(texts.ids, minlength=tokens).astype(targets.dtype)
    return sums / (counts[:, None] + PRIOR)


def at_random(tokens: int, dims: int, rng: np.random.Generator) -> Floats:
    """Table (tokens, dims) of random rows, length 1 on average, float32."""
    table = rng.standard_normal((tokens, dims), dtype=np.float32)
    return _mean_length_one(table)


def _mean_length_one(table: Floats) -> Floats:
    length = float(np.linalg.norm(table, axis=1).mean())
    return table / max(length, 1e-12)
