"""Who counts tokens: tiktoken, where it is installed and has its vocabulary here, else we do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from memfs.core.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable

_ENCODING = "o200k_base"


@dataclass(frozen=True)
class TokenCounter:
    """Counts the tokens of a text; `name` says who it is, `exact` whether it is a tokenizer."""

    name: str
    count: Callable[[str], int]
    exact: bool = False


@cache
def load_counter() -> TokenCounter:
    """Return the best counter there is on this machine; nothing is downloaded for it."""
    try:
        import tiktoken.load  # an extra that may be missing
    except ImportError:
        return TokenCounter("an estimate", estimate)
    tiktoken.load.read_file = _not_here  # it would fetch what its cache does not have
    try:
        encoding = tiktoken.get_encoding(_ENCODING)
    except Exception:  # noqa: BLE001 - no vocabulary in its cache, or a damaged one
        return TokenCounter("an estimate", estimate)
    return TokenCounter(
        f"tiktoken ({_ENCODING})",
        lambda text: len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode())),
        exact=True,
    )


def _not_here(path: str) -> bytes:
    raise OSError(f"{path} is not in the cache")
