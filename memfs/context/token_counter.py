"""The token counter: tiktoken if it is installed with its vocabulary, else an estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from memfs.core.tokens import estimate

_ENCODING = "o200k_base"


@dataclass(frozen=True)
class TokenCounter:
    """Counts the tokens of a text; `exact`: it is a tokenizer, and no estimate."""

    name: str
    count: Callable[[str], int]
    exact: bool = False


@cache
def load_counter() -> TokenCounter:
    """Return the best counter on this machine; nothing is downloaded for it."""
    try:
        import tiktoken.load  # an extra that may be missing
    except ImportError:
        return TokenCounter("an estimate", estimate)
    tiktoken.load.read_file = _refuse_download  # it would fetch what its cache does not have
    try:
        encoding = tiktoken.get_encoding(_ENCODING)
    except Exception:  # noqa: BLE001 - no vocabulary in its cache, or a damaged one
        return TokenCounter("an estimate", estimate)
    return TokenCounter(
        f"tiktoken ({_ENCODING})",
        lambda text: len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode())),
        exact=True,
    )


def _refuse_download(path: str) -> bytes:
    raise OSError(f"{path} is not in the cache")
