"""Parsing of tool calls, and matching of results to calls.

Messages have no call id. A result belongs to a call if no other could have given it, or if the
host writes results in the order of the calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memfs.core.records import Message

_IN_ORDER = ("codex",)
_MOST = 2000  # characters of a text that are searched for a command
_COMMAND = re.compile(r"^(?:command|cmd): (.+?)(?=\n[a-z_]{2,20}: |\Z)", re.MULTILINE | re.DOTALL)
_PATH = re.compile(
    r"^(?:file_?path|filePath|absolute_path|path|filename): ([^\n]{1,300})$", re.MULTILINE
)
_NO_READ = re.compile(r"^(?:old_string|new_string|content|pattern|query|edits?): ", re.MULTILINE)
_EDIT = re.compile(r"^(?:old_string|new_string|edits?): ", re.MULTILINE)
_SEARCH = re.compile(r"^pattern: ", re.MULTILINE)
_PRINTS = re.compile(  # commands that print one file and nothing else
    r"(?:cat|head|tail|nl|bat|less|more|sed -n '[\d,$]+p')(?: -[\w ]*\d*)? ([\w./~@:\\+-]+)"
)
_OFFSET = re.compile(r"^offset: (\d{1,7})$", re.MULTILINE)
_NUMBERED = re.compile(r" *(\d{1,7})(?:→|\t)")
_UPDATED = re.compile(r"The file ([^\n]{1,300}?) has been updated")
_FORMS = (  # output that only certain commands print, with these commands
    (re.compile(r"[0-9a-f]{7,12} \S"), re.compile(r"git log\b.* --oneline")),
    (re.compile(r"On branch \S"), re.compile(r"git status\b")),
    (re.compile(r"diff --git \S"), re.compile(r"git (?:diff|show)\b")),
    (re.compile(r"\S+ \S+@v\d"), re.compile(r"go mod graph\b")),
)
_ENVELOPE = re.compile(r"(?:Command: [^\n]*\n)?Chunk ID: [^\n]*\n(?:[^\n]{1,80}\n){1,4}?Output:\n")
_FAILED = re.compile(
    r"^(?:Exit code [1-9]|Process exited with code [1-9]|fatal: |error: |FAILED: |"
    r"nothing (?:added )?to commit|no changes added|.{0,40}The user doesn't want to proceed)",
    re.MULTILINE,
)
_ANSI = re.compile(r"\x1b?\[[\d;]{1,12}m")
_BACKWARDS = re.compile(r"\\+")


@dataclass(frozen=True)
class ToolUse:
    """The arguments of a tool call: a command, or a file that is read, changed or searched."""

    command: str = ""
    path: str = ""
    kind: str = ""  # read, edit, search, run, or "" for another tool
    start: int = 1  # the first line of a file that is read
    message: Message | None = None


def call(message: Message) -> ToolUse:
    """Parse the tool call of a message; the kind is "" if it is unknown."""
    text = message.text
    command = _COMMAND.search(text[:_MOST])
    path = _PATH.search(text)
    if command:
        line = command[1].strip()
        printed = _PRINTS.fullmatch(line)
        if printed:
            return ToolUse(line, relative(printed[1], message.project), "read")
        return ToolUse(line, "", "run")
    name = relative(path[1], message.project) if path else ""
    if path and _EDIT.search(text):
        return ToolUse("", name, "edit")
    if _SEARCH.search(text):
        return ToolUse("", name if "." in name.rpartition("/")[2] else "", "search")
    if path and not _NO_READ.search(text):
        offset = _OFFSET.search(text)
        return ToolUse("", name, "read", int(offset[1]) if offset else 1)
    return ToolUse()


def relative(path: str, project: str) -> str:
    """Return a path relative to the project; of a path outside of it, its last two parts."""
    path, top = _BACKWARDS.sub("/", path.strip()), _BACKWARDS.sub("/", project).rstrip("/")
    if top and path.startswith(f"{top}/"):
        return path[len(top) + 1 :]
    if path.startswith(("/", "~")) or path[1:3] == ":/":
        return "/".join(path.split("/")[-2:])
    return path.removeprefix("./")


def is_failure(text: str) -> bool:
    """Return whether the output of a command reports a failure."""
    return bool(_FAILED.search(text))


def strip_wrapping(text: str) -> str:
    """Return the output of a command without the wrapper of the host and without colours."""
    if text.startswith(("Chunk ID:", "Command:")):
        text = _ENVELOPE.sub("", text, count=1)
    return _ANSI.sub("", text) if "[" in text else text


class PendingCalls:
    """Calls of one session that wait for their results."""

    def __init__(self) -> None:
        self._session = ("", "")
        self._calls: list[ToolUse] = []
        self._results = 0  # results that could not be matched to one of the calls

    def match_result(self, message: Message) -> ToolUse | None:
        """Add a message; return the call it is the result of, None if there is no single one."""
        if self._session != (message.host, message.session) or message.role != "tool":
            self._session = message.host, message.session
            self._reset()
        if message.role != "tool":
            return None
        if message.tool != "result":
            self._calls.append(replace(call(message), message=message))
            return None
        found = self._find_call(message)
        if found:
            self._calls.remove(found)
        else:
            self._results += 1
        if self._results >= len(self._calls):
            self._reset()
        return found

    def _find_call(self, message: Message) -> ToolUse | None:
        calls = self._calls
        named = [
            each for each in calls if each.message and message.id == f"{each.message.id}.result"
        ]
        if named:
            return named[0]
        if calls and not self._results and (len(calls) == 1 or message.host in _IN_ORDER):
            return calls[0]
        some: list[ToolUse] = []
        if match := _NUMBERED.match(message.text):
            start = int(match[1])
            some = [each for each in calls if each.kind == "read" and each.start == start]
        elif match := _UPDATED.match(message.text):
            path = relative(match[1], message.project)
            some = [each for each in calls if each.kind == "edit" and each.path == path]
        else:
            forms = [command for output, command in _FORMS if output.match(message.text)]
            some = [each for each in calls if any(form.search(each.command) for form in forms)]
        return some[0] if len({(each.path, each.command) for each in some}) == 1 else None

    def _reset(self) -> None:
        self._calls.clear()
        self._results = 0
