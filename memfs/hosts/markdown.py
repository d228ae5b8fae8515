"""Sessions written as Markdown: Aider's history, chats exported from Cursor, SpecStory's files."""

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from memfs.core.records import Identity, Transcript
from memfs.hosts.jsonl import cap, remove_elements, replace_surrogates, tags


class _Turn(NamedTuple):
    """One turn: who spoke (role, "" for nobody), when, what, and with which tool."""

    role: str
    at: str = ""
    text: str = ""
    tool: str = ""
    side: bool = False


class _MarkdownFile(ABC):
    """A `Collection` whose turns begin at lines of their own."""

    HOST = ""

    @abstractmethod
    def is_own(self, path: str, head: bytes) -> bool:
        """Return whether a file is of this kind, by its first bytes."""

    @abstractmethod
    def split(self, lines: list[str]) -> dict[str, list[str]]:
        """Return the lines of sessions by name."""

    @abstractmethod
    def parse(self, lines: list[str]) -> Iterable[_Turn]:
        """Return the turns of a session."""

    def find_project(self, path: str) -> str:  # noqa: ARG002 - some are in no project
        """Return the project of a file, "" if it is unknown."""
        return ""

    def sessions(
        self,
        path: str,
        head: bytes,
        project: str,  # noqa: ARG002 - a file is of one
        session: str = "",  # noqa: ARG002 - no hook names one
    ) -> list[Identity]:
        """List the sessions in a file; none are in another file."""
        if not self.is_own(path, head.removeprefix(b"\xef\xbb\xbf")):
            return []
        folder = self.find_project(os.path.abspath(path))
        return [
            Identity(name, "", folder, whole=True, mark=hash_lines(lines))
            for name, lines in self.split(_read_lines(path)).items()
        ]

    def read_session(self, path: str, identity: Identity) -> Transcript:
        """Read one session of a file. The ids of messages are the numbers of turns."""
        lines = self.split(_read_lines(path)).get(identity.session, [])
        messages, left_out = [], 0
        for number, turn in enumerate(self.parse(lines)):
            if not turn.role or not turn.text:
                left_out += 1
                continue
            said = replace_surrogates(turn.text), turn.tool, turn.side
            ident = str(number)
            messages.append(identity.make_message(self.HOST, ident, turn.at, turn.role, *said))
        return Transcript(messages, 0, 0, left_out)


def _read_lines(path: str) -> list[str]:
    """Return the lines of a file, with line ends of one kind."""
    with open(path, "rb") as handle:
        data = handle.read().decode("utf-8", "replace")
    return data.removeprefix("\ufeff").replace("\0", "").replace("\r\n", "\n").split("\n")


def hash_lines(lines: Iterable[str]) -> str:
    """Return the hash of lines, as the mark of a session."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:32]


def _cut_turns(lines: Iterable[_Turn | str]) -> list[_Turn]:
    """Cut lines into turns, each begun by a turn without text; those before the first go."""
    found: list[tuple[_Turn, list[str]]] = []
    for line in lines:
        if isinstance(line, _Turn):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    return [turn._replace(text=_trim_turn(text)) for turn, text in found]


def _trim_turn(lines: list[str]) -> str:
    """Return the text of a turn without the rule at its end."""
    while lines and lines[-1].strip() in ("", "---"):
        lines = lines[:-1]
    return "\n".join(lines).strip()


_STARTED = "# aider chat started at "
_ASKED = "#### "
_LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
_OWN_COMMANDS = (
    "/add", "/drop", "/exit", "/quit", "/clear", "/reset", "/model", "/tokens", "/undo", "/ls",
    "/help", "/settings", "/diff", "/commit", "/map", "/read-only",
)  # fmt: skip


class _AiderHistory(_MarkdownFile):
    """One file for a project, to which every session is added.

    Lines of a person begin with `####`, those of the program with `>`; the rest is what the
    assistant said. That is how Aider itself reads them.
    """

    HOST = "aider"

    def is_own(self, path: str, head: bytes) -> bool:
        is_named = os.path.basename(path) == ".aider.chat.history.md"
        return is_named or head.lstrip().startswith(_STARTED.encode())

    def find_project(self, path: str) -> str:
        return os.path.dirname(path)

    def split(self, lines: list[str]) -> dict[str, list[str]]:
        """Return the sessions with a prompt, named by their start time."""
        found: dict[str, list[str]] = {}
        name = "0"  # of the lines before the first start
        for line in lines:
            if line.startswith(_STARTED):
                name = line.removeprefix(_STARTED).strip().replace(" ", "T").replace(":", "")
            found.setdefault(name, []).append(line)
        asked = {name for name in found if any(each.startswith(_ASKED) for each in found[name])}
        return {name: each for name, each in found.items() if name in asked}

    def parse(self, lines: list[str]) -> Iterator[_Turn]:
        """Yield the turns; a prompt that is a command of Aider, like `/add FILE`, has no role."""
        for turn in _cut_turns(_mark_speakers(lines)):
            own = turn.text.partition(" ")[0] in _OWN_COMMANDS and "\n" not in turn.text
            yield turn._replace(role="") if own and turn.role == "user" else turn


def _mark_speakers(lines: list[str]) -> Iterator[_Turn | str]:
    """Yield lines, with the turn that begins before each run of one kind."""
    speaker, at = "", _parse_start(lines[0]) if lines else ""
    for line in lines:
        if line.startswith(_STARTED):
            continue
        now = "user" if line.startswith("####") else ">" if line.startswith(">") else ""
        if not now and line.strip():
            now = "assistant"
        if now and now != speaker:
            speaker = now
            yield _Turn(now.removeprefix(">"), at)
        yield line.removeprefix("####").removeprefix(" ") if speaker == "user" else line


def _parse_start(line: str) -> str:
    """Return the UTC time of a session's first line, which has local time; "" for none."""
    text = line.removeprefix(_STARTED).strip()
    if not _LOCAL_TIME.fullmatch(text):
        return ""
    try:
        at = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return at.isoformat().replace("+00:00", "Z")


