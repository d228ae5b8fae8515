"""Tool calls that a model writes into its text: lines of our own form, tags, JSON, Python."""

import ast
import json
import re
import warnings
from collections.abc import Collection, Iterator

from memfs.agent.model import Tell
from memfs.tools import provider_formats
from memfs.tools.calls import ToolCall

MARK = "TOOL_CALL"
_START = re.compile(rf"^[ \t]*{MARK}[ \t:]*(?=[\[{{])", re.MULTILINE)
_FENCED = re.compile(r"^```[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
# What models were trained on: JSON in a tag, in a fence, or alone; an element with the tool's name
# and its arguments, as JSON or one by one; Python. A line that is indented as code is none.
_TAG = (
    r"(?:</?\|?/?(?:tool_calls?|function_calls?|tool_use|python_tag)\|?>|\[TOOL_CALLS\]|functools)"
)
_FORM = re.compile(rf"^ {{0,3}}(?=<invoke|<function|{_TAG}|```|[\[{{])", re.MULTILINE)
_OPEN = re.compile(rf"\s*(```\w*[ \t]*\n)?\s*((?:{_TAG}\s*)*)(?=[\[{{<])")
_CLOSE = re.compile(rf"\s*(?:{_TAG}\s*)*(?:^```[ \t]*$)?\s*", re.MULTILINE)
_ELEMENT = re.compile(
    r"<(?:invoke|function)(?:=| +name=)\"?([\w.-]+)\"?>(.*?)</(?:invoke|function)>", re.DOTALL
)
_PARAMETER = re.compile(
    r"<parameter(?:=| +name=)\"?(\w+)\"?[^>]*>\n?((?:(?!<parameter).)*?)\n?</parameter>", re.DOTALL
)
_NAMES = ("name", "tool", "tool_name", "function")  # keys of a call
_GIVEN = ("arguments", "args", "parameters", "input")
_CUT = re.compile(rf'\{{\s*"(?:{"|".join(_NAMES)})"\s*:\s*"([\w.]+)"')
_MOST_FORMS = 64  # the last ones, with which the end of an answer may begin
# "<think> is a tag" speaks of one: what follows on its line is no thought unless it is closed by
# the end of a line.
_THOUGHTS = re.compile(
    r"\A\s*<think(?:ing)?>(?:(?![ \t]).*?(?:</think(?:ing)?>\s*|\Z)"
    r"|.*?</think(?:ing)?>[ \t]*(?:\n\s*|\Z))",
    re.DOTALL,
)
_HELD = (
    MARK,
    "<think",
    "<tool",
    "<function",
    "<invoke",
    "<|",
    "{",
    "[",
    "functools",
)  # begin a call
_HELD_FENCES = ("```json", "```tool", "```xml", "```python", "```\n")


def drop_thoughts(text: str) -> str:
    """Return an answer without the thoughts that it begins with, also those that were cut off."""
    return _THOUGHTS.sub("", text)


def extract_calls(text: str, names: Collection[str]) -> tuple[str, list[ToolCall]]:
    """Split an answer into its text and calls; a call that is no JSON keeps its raw text.

    Calls without a mark are those that the answer ends with, in tags, of tools in `names`, or
    elements alone. What stands before more text is quoted or explained, and so is a tag or an
    element in a fence behind text.
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
    calls = _parse_python(text, names)
    return ("", calls) if calls else _extract_marked(text)


def _parse_end(text: str, at: int, names: Collection[str]) -> list[ToolCall]:
    """Return the calls that an answer consists of from `at` on; none if it has anything else."""
    is_all = not text[:at].strip()
    found: list[ToolCall] = []
    while at < len(text):
        start = _OPEN.match(text, at)
        element = _ELEMENT.match(text, start.end()) if start else None
        if start is None or (start[1] and (start[2] or element) and not is_all):
            return []
        at = start.end()
        if element:
            calls, at = [_parse_element(element)], element.end()
        else:
            try:
                value, at = json.JSONDecoder().raw_decode(text, at)
                calls = list(_parse_calls(value))
            except (ValueError, RecursionError):
                cut = _CUT.match(text, at) if is_all else None  # at the limit of an answer
                calls, at = [ToolCall(cut[1], text[at:])] if cut else [], len(text)
        is_marked = bool(start[2]) or (bool(element) and is_all)
        if not calls or not (is_marked or all(call.name in names for call in calls)):
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
    for each in value if isinstance(value, list) else [value]:
        call = each
        if isinstance(each, dict):
            names = [each[key] for key in _NAMES if isinstance(each.get(key), str)]
            given = [each[key] for key in _GIVEN if key in each]
            call = {**each, "name": names[0], "arguments": given[0]} if names and given else each
        yield from (found.call for found in provider_formats.calls_in(call))


def _parse_element(found: re.Match[str]) -> ToolCall:
    given: object = dict(_PARAMETER.findall(found[2])) or found[2].strip()
    [call] = _parse_calls({"name": found[1], "arguments": given})
    return call


def _parse_python(text: str, names: Collection[str]) -> list[ToolCall]:
    """Return the calls of an answer that is Python alone: `name(key="…")`, or a list of them."""
    fence = _FENCED.fullmatch(text.strip())
    code = (fence[1] if fence else text).strip()
    if not code.lstrip("[").startswith(tuple(f"{name}(" for name in names)):
        return []
    found = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "C:\dir" is none of the user's code
            tree = ast.parse(code, mode="eval").body
        for each in tree.elts if isinstance(tree, ast.List) else [tree]:
            if not isinstance(each, ast.Call) or each.args or ast.unparse(each.func) not in names:
                return []
            given = {str(k.arg or ""): ast.literal_eval(k.value) for k in each.keywords}
            found.append(ToolCall(ast.unparse(each.func), given))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return []
    return found


def _salvage_call(text: str) -> ToolCall:
    """Return a call whose JSON is invalid: its name if one is found, and its raw text."""
    name = re.search(r'"name"\s*:\s*"(\w+)"', text)
    return ToolCall(name.group(1) if name else "", text)


class StreamedText:
    """Passes the text of an answer on as it comes, but from what may be a call on, at its end."""

    def __init__(self, tell: Tell, names: Collection[str] = ()) -> None:
        self._tell, self._held = tell, (*_HELD, *_HELD_FENCES, *(f"{name}(" for name in names))
        self._text = self._told = ""

    def add(self, piece: str) -> None:
        """Take the next piece of the answer."""
        self._text = (self._text + piece).lstrip()
        start = 0
        for line in self._text.splitlines(keepends=True):
            bare = line.lstrip()
            begins = any(mark.startswith(bare) for mark in self._held)
            if bare and (begins or bare.startswith(self._held)):
                break
            start += len(line)
        self._pass_on(self._text[:start])

    def finish(self, text: str) -> None:
        """Pass on what is left of the answer's text, which is without its calls."""
        self._pass_on(text.lstrip())

    def _pass_on(self, text: str) -> None:
        if more := text[len(self._told) :]:
            self._tell(more)
            self._told += more
