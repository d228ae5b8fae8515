"""The budget of a context window: counters of tokens, reserves, shares (MemGPT's proportions)."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from memfs.core.errors import UsageError
from memfs.core.escaping import quote_turn
from memfs.core.records import Message
from memfs.core.settings import Settings
from memfs.core.tokens import estimate

_ENCODING = "o200k_base"

_TOOL_TOKENS = 200  # tokens of a tool's message
_MESSAGE_TOKENS = 1500  # tokens of any other message

SHARES = {"tools": 0.2, "blocks": 0.33, "summary": 0.1}
LEAST = 1024  # tokens of a window that can be used


class Budget(NamedTuple):
    """Tokens of a window. `response` and `tools` are kept free, for the answer and its calls."""

    window: int
    response: int
    tools: int

    @property
    def room(self) -> int:
        """The tokens of a prompt at most."""
        return self.window - self.response - self.tools

    def get_share(self, section: str) -> int:
        """Return the tokens of a section at most; `section` is a key of `SHARES`."""
        return int(SHARES[section] * self.room)


def load_budget(settings: Settings, window: int = 0) -> Budget:
    """Return the budget of `context` in the configuration, or of another window.

    At most a third of it is kept free for the answer, an eighth for calls. Raises `MemfsError` for
    a window too small for anything.
    """
    window = window or settings.number("context.max_tokens")
    if window < LEAST:
        raise UsageError(
            f"a window of {window:,} tokens is too small", f"use {LEAST:,} tokens or more"
        )
    response = min(settings.number("context.reserve_for_response"), window // 3)
    tools = min(settings.number("context.reserve_for_tools"), window // 8)
    return Budget(window, max(0, response), max(0, tools))


def cut_middle(text: str, room: int) -> str:
    """Cut a text to at most `room` tokens: its beginning, a note on the cut, and its end."""
    count = estimate(text)
    if count <= room:
        return text
    keep = len(text) * room // count
    while keep > 0:
        head, tail = keep * 2 // 3, keep - keep * 2 // 3
        left = estimate(text[head : len(text) - tail])
        found = f"{text[:head]}\n[… about {left:,} tokens left out …]\n{text[len(text) - tail :]}"
        if estimate(found) <= room:
            return found
        keep = keep * 9 // 10 - 1
    return ""


def format_transcript(messages: Sequence[Message], room: int) -> str:
    """Return a conversation, quoted, in at most `room` tokens: its end, if it is too long."""
    lines: list[str] = []
    left = room
    for count, message in enumerate(reversed(messages)):
        tool = message.role == "tool"
        most = _TOOL_TOKENS if tool else _MESSAGE_TOKENS
        who = f"TOOL {message.tool}" if tool else message.role.upper()
        text = cut_middle(message.text, most)
        line = quote_turn(f"[{who}]:", text)
        left -= estimate(line) + 2
        if left < 0:
            lines.append(f"[{len(messages) - count:,} earlier messages are left out]")
            break
        lines.append(line)
    return "\n\n".join(reversed(lines))


class TokenCounter(NamedTuple):
    """Counts the tokens of a text; `exact`: it is a tokenizer, and no estimate."""

    name: str
    measure: Callable[[str], int]
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