_EXPORTED = re.compile(  # a title may have several lines
    rb"# (?:[^\n]{1,500}\n){1,9}?_Exported on [^\n]{1,200} from Cursor \("
)
_SPEAKERS = {"**User**": _Turn("user"), "**Cursor**": _Turn("assistant")}


class _CursorExport(_MarkdownFile):
    """One session, named by its title and first turn: a later export of the chat is the same."""

    HOST = "cursor"

    def is_own(self, path: str, head: bytes) -> bool:  # noqa: ARG002 - as all
        return bool(_EXPORTED.match(head.replace(b"\r\n", b"\n")))

    def split(self, lines: list[str]) -> dict[str, list[str]]:
        first = next((turn.text for turn in self.parse(lines)), "")
        return {f"export-{hash_lines([lines[0], first])[:16]}": lines}

    def parse(self, lines: list[str]) -> list[_Turn]:
        return _cut_turns(_SPEAKERS.get(line, line) for line in lines)


_FOLDER = "/.specstory/history/"
_SESSION = re.compile(r"<!-- [^<>]{1,60} Session (\S{1,100})(?: [^<>]{0,100})?-->")
_SPEAKER = re.compile(r"_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^()]{0,200})\))?\*\*_\s*")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?Z", re.ASCII)
_THOUGHTS = tags("think", "thinking")
_TOOL = re.compile(r"<tool-use\b[^<>]{0,500}>|<details>\s{0,9}<summary>\s{0,9}Tool use: ", re.ASCII)
_TOOL_NAME = re.compile(r'data-tool-name="([^"<>]{1,100})"|Tool use: \*\*([^*<>]{1,100})\*\*')
_TOOL_TAG = re.compile(r"</?(?:tool-use|details|summary)\b[^<>]{0,500}>")


class _SpecStoryFile(_MarkdownFile):
    """Sessions of any assistant, as a rule one; one without a name is named by a hash."""

    HOST = "specstory"

    def is_own(self, path: str, head: bytes) -> bool:  # noqa: ARG002 - as all
        return head.lstrip().startswith(b"<!-- Generated by SpecStory")

    def find_project(self, path: str) -> str:
        return path.replace("\\", "/").rpartition(_FOLDER)[0]

    def split(self, lines: list[str]) -> dict[str, list[str]]:
        named = [
            (place, tag[1]) for place, each in enumerate(lines) if (tag := _SESSION.match(each))
        ]
        if not named:
            return {hash_lines(lines[:3])[:16]: lines}
        found: dict[str, list[str]] = {}
        ends = [place for place, _ in named[1:]] + [len(lines)]
        for (place, name), end in zip(named, ends, strict=True):
            found.setdefault(name, []).extend(lines[place:end])
        return found

    def parse(self, lines: list[str]) -> Iterator[_Turn]:
        for turn in _cut_turns(map(_parse_speaker, lines)):
            yield from _split_turn(turn) if turn.role == "assistant" else (turn,)


def _parse_speaker(line: str) -> _Turn | str:
    tag = _SPEAKER.fullmatch(line)
    if not tag:
        return line
    at = _TIME.search(tag[3] or "")
    when = f"{at[1]}T{at[2]}{at[3] or ':00'}Z" if at else ""
    return _Turn("user" if tag[1] == "User" else "assistant", when, side=bool(tag[2]))


def _split_turn(turn: _Turn) -> Iterator[_Turn]:
    """Yield the parts of an assistant's turn: texts, and uses of tools."""
    text = remove_elements(_THOUGHTS, turn.text)
    at = 0
    while used := _TOOL.search(text, at):
        close = "</tool-use>" if used[0].startswith("<tool-use") else "</details>"
        end = text.find(close, used.end())
        if end < 0:
            break
        yield turn._replace(text=text[at : used.start()].strip())
        inner = text[used.start() : end]
        name = _TOOL_NAME.search(inner)
        tool = (name[1] or name[2]) if name else "tool"
        yield turn._replace(role="tool", text=cap(_TOOL_TAG.sub("", inner).strip()), tool=tool)
        at = end + len(close)
    yield turn._replace(text=text[at:].strip())


COLLECTIONS = {each.HOST: each for each in (_AiderHistory(), _CursorExport(), _SpecStoryFile())}
