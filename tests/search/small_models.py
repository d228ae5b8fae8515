"""Small model2vec models that tests make: of any shape and type, with tokenizers of each kind."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memfs.search import model_files

WORDS = ("bread", "bake", "oven", "loaf", "piano", "music", "server", "request", "red", "blue")
_NAMES = {"float32": "F32", "float16": "F16", "float64": "F64", "int8": "I8", "int64": "I64"}
_PLAIN: dict[str, object] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "post_processor": None,
    "decoder": None,
}
_BERT: dict[str, object] = {
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
}
Array = NDArray[Any]


def make(
    folder: Path,
    dims: int = 16,
    words: tuple[str, ...] = WORDS,
    *,
    seed: int = 1,
    dtype: str = "F32",
    kind: str = "WordLevel",
    weights: bool = False,
    mapped: bool = False,
    config: dict[str, object] | None = None,
) -> Path:
    """Make a model of `words` and one unknown token, with rows that are drawn by lot."""
    lots = np.random.default_rng(seed)
    size = len(words) + 1
    table: Array = lots.normal(size=(size, dims)).astype(np.float32)
    arrays: dict[str, Array] = {}
    if weights:
        arrays["weights"] = lots.uniform(0.1, 2, size).astype(np.float32)
    if mapped:
        arrays["mapping"] = lots.integers(0, size // 2, size).astype(np.int64)
        table = table[: size // 2]
    arrays["embeddings"] = typed(table, dtype)
    folder.mkdir(parents=True, exist_ok=True)
    save(folder, arrays, {"embeddings": "BF16"} if dtype == "BF16" else {})
    (folder / model_files.TOKENIZER).write_text(json.dumps(tokenizer(words, kind)))
    (folder / model_files.CONFIG).write_text(json.dumps(config or {"normalize": True}))
    return folder


def typed(table: Array, dtype: str) -> Array:
    if dtype == "I8":
        whole: Array = np.rint(np.clip(table * 40, -127, 127)).astype(np.int8)
        return whole
    if dtype == "BF16":
        bits: Array = (table.view(np.uint32) >> 16).astype(np.uint16)
        return bits
    kinds = {"F32": np.float32, "F16": np.float16, "F64": np.float64}
    found: Array = table.astype(kinds[dtype])
    return found


def save(folder: Path, arrays: dict[str, Array], types: dict[str, str] | None = None) -> None:
    """Write a safetensors file."""
    header: dict[str, object] = {"__metadata__": {"made": "by a test"}}
    data = b""
    for name, array in arrays.items():
        start, data = len(data), data + np.ascontiguousarray(array).tobytes()
        kind = (types or {}).get(name) or _NAMES[array.dtype.name]
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [start, len(data)],
        }
    text = json.dumps(header).encode()
    (folder / model_files.TABLE).write_bytes(len(text).to_bytes(8, "little") + text + data)


def tokenizer(words: tuple[str, ...], kind: str) -> dict[str, object]:
    listed = ["<unk>", *words]
    numbers = {word: number for number, word in enumerate(listed)}
    models: dict[str, dict[str, object]] = {
        "WordLevel": {"type": "WordLevel", "vocab": numbers, "unk_token": "<unk>"},
        "Unigram": {"type": "Unigram", "unk_id": 0, "vocab": [[word, -1.0] for word in listed]},
        "BPE": {"type": "BPE", "vocab": numbers, "merges": []},
        "WordPiece": {
            "type": "WordPiece",
            "vocab": numbers,
            "unk_token": "<unk>",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
    }
    if kind == "WordPiece":
        return {**_PLAIN, **_BERT, "model": models[kind]}
    return {
        **_PLAIN,
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": models[kind],
    }


def of_letters(count: int) -> tuple[str, ...]:
    """Return words that a tokenizer of letters knows: for BPE, whose words are its pieces."""
    return tuple(chr(ord("a") + number) for number in range(count))
