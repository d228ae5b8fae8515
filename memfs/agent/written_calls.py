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
# What models were trained on: <tool_call>{…}</tool_call>, JSON in a fence, or JSON alone. A line
# that is indented as code is none.
_FORM = re.compile(r"^ {0,3}(?=<\|?tool_call|```|[\[{])", re.MULTILINE)
_OPEN = re.compile(r"\s*(```\w*[ \t]*\n)?\s*(<\|?tool_call\|?>)?\s*(?=[\[{])")
_CLOSE = re.compile(r"\s*(?:</?\|?/?tool_call\|?>)?\s*(?:^```[ \t]*$)?\s*", re.MULTILINE)
_MOST_FORMS = 64  # the last ones, with which the end of an answer may begin
_HELD = (MARK, "<tool_call", "<|tool_call", "{", "[", "```json", "```tool", "```\n")  # begin a call


def extract_calls(text: str, names: Collection[str]) -> tuple[str, list[ToolCall]]:
    """Split an answer into its text and calls; a call that is no JSON keeps its raw text.

    Calls without a mark are those that the answer ends with, of tools in `names`. What stands
    before more text is quoted or explained, and so is a tag in a fence behind text.
    """
    if not names:
        return text.strip(), []
    for form in list(_FORM.finditer(text))[-_MOST_FORMS:]:
        before = text[: form.start()]
        is_inside = before.count("```") % 2 == 1
        calls = [] if is_inside else _parse_end(text, form.start(), names)
        if calls:
            said, marked = _extract_marked(before)
            return said, marked + calls
    return _extract_marked(text)


def _parse_end(text: str, at: int, names: Collection[str]) -> list[ToolCall]:
    """Return the calls that an answer consists of from `at` on; none if it has anything else."""
    is_all = not text[:at].strip()
    found: list[ToolCall] = []
    while at < len(text):
        start = _OPEN.match(text, at)
        if start is None or (start[1] and start[2] and not is_all):
            return []
        try:
            value, at = json.JSONDecoder().raw_decode(text, start.end())
        except (ValueError, RecursionError):
            return []
        calls = list(_parse_calls(value))
        if not calls or not all(call.name in names for call in calls):
            return []
        found += calls
        end = _CLOSE.match(text, at)
        at = end.end() if end else at
    return found


def _extract_marked(text: str) -> tuple[str, list[ToolCall]]:
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
            if bare.startswith(_HELD) or (bare and any(mark.startswith(bare) for mark in _HELD)):
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
