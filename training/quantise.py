"""The file format: int8 rows and a float per token, as model2vec reads them."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save
from tokenizers import Tokenizer

from training.bags import Floats
from training.corpus import TrainingError, load_tokenizer

# The largest int8 whose negative is one too.
LARGEST = 127
# Tokens of a text that count; model2vec cuts there.
MAX_LENGTH = 512


class Model(NamedTuple):
    """A model read from its folder; `table` is float32, shape (tokens, dims)."""

    table: NDArray[np.float32]
    tokenizer: Tokenizer


def quantise(table: Floats) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Int8 rows (tokens, dims) and the `weights` (tokens,) that undo the scaling.

    Each row is stretched so that its largest entry is 127; `weights` times the row
    is the token's vector, to half a step of its own scale.
    """
    peaks = np.abs(table).max(axis=1)
    weights = (peaks / LARGEST).astype(np.float32)
    # A row of zeros stays one. So does a row below float32's reach.
    scale = np.where(weights > 0, weights, 1)[:, None]
    steps = np.rint(np.where(weights[:, None] > 0, table, 0) / scale)
    return np.clip(steps, -LARGEST, LARGEST).astype(np.int8), weights


def save_model(folder: Path, table: Floats, tokenizer: Tokenizer) -> None:
    """Write model.safetensors, tokenizer.json and config.json of a model2vec model.

    `table` is (tokens, dims), row k for token id k. Raises OSError.
    """
    rows, weights = quantise(table)
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, NDArray[Any]] = {"embeddings": rows, "weights": weights}
    # save_file would leave a file that only its owner can read.
    (folder / "model.safetensors").write_bytes(save(tensors))
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "tokenizer_name": type(tokenizer.model).__name__,
        "apply_pca": table.shape[1],
        "hidden_dim": table.shape[1],
        "seq_length": 1_000_000,
        "normalize": True,
        "embedding_dtype": "int8",
        "max_length": MAX_LENGTH,
    }
    text = json.dumps(config, indent=1)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")


def load_model(folder: Path) -> Model:
    """Read what `save_model` wrote, or any model2vec folder without clustered rows.

    Raises TrainingError if a file is missing or broken.
    """
    path = folder / "model.safetensors"
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path}: not a model: {error}") from error
    if "embeddings" not in tensors or "mapping" in tensors:
        raise TrainingError(f"{path}: not a table with one row per token")
    table = tensors["embeddings"].astype(np.float32)
    if "weights" in tensors:
        table *= tensors["weights"].astype(np.float32)[:, None]
    return Model(table, load_tokenizer(folder / "tokenizer.json"))
