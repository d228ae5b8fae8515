"""The files of a model2vec model, fetched and checked without numpy. Nothing in them is run."""

import json
import math
import os
import re
import zlib
from typing import NamedTuple

from memfs.core.errors import BUG, UNREADABLE, MemfsError, NotFoundError, StoreError
from memfs.files import account, outside

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_INSTALL = "run pip install huggingface_hub, or give a folder with the model's files"

BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model")
TABLE, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
FILES = (TABLE, TOKENIZER, CONFIG)
MAX_TOKENS = 512  # of a text, if the configuration sets none
SIZES = {"I8": 1, "F16": 2, "BF16": 2, "F32": 4, "F64": 8}  # of an entry, in bytes
_WHOLE = {"I32": 4, "I64": 8}  # of the mapping from tokens to rows
_LONGEST_HEADER = 1 << 20
_LONGEST_CONFIG = 1 << 20
_LONGEST_TOKENIZER = 256 << 20
_MOST_DIMS = 8192
_PROBES, _PROBE = 24, 2048  # samples of a file for its fingerprint, and bytes of each


class Tensor(NamedTuple):
    """An array in the file: its type as safetensors names it, its shape, its first byte."""

    dtype: str
    shape: tuple[int, ...]
    start: int


class ModelFiles(NamedTuple):
    """A model that can be opened. Models with different vectors have different names.

    `size` is the number of tokens with rows, `longest` the most tokens read of a text (0: all).
    """

    folder: str
    name: str
    tensors: dict[str, Tensor]
    size: int
    dims: int
    longest: int


def read(folder: str) -> ModelFiles:
    """Check the model in a folder; raises `StoreError` that says what is wrong with it."""
    path = f"{folder}/{TABLE}"
    for name, most in ((TABLE, 0), (TOKENIZER, _LONGEST_TOKENIZER)):
        found = outside.status(f"{folder}/{name}")
        if found is None:
            raise model_error(folder, f"the file {name} is missing")
        if most and found.st_size > most:
            raise model_error(folder, f"{name} is larger than {most >> 20} MB")
    try:
        header, tensors = _read_header(folder, path)
        longest = _read_max_length(folder)
        name = _compute_fingerprint(folder, header, longest)
    except OSError as error:
        raise model_error(folder, f"{error.filename} cannot be read ({error.strerror})") from error
    table = tensors["embeddings"]
    rows, dims = table.shape
    size = tensors["mapping"].shape[0] if "mapping" in tensors else rows
    return ModelFiles(folder, f"{rows}x{dims}-{name}", tensors, size, dims, longest)


def model_error(folder: str, what: str) -> StoreError:
    """Return the error for a model that cannot be used."""
    if folder == BUNDLED:
        return StoreError(f"the embedding model cannot be read: {what}", "install memfs again", BUG)
    return StoreError(
        f"the embedding model in {folder} cannot be used: {what}",
        "use a model2vec folder (model.safetensors, tokenizer.json, config.json), "
        "or the bundled model: memfs model use bundled",
    )


def _read_header(folder: str, path: str) -> tuple[bytes, dict[str, Tensor]]:
    with outside.open_stream(path) as handle:
        end = os.fstat(handle.fileno()).st_size
        length = int.from_bytes(handle.read(8), "little")
        if end < 8 or length > min(end - 8, _LONGEST_HEADER):
            raise model_error(folder, f"{TABLE} is not a complete safetensors file")
        header = handle.read(length)
    try:
        found = json.loads(header)
        listed = {
            name: Tensor(str(entry["dtype"]), tuple(entry["shape"]), 8 + length + _offset(entry))
            for name, entry in found.items()
            if name in ("embeddings", "weights", "mapping")
        }
    except UNREADABLE as error:
        raise model_error(folder, f"the header of {TABLE} cannot be read") from error
    _check_tensors(folder, listed, end)
    return header, listed


def _offset(entry: dict[str, list[object]]) -> int:
    start, _ = entry["data_offsets"]
    if type(start) is not int or start < 0:
        raise ValueError("no offset")
    return start


