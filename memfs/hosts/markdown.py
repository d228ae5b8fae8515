"""Sessions written as Markdown, whose turns begin at lines of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from memfs.core.records import Identity, Transcript
from memfs.hosts.jsonl import replace_surrogates


class MarkdownTurn(NamedTuple):
    """One turn: who spoke (role, "" for nobody), when, what, and with which tool."""

    role: str
    at: str = ""
    text: str = ""
    tool: str = ""
    side: bool = False


def lines_of(path: str) -> list[str]:
    """Return the lines of a file, with line ends of one kind."""
    with open(path, "rb") as handle:
        data = handle.read().decode("utf-8", "replace")
    return data.removeprefix("\ufeff").replace("\0", "").replace("\r\n", "\n").split("\n")


def compile_marks(lines: Iterable[str]) -> str:
    """Return the hash of lines, as the mark of a session or chat."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:32]


def turns(lines: Iterable[str], begins: Callable[[str], MarkdownTurn | None]) -> list[MarkdownTurn]:
    """Cut lines into turns, which `begins` detects; lines before the first are left out."""
    found: list[tuple[MarkdownTurn, list[str]]] = []
    for line in lines:
        if (turn := begins(line)) is not None:
            found.append((turn, []))
        elif found:
            found[-1][1].append(line)
    return [turn._replace(text=_trim_turn(text)) for turn, text in found]


def _trim_turn(lines: list[str]) -> str:
    """Return the text of a turn without the rule at its end."""
    while lines and lines[-1].strip() in ("", "---"):
        lines = lines[:-1]
    return "\n".join(lines).strip()


def build_transcript(found: Iterable[MarkdownTurn], host: str, identity: Identity) -> Transcript:
    """Return turns as messages, with their numbers as ids."""
    messages, left_out = [], 0
    for number, turn in enumerate(found):
        if not turn.role or not turn.text:
            left_out += 1
            continue
        text = replace_surrogates(turn.text)
        messages.append(
            identity.make_message(host, str(number), turn.at, turn.role, text, turn.tool, turn.side)
        )
    return Transcript(messages, 0, 0, left_out)
