"""Static embeddings: a text's vector is the mean of its tokens' vectors. No network, ever.

The package `model2vec` gives the same vectors, but takes half a second to load, and no token ids.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from memfs.core.errors import StoreError, is_panic
from memfs.files import outside
from memfs.search import model_files, stopwords
from memfs.search.model_files import BUNDLED, ModelFiles

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    TokenIds: TypeAlias = NDArray[np.unsignedinteger[Any]]


_MOST_STEPS = 100
_MOST_GROWTH = 1000  # the most characters that all steps may make of one
_LARGEST = 256 << 20
_WORD = 4  # bytes

_EVERY_CORE = "TOKENIZERS_PARALLELISM"
_DTYPES: dict[str, type[np.generic]] = {
    "I8": np.int8,
    "F16": np.float16,
    "BF16": np.uint16,
    "F32": np.float32,
    "F64": np.float64,
    "I32": np.int32,
    "I64": np.int64,
}
_SHORT_IDS = 1 << 16  # up to so many tokens, ids take two bytes
_UNIGRAM_UNKNOWN = re.compile(rb'"unk_id"\s*:\s*(\d+)')  # before the vocabulary
_MOST_OPEN = 2  # the active model, and its successor
_TRIAL = "a trial: \u2603 \u65e5\u672c"


@dataclass(frozen=True)
class EncodedTexts:
    """Vectors (n x dims, float32, unit length or zero) and the token ids of n texts."""

    vectors: NDArray[np.float32]
    tokens: list[TokenIds]


_open: dict[str, Encoder] = {}


@cache
def load_bundled() -> Encoder:
    """Return the encoder of the bundled model."""
    return open_model(model_files.read(BUNDLED))


def open_model(model: ModelFiles) -> Encoder:
    """Return the encoder of a model, which stays open: loading its tokenizer outlasts a search."""
    found = _open.get(model.name)
    if found is None or found.folder != model.folder:
        while len(_open) >= _MOST_OPEN:
            del _open[next(iter(_open))]
        found = _open[model.name] = Encoder(model)
    return found


@contextmanager
def every_core() -> Iterator[None]:
    """Let the tokenizer use every core in the context: for many texts, since its threads stay."""
    before = os.environ.get(_EVERY_CORE, "false")
    os.environ[_EVERY_CORE] = "true"
    try:
        yield
    finally:
        os.environ[_EVERY_CORE] = before


class Encoder:
    """A model2vec model, opened from its folder or its `ModelFiles`.

    Raises `StoreError` for a model that cannot be used.
    """

    def __init__(self, model: str | ModelFiles) -> None:
        files = model_files.read(model) if isinstance(model, str) else model
        self.folder = files.folder
        self.name = files.name  # another name for other vectors
        self.size = files.size  # of the vocabulary
        self.dims = files.dims
        self.ids = np.uint16 if files.size <= _SHORT_IDS else np.uint32
        self._files = files
        self.path = f"{self.folder}/{model_files.TABLE}"
        self.table = self._map_tensor("embeddings")  # rows x dims
        self._kind = files.tensors["embeddings"].dtype
        self._mapping = self._load_mapping()
        self.weights = np.ones(self.size, np.float32)
        if "weights" in files.tensors:
            self.weights = _to_floats(self._map_tensor("weights"), files.tensors["weights"].dtype)

    def check(self) -> Encoder:
        """Open the tokenizer and encode a trial text; raises `StoreError` if that fails."""
        self.encode([_TRIAL])
        return self

    def tokenize(self, texts: list[str]) -> list[TokenIds]:
        """Return the token ids of each text, without unknown ones."""
        clean = [str(stopwords.replace_surrogates(text)) for text in texts]
        tokenizer, unknown, size = self._tokenizer, self._unknown, self.size
        try:
            encodings = tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        except BaseException as error:
            raise self._convert_error(error, f"the tokenizer failed ({error})") from error
        return [
            np.array([each for each in encoding.ids if each != unknown and each < size], self.ids)
            for encoding in encodings
        ]

    def encode(self, texts: list[str]) -> EncodedTexts:
        """Return vectors and token ids; a text without known words has a zero vector."""
        tokens = self.tokenize(texts)
        vectors = np.zeros((len(texts), self.dims), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for index, row in enumerate(tokens):
                if len(row):
                    vectors[index] = self.weights[row] @ self._read_rows(row).astype(np.float32)
            norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
            vectors /= np.maximum(norms, 1e-9)[:, None]
        if not np.isfinite(norms).all():
            vectors[~np.isfinite(norms)] = 0  # an overflow means nothing
        return EncodedTexts(vectors, tokens)

    def compute_norms(self, tokens: TokenIds) -> NDArray[np.float32]:
        rows = self._read_rows(tokens).astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return np.asarray(lengths * np.abs(self.weights[tokens]), np.float32)

    def compute_cosines(
        self, tokens: NDArray[np.integer], others: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the cosine of each token to each of others (n x m); starts no BLAS thread."""
        import numkong  # late interaction alone needs it

        if not len(tokens) or not len(others):
            return np.zeros((len(tokens), len(others)), np.float32)
        packed = numkong.dots_pack(self._read_rows(others))  # cdist takes 5 times as long
        found = np.asarray(numkong.angulars_packed(self._read_rows(tokens), packed), np.float32)
        found = 1.0 - found
        return found if self._kind == "I8" else np.nan_to_num(found)  # a row of zeros: 0

    def _read_rows(self, tokens: NDArray[np.integer[Any]]) -> NDArray[np.generic]:
        numbers = tokens if self._mapping is None else self._mapping[tokens]
        rows = self.table.take(numbers, 0, mode="clip")  # a third of the time of [numbers]
        return rows if self._kind == "I8" else _to_floats(rows, self._kind)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer  # 20 ms: for the first text

        path = f"{self.folder}/{model_files.TOKENIZER}"
        wrong = "" if self.folder == BUNDLED else problem(path)
        if wrong:
            raise self._build_error(f"{wrong} ({model_files.TOKENIZER})")
        try:
            made = Tokenizer.from_file(path)
        except BaseException as error:
            what = f"{model_files.TOKENIZER} cannot be read ({error})"
            raise self._convert_error(error, what) from error
        known = made.get_vocab_size()
        if known > self.size or (known < self.size and self._mapping is None):
            raise self._build_error(
                f"the tokenizer has {known:,} tokens, but the embedding table has {self.size:,}; "
                "the files belong to different models"
            )
        made.no_padding()
        made.no_truncation()
        if self._files.longest:
            made.enable_truncation(self._files.longest)
        return made

    @cached_property
    def _unknown(self) -> int:
        model = self._tokenizer.model
        if hasattr(model, "unk_token"):
            found = self._tokenizer.token_to_id(model.unk_token) if model.unk_token else None
            return self.size if found is None else int(found)
        with outside.open_stream(f"{self.folder}/{model_files.TOKENIZER}") as handle:
            named = _UNIGRAM_UNKNOWN.search(handle.read())
        return min(int(named[1]), self.size) if named else self.size

    def _map_tensor(self, name: str) -> NDArray[np.generic]:
        dtype, shape, start = self._files.tensors[name]
        try:
            return np.asarray(np.memmap(self.path, _DTYPES[dtype], "r", start, shape))
        except (OSError, ValueError) as error:  # the file has changed since it was checked
            raise self._build_error(f"{model_files.TABLE} cannot be read") from error

    def _load_mapping(self) -> NDArray[np.int64] | None:
        if "mapping" not in self._files.tensors:
            return None
        found = self._map_tensor("mapping").astype(np.int64)
        if found.min() < 0 or found.max() >= len(self.table):
            raise self._build_error("'mapping' refers to missing rows of the embedding table")
        return found

    def _convert_error(self, error: BaseException, what: str) -> BaseException:
        """Return the `StoreError` for a library's error; interrupts and exits are unchanged."""
        mine = isinstance(error, Exception) or is_panic(error)
        return self._build_error(what) if mine else error

    def _build_error(self, what: str) -> StoreError:
        return model_files.model_error(self.folder, what)


