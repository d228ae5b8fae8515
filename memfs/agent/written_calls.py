"""Tool calls that a model writes into its text: lines of our own form, tags, and JSON alone."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from memfs.agent.model import Tell
from memfs.tools import provider_formats
from memfs.tools.calls import ToolCall

MARK = "TOOL_CALL"
_START = re.compile(rf"^[ \t]*{MARK}[ \t:]*(?=[\[{{])", re.MULTILINE)
_FENCED = re.compile(r"^```[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
# What models were trained on: <tool_call>{…}</tool_call>; an end may be missing.
_TAG = re.compile(r"^[ \t]*<\|?tool_call\|?>\s*(?=[\[{])", re.MULTILINE)
_TAG_END = re.compile(r"[ \t]*</?\|?/?tool_call\|?>[ \t]*$", re.MULTILINE)
# JSON that is the whole answer, or its end, with or without a fence.
_LAST = re.compile(r"(?ms)(?:\A|^```\w*\n|\n\n)\s*([\[{].*[\]}])\s*(?:^```\s*)?\Z")
_HELD = ("<tool_call", "<|tool_call", "{", "[", "```json", "```tool", "```\n")  # begin a call


def extract_calls(text: str, names: Collection[str]) -> tuple[str, list[ToolCall]]:
    """Split an answer into its text and calls; a call that is no JSON keeps its raw text.

    JSON without a mark is a call where the answer ends with it, and its name is one of `names`.
    """
    found = _LAST.search(text)
    if found and _is_call(found[1], names):
        text = f"{text[: found.start()]}\n{MARK} {found[1]}"
    elif _TAG.search(text):
        text = _TAG_END.sub("", _TAG.sub(f"{MARK} ", text))
    # A fence that begins with a call goes. Any other fenced text is an example and stays.
    text = _FENCED.sub(lambda fence: fence[1 if _START.match(fence[1]) else 0], text)
    fenced = [match.span() for match in _FENCED.finditer(text)]
    calls: list[ToolCall] = []
    rest: list[str] = []
    at = 0
    for match in _START.finditer(text):
        if match.start() < at or any(a < match.start() < b for a, b in fenced):
            continue
        rest.append(text[at : match.start()])
        try:
            value, at = json.JSONDecoder().raw_decode(text, match.end())
        except (ValueError, RecursionError):
            value = None
            end = text.find("\n", match.end())
            at = len(text) if end < 0 else end
        calls.extend(list(_parse_calls(value)) or [_salvage_call(text[match.end() : at])])
    rest.append(text[at:])
    return "".join(rest).strip(), calls


def _is_call(text: str, names: Collection[str]) -> bool:
    """Return whether a text is JSON that calls nothing but known tools."""
    try:
        calls = list(_parse_calls(json.loads(text)))
    except (ValueError, RecursionError):
        return False
    return bool(calls) and all(call.name in names for call in calls)


def _parse_calls(value: object) -> Iterator[ToolCall]:
    if isinstance(value, dict) and "parameters" in value:  # as Llama writes it
        value = {"arguments": value["parameters"], **value}
    yield from (found.call for found in provider_formats.calls_in(value))


def _salvage_call(text: str) -> ToolCall:
    """Return a call whose JSON is invalid: its name if one is found, and its raw text."""
    name = re.search(r'"name"\s*:\s*"(\w+)"', text)
    return ToolCall(name.group(1) if name else "", text)


class StreamedText:
    """Passes the text of an answer on as it comes, but from what may be a call on, at its end."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._text = self._told = ""

    def add(self, piece: str) -> None:
        """Take the next piece of the answer."""
        self._text += piece
        start = 0
        for line in self._text.splitlines(keepends=True):
            bare = line.lstrip()
            if bare.startswith(_HELD) or any(mark.startswith(bare) for mark in _HELD):
                break
            start += len(line)
        self._pass_on(self._text[:start])

    def finish(self, text: str) -> None:
        """Pass on what is left of the answer's text, which is without its calls."""
        self._pass_on(text)

    def _pass_on(self, text: str) -> None:
        if more := text[len(self._told) :]:
            self._tell(more)
            self._told += more