def _check_tensors(folder: str, tensors: dict[str, Tensor], end: int) -> None:
    if "embeddings" not in tensors:
        raise model_error(folder, f"{TABLE} has no 'embeddings'")
    for name, (dtype, shape, start) in tensors.items():
        rank = 2 if name == "embeddings" else 1
        kinds = _WHOLE if name == "mapping" else SIZES
        if dtype not in kinds:
            raise model_error(folder, f"'{name}' has the type {dtype}, which memfs cannot read")
        plain = all(type(each) is int and 0 < each < 1 << 31 for each in shape)
        if len(shape) != rank or not plain:
            raise model_error(folder, f"'{name}' has the wrong shape {list(shape)}")
        if rank == 2 and shape[1] > _MOST_DIMS:
            raise model_error(
                folder, f"the model has {shape[1]:,} dimensions; the limit is {_MOST_DIMS:,}"
            )
        if start + kinds[dtype] * math.prod(shape) > end:
            raise model_error(folder, f"{TABLE} ends before '{name}' does")
    size = tensors["mapping" if "mapping" in tensors else "embeddings"].shape[0]
    if "weights" in tensors and tensors["weights"].shape[0] != size:
        raise model_error(
            folder, f"the model has {tensors['weights'].shape[0]:,} weights, but {size:,} tokens"
        )


def _read_max_length(folder: str) -> int:
    """Return the number of tokens that the model reads of a text, 0: all."""
    try:
        with outside.open_stream(f"{folder}/{CONFIG}") as handle:
            found = json.loads(handle.read(_LONGEST_CONFIG))
        longest = found.get("max_length", MAX_TOKENS)
    except FileNotFoundError:
        return MAX_TOKENS
    except UNREADABLE as error:
        raise model_error(folder, f"{CONFIG} cannot be read as JSON") from error
    if longest is None:
        return 0
    if type(longest) is not int or not 0 < longest < 1 << 31:
        raise model_error(
            folder, f"max_length in {CONFIG} is {longest!r}, not a whole number above 0"
        )
    return longest


def _compute_fingerprint(folder: str, header: bytes, longest: int) -> str:
    table = zlib.crc32(header)
    words = longest
    with outside.open_stream(f"{folder}/{TABLE}") as handle:
        table = _hash_samples(handle.fileno(), table)
    with outside.open_stream(f"{folder}/{TOKENIZER}") as handle:
        words = _hash_samples(handle.fileno(), words)
    return f"{table:08x}{words:08x}"


def _hash_samples(handle: int, checksum: int) -> int:
    size = os.fstat(handle).st_size
    checksum = zlib.crc32(str(size).encode(), checksum)
    step = max(_PROBE, (size - _PROBE) // (_PROBES - 1))
    for at in [*range(0, size - _PROBE, step), max(0, size - _PROBE)]:
        os.lseek(handle, at, os.SEEK_SET)
        checksum = zlib.crc32(os.read(handle, _PROBE), checksum)
    return checksum


def find_model(name: str) -> str:
    """Return the folder of a model in the local cache; raises `NotFoundError` if it is missing."""
    top = f"{cache()}/models--{name.replace('/', '--')}"
    try:
        revision = (outside.read(f"{top}/refs/main", cap=200) or "").strip()
    except OSError:
        revision = ""
    folder = f"{top}/snapshots/{revision}"
    if not _REVISION.fullmatch(revision) or not os.path.isdir(folder):
        raise NotFoundError(
            f"the embedding model '{name}' is not on this machine",
            f"download it: memfs model fetch {name}",
        )
    return folder


def cache() -> str:
    """Return the folder of the hub's local cache."""
    for variable, below in (
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "/hub"),
        ("XDG_CACHE_HOME", "/huggingface/hub"),
    ):
        value = os.path.expandvars(os.path.expanduser(os.environ.get(variable) or ""))
        if value and not account.is_of_project(value, os.getcwd()):
            return value + below
    return os.path.expanduser("~/.cache/huggingface/hub")


def fetch(name: str) -> str:
    """Download a model into the hub's cache, and return its folder.

    Nothing else downloads anything. Raises `MemfsError` if the download fails.
    """
    try:
        import huggingface_hub  # an extra that may be missing
    except ImportError as error:
        raise MemfsError(
            "downloading a model needs the package huggingface_hub", _INSTALL
        ) from error
    try:
        folder = huggingface_hub.snapshot_download(name, allow_patterns=list(FILES))
    except Exception as error:
        reason = str(error).strip().split("\n")[0][:300] or type(error).__name__
        raise MemfsError(
            f"could not download '{name}': {reason}",
            "check the name of the model and the network connection",
        ) from error
    return str(folder)