def _to_floats(values: NDArray[Any], dtype: str) -> NDArray[Any]:
    if dtype == "BF16":  # the upper half of a float32
        values = (values.astype(np.uint32) << 16).view(np.float32)
    elif dtype != "F16" or values.ndim == 1:
        values = values.astype(np.float32)
    found: NDArray[Any] = np.nan_to_num(values, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    return found


class _Told(msgspec.Struct):
    normalizer: object = None
    pre_tokenizer: object = None


def problem(path: str) -> str:
    """Return the problem with a tokenizer's steps, "" for none. Raises `OSError`."""
    with outside.open_stream(path) as handle:
        data = handle.read(_LARGEST)
    try:
        pipeline = msgspec.json.decode(data, type=_Told)
        steps = [*_iterate_steps(pipeline.normalizer), *_iterate_steps(pipeline.pre_tokenizer)]
    except (ValueError, RecursionError):
        return ""  # the library reports what is wrong, and where
    if len(steps) > _MOST_STEPS:
        return f"the tokenizer has {len(steps):,} steps; the limit is {_MOST_STEPS}"
    growth = 1
    for step in steps:
        content = step.get("content")
        if isinstance(content, str):
            growth *= max(1, len(content))
        charsmap = step.get("precompiled_charsmap")
        if isinstance(charsmap, str) and not _is_whole(charsmap):
            return "the tokenizer's character table is incomplete"
    return "the tokenizer would lengthen texts beyond the limit" if growth > _MOST_GROWTH else ""


def _iterate_steps(value: object) -> Iterator[dict[str, object]]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _is_whole(charsmap: str) -> bool:
    """Tell whether a table of characters has the size that its first bytes declare."""
    try:
        data = base64.b64decode(charsmap, validate=True)
    except ValueError:
        return False
    size = int.from_bytes(data[:_WORD], "little")
    return len(data) > _WORD and size <= len(data) - _WORD and size % _WORD == 0
