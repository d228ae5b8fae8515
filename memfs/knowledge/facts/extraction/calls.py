"""Which call of a tool a result answers, and what a call says it does.

Messages name no call. A result is taken for a call's where only that one could have given it, or
where a host writes results down in the order of the calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfs.core.records import Message

_IN_ORDER = ("codex",)
_MOST = 2000  # characters of a command that are looked at
_COMMAND = re.compile(r"^(?:command|cmd): (.+?)(?=\n[a-z_]{2,20}: |\Z)", re.MULTILINE | re.DOTALL)
_PATH = re.compile(
    r"^(?:file_?path|filePath|absolute_path|path|filename): ([^\n]{1,300})$", re.MULTILINE
)
_NO_READ = re.compile(r"^(?:old_string|new_string|content|pattern|query|edits?): ", re.MULTILINE)
_EDIT = re.compile(r"^(?:old_string|new_string|edits?): ", re.MULTILINE)
_SEARCH = re.compile(r"^pattern: ", re.MULTILINE)
_PRINTS = re.compile(  # a file, and nothing else
    r"(?:cat|head|tail|nl|bat|less|more|sed -n '[\d,$]+p')(?: -[\w ]*\d*)? ([\w./~@:\\+-]+)"
)
_OFFSET = re.compile(r"^offset: (\d{1,7})$", re.MULTILINE)
_NUMBERED = re.compile(r" *(\d{1,7})(?:→|\t)")
_UPDATED = re.compile(r"The file ([^\n]{1,300}?) has been updated")
_FORMS = (  # what only some commands print, and these
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
    """What a tool was called with: a command, or a file that is read, changed or searched."""

    command: str = ""
    path: str = ""
    kind: str = ""  # read, edit, search, run, or "" for another tool
    start: int = 1  # the line from which on a file is read
    message: Message | None = None


def call(message: Message) -> ToolUse:
    """Return what a message calls; its kind is "" where that tells nothing."""
    text = message.text
    command = _COMMAND.search(text[:_MOST])
    path = _PATH.search(text)
    if command:
        ran = command[1].strip()
        shown = _PRINTS.fullmatch(ran)
        if shown:
            return ToolUse(ran, relative(shown[1], message.project), "read")
        return ToolUse(ran, "", "run")
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
    """Return a path from the top of the project; of one outside of it, its last two parts."""
    path, top = _BACKWARDS.sub("/", path.strip()), _BACKWARDS.sub("/", project).rstrip("/")
    if top and path.startswith(f"{top}/"):
        return path[len(top) + 1 :]
    if path.startswith(("/", "~")) or path[1:3] == ":/":
        return "/".join(path.split("/")[-2:])
    return path.removeprefix("./")


def is_failure(text: str) -> bool:
    """Tell whether what was printed says that a command did not do its work."""
    return bool(_FAILED.search(text))


def strip_wrapping(text: str) -> str:
    """Return what was printed, without what a host wraps it in, and without colours."""
    if text.startswith(("Chunk ID:", "Command:")):
        text = _ENVELOPE.sub("", text, count=1)
    return _ANSI.sub("", text) if "[" in text else text


class PendingCalls:
    """Calls of one session that wait for their results."""

    def __init__(self) -> None:
        self._session = ("", "")
        self._calls: list[ToolUse] = []
        self._results = 0  # that belong to one of the calls, and nobody can say to which

    def answered(self, message: Message) -> ToolUse | None:
        """Return the call that a message answers; None if it answers none, or one of several."""
        if self._session != (message.host, message.session) or message.role != "tool":
            self._session = message.host, message.session
            self._forget()
        if message.role != "tool":
            return None
        if message.tool != "result":
            self._calls.append(replace(call(message), message=message))
            return None
        found = self._found(message)
        if found:
            self._calls.remove(found)
        else:
            self._results += 1
        if self._results >= len(self._calls):
            self._forget()
        return found

    def _found(self, message: Message) -> ToolUse | None:
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
            forms = [ran for printed_so, ran in _FORMS if printed_so.match(message.text)]
            some = [each for each in calls if any(form.search(each.command) for form in forms)]
        return some[0] if len({(each.path, each.command) for each in some}) == 1 else None

    def _forget(self) -> None:
        self._calls.clear()
        self._results = 0
