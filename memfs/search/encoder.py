"""Static embeddings: a text's vector is the mean of its tokens' vectors. No network, ever.

The model is read from its two files directly: `model2vec` itself costs 110 ms to import, and its
loader asks a hub when a path is wrong.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from memfs.core.errors import BUG, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_EVERY_CORE = "TOKENIZERS_PARALLELISM"
BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model")
MAX_TOKENS = 512
_DTYPES = {"I8": np.int8, "F16": np.float16, "F32": np.float32, "F64": np.float64}


@dataclass(frozen=True)
class Encoded:
    """Vectors (n x dims, float32, unit length or zero) and the token ids of n texts."""

    vectors: NDArray[np.float32]
    tokens: list[NDArray[np.uint16]]


@cache
def bundled() -> Encoder:
    """Return the model that ships with memfs."""
    return Encoder(BUNDLED)


@contextmanager
def every_core() -> Iterator[None]:
    """Let the tokenizer use every core meanwhile: for many texts, since its threads stay."""
    before = os.environ[_EVERY_CORE]
    os.environ[_EVERY_CORE] = "true"
    try:
        yield
    finally:
        os.environ[_EVERY_CORE] = before


class Encoder:
    """A model2vec model folder: `model.safetensors`, `tokenizer.json`, `config.json`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        tensors = _tensors(f"{folder}/model.safetensors")
        self.table = np.asarray(tensors["embeddings"])  # vocabulary x dims
        rows = len(self.table)
        self.weights = np.asarray(tensors.get("weights", np.ones(rows)), np.float32)
        self.dims = int(self.table.shape[1])

    @cached_property
    def name(self) -> str:
        """Identify the model: another name means other vectors."""
        status = os.stat(f"{self._folder}/model.safetensors")
        return f"{os.path.basename(self._folder)}-{self.table.shape}-{status.st_size}"

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        made = Tokenizer.from_file(f"{self._folder}/tokenizer.json")
        made.no_padding()
        made.enable_truncation(MAX_TOKENS)
        return made

    @cached_property
    def _unknown(self) -> int:
        name = getattr(self._tokenizer.model, "unk_token", None)
        unknown = self._tokenizer.token_to_id(name or "[UNK]")
        return -1 if unknown is None else int(unknown)

    def tokens(self, texts: list[str]) -> list[NDArray[np.uint16]]:
        """Return the token ids of each text, without unknown ones."""
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        unknown = self._unknown
        ids = [np.array(encoding.ids, np.uint16) for encoding in encodings]
        return [row[row != unknown] for row in ids] if unknown >= 0 else ids

    def encode(self, texts: list[str]) -> Encoded:
        """Return vectors and token ids; a text without known words has a zero vector."""
        tokens = self.tokens(texts)
        vectors = np.zeros((len(texts), self.dims), np.float32)
        for index, row in enumerate(tokens):
            if len(row):
                vectors[index] = self.weights[row] @ self.table[row].astype(np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return Encoded(vectors / np.maximum(norms, 1e-9), tokens)

    def norms(self, tokens: NDArray[np.uint16]) -> NDArray[np.float32]:
        """Return the lengths that the tokens' vectors have in the model: how much they say."""
        lengths = np.linalg.norm(self.table[tokens].astype(np.float32), axis=1)
        return np.asarray(lengths * self.weights[tokens], np.float32)

    def cosines(
        self, tokens: NDArray[np.integer], others: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the cosine of each token to each of others (n x m), without a thread of BLAS."""
        import numkong

        if not len(tokens) or not len(others):
            return np.zeros((len(tokens), len(others)), np.float32)
        packed = numkong.dots_pack(
            np.ascontiguousarray(self.table[others])
        )  # 5 times cdist's speed
        rows = np.ascontiguousarray(self.table[tokens])
        return np.float32(1.0) - np.asarray(numkong.angulars_packed(rows, packed))


def _tensors(path: str) -> dict[str, NDArray[np.generic]]:
    """Map a safetensors file: 8 bytes of header length, a JSON header, raw arrays."""
    try:
        with open(path, "rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            header = json.loads(handle.read(length))
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the embedding model cannot be read: {path}", "install memfs again", BUG
        ) from error
    found: dict[str, NDArray[np.generic]] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, _ = entry["data_offsets"]
        shape = tuple(entry["shape"])
        kind = _DTYPES[entry["dtype"]]
        found[name] = np.memmap(path, kind, "r", 8 + length + start, shape)
    return found
