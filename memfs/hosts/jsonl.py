"""The base of readers of transcripts: objects on lines, texts cleaned and capped, times."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Generic, TypeVar

import msgspec

from memfs.core.privacy import storable
from memfs.core.records import Identity, Message, Transcript
from memfs.files.account import find_named_folder
from memfs.hosts import transcript_files

TOOL_CAP = 3072  # bytes of one tool call or result
_VALUE_CAP = 1000  # characters of one value that a tool is given
_LISTS = ("todos", "plan")  # of what is to be done: what is open stands at their end
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)
_BLANK = " \t\r\n\f\v\ufeff\0"  # a crash leaves NULs
_SPACE = re.compile(f"[{_BLANK}]*")
_MOST_TRIES = 500  # places of a damaged line at which an object may begin
_DECODER = json.JSONDecoder()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Shape = TypeVar("Shape", bound=msgspec.Struct)
Parse = Callable[[Shape, Identity, int], Iterable[Message]]


class Reader(ABC, Generic[Shape]):
    """Finds and reads the transcripts of a host, of one session each.

    By default they have a JSON object on each line, of which only the fields of `shape` are read,
    and are below one of the folders `INSIDE` the host's, which `VARIABLE` or `USUAL` name.
    """

    VARIABLE = USUAL = ""
    INSIDE: tuple[str, ...] = ()
    PREFIX = ""  # of the names of files

    def __init__(self, shape: type[Shape], parse: Parse[Shape] = lambda *_: ()) -> None:
        """Read the messages of an object by `parse`, if `begin` is not the reader's own."""
        self._shape, self._parse = shape, parse
        self._decode = msgspec.json.Decoder(shape).decode
        self._names = dict(
            zip(shape.__struct_encode_fields__, shape.__struct_fields__, strict=True)
        )

    @abstractmethod
    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        """Return the session of a transcript by its first lines; None: not this host's."""

    def begin(self, identity: Identity, before: bytes) -> Parse[Shape]:  # noqa: ARG002 - of most
        """Return what yields the messages of an object that begins at a byte of the file."""
        return self._parse

    def read_transcript(
        self, data: bytes, identity: Identity, *, start: int, before: bytes = b""
    ) -> Transcript:
        """Read the messages of `data`, which begins at byte `start` of the file.

        `before` are the bytes before it, up to `transcript_files.BEFORE`.
        """
        return self.read_lines(data, identity, start, self.begin(identity, before))

    def read_lines(
        self, data: bytes, identity: Identity, start: int, parse: Parse[Shape]
    ) -> Transcript:
        """Read whole lines; of a last line without line end, the whole JSON objects.

        Of two messages with the same id the first counts.
        """
        messages: dict[str, Message] = {}
        objects = self.objects
        malformed = left_out = 0
        position = end = start
        for line in data.split(b"\n"):
            is_last = position + len(line) >= start + len(data)  # it may still be being written
            found, rest = objects(line, has_end=not is_last)
            for offset, each in found.items():
                new = list(parse(each, identity, position + offset))
                left_out += not new
                for message in new:
                    messages.setdefault(message.id, message)
            if is_last:
                end = position + rest
                break
            malformed += rest < len(line)
            position += len(line) + 1
        return Transcript(list(messages.values()), end, malformed, left_out)

    def list_roots(self, home: str) -> list[str]:
        """List the host's own folders of a user."""
        return transcript_files.list_roots(find_named_folder(self.VARIABLE), f"{home}/{self.USUAL}")

    def list_folders(self, home: str, project: str) -> list[str]:  # noqa: ARG002 - of most
        """List the folders below which transcripts of a project may come to be."""
        return [f"{root}/{self.INSIDE[0]}" for root in self.list_roots(home)]

    def list_transcripts(self, home: str, project: str) -> list[str]:
        """List the transcripts kept for a project ("": all) and the folders below it, oldest first.

        They are looked for in the host's usual folder, and in that of its variable.
        """
        return transcript_files.sort_by_age(
            path
            for root in self.list_roots(home)
            for folder in self.INSIDE
            for path in transcript_files.list_files(f"{root}/{folder}", self.PREFIX, ".jsonl")
            if transcript_files.mentions_project(path, project)
        )

    def find_failed_hooks(self, lines: Iterable[bytes]) -> Iterable[tuple[str, str]]:  # noqa: ARG002
        """Yield the event and the error of each of our hooks that is recorded as failed."""
        return ()

    def first(self, lines: Iterable[bytes]) -> Iterator[Shape]:
        """Yield the objects of lines."""
        for line in lines:
            yield from self.objects(line)[0].values()

    def objects(self, line: bytes, *, has_end: bool = False) -> tuple[dict[int, Shape], int]:
        """Return the objects that a line begins with, by byte offset, and where the rest begins.

        One, as a rule; a writer that was killed before the line end leaves two on a line. Only what
        stands behind the last whole object is read again when a line grows. Of a damaged line that
        `has_end`, the object at its end is one of them.
        """
        if line[:1] == b"{":  # as nearly every line is: one object, and nothing else
            with suppress(ValueError, RecursionError, msgspec.MsgspecError):
                return {0: self._decode(line)}, len(line)
        text = line.decode("utf-8", "surrogateescape")
        found: dict[int, Shape] = {}
        at = behind = offset = 0
        while True:
            at = _skip_space(text, at)
            if at == len(text):
                return found, len(line)
            offset += len(text[behind:at].encode("utf-8", "surrogateescape"))
            behind = at
            value, end = _decode_object(text, at)
            if not end:
                at, value = _find_last_object(text, at) if has_end else (0, {})
                if at:
                    begin = offset + len(text[behind:at].encode("utf-8", "surrogateescape"))
                    found[begin] = self._make(value)
                return found, offset
            found[offset] = self._make(value)
            at = end

    def _make(self, value: dict[str, object]) -> Shape:
        return self._shape(
            **{self._names[key]: value[key] for key in self._names.keys() & value.keys()}
        )


def _decode_object(text: str, at: int) -> tuple[dict[str, object], int]:
    """Return the object that begins at a place of a text, and where it ends; 0 for none."""
    if text[at] == "{":
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, at)
            return value, end
    return {}, 0


def _find_last_object(text: str, at: int) -> tuple[int, dict[str, object]]:
    """Return where the object begins with which a damaged line ends, and the object; 0 for none.

    A writer that was killed in the middle of an object leaves its beginning before the next one.
    """
    end = len(text.rstrip(_BLANK))
    for _ in range(_MOST_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            break
        value, stop = _decode_object(text, at)
        if stop == end:
            return at, value
    return 0, {}


def tags(*names: str) -> re.Pattern[str]:
    """Return a pattern for the opening tags of injected elements."""
    return re.compile(rf"<({'|'.join(names)})\b[^<>]{{0,500}}>")


def remove_elements(injected: re.Pattern[str], text: str) -> str:
    """Return a text without elements (see `tags`)."""
    return "".join(part for tag, part in split_elements(injected, text) if not tag).strip()


def remove_blocks(injected: re.Pattern[str], text: str) -> str:
    """Return a text without the elements that a program put in; those within a line are typed.

    A program's have several lines, or lines of their own.
    """
    found, at = "", 0
    pieces = [*split_elements(injected, text), ("", "")]
    for (tag, inside), (_, after) in pairwise(pieces):
        end = text.index(f"</{tag}>", at) + len(tag) + 3 if tag else at + len(inside)
        alone = not found.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()
        if not tag or not (alone or "\n" in inside):
            found += text[at:end]
        at = end
    return found.strip()


def split_elements(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, what is inside) of elements (see `tags`), and ("", text) of what is between.

    Not by one expression, which takes quadratic time.
    """
    unclosed = set()
    start = at = 0
    while found := pattern.search(text, at):
        at, tag = found.end(), found.group(1)
        close = -1 if tag in unclosed else text.find(f"</{tag}>", at)
        if close < 0:
            unclosed.add(tag)
            continue
        yield "", text[start : found.start()]
        yield tag, text[at:close]
        start = at = close + len(tag) + 3
    yield "", text[start:]


def call(tool_input: object) -> str:
    """Return a tool's arguments as text, a line for each, capped."""
    if not isinstance(tool_input, dict):
        return cap(flatten_content(tool_input).strip())
    parts = []
    for key, value in tool_input.items():
        text = value if isinstance(value, str) else dumps(value)
        room = len(f"{key}: ") + (TOOL_CAP if key in _LISTS else _VALUE_CAP)
        part = replace_surrogates(f"{key}: {text}")
        if len(part) > room:  # half of a secret would not be detected
            part = storable(part)
        parts.append(part if len(part) <= room else f"{part[:room]} …")
    return cap(replace_surrogates("\n".join(parts)))


def arguments(tool_input: object) -> str:
    """Return a tool's arguments, which may be JSON in a string, as text."""
    if isinstance(tool_input, str) and tool_input.lstrip()[:1] == "{":
        with suppress(ValueError, RecursionError):
            return call(json.loads(tool_input))
    return call(tool_input)


def dumps(value: object) -> str:
    """Return a value as JSON, "…" for one that is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:  # how deep reading and writing go depends on the Python
        return "…"


def flatten_content(content: object) -> str:
    """Return a text, or the joined texts of a list of objects."""
    if isinstance(content, list):
        texts = [text_of(item.get("text")) for item in content if isinstance(item, dict)]
        return "\n".join(text for text in texts if text)
    return text_of(content)


def cap(text: str) -> str:
    """Cut a tool's text to `TOOL_CAP` bytes: two thirds from its beginning, the rest from its end.

    Secrets are redacted before the cut: half of one would not be detected.
    """
    data = text.encode()
    if len(data) > TOOL_CAP:
        text = storable(text)
        data = text.encode()
    if len(data) <= TOOL_CAP:
        return text
    note = f"\n… {len(data) - TOOL_CAP:,} bytes left out …\n"
    room = TOOL_CAP - len(note.encode())
    head = data[: room * 2 // 3].decode("utf-8", "ignore")
    tail = data[-(room // 3) :].decode("utf-8", "ignore")
    return head + note + tail


def get(value: object, key: str) -> object:
    """Return the value of an object's key, None for what is no object."""
    return value.get(key) if isinstance(value, dict) else None


def get_text(value: object, key: str) -> str:
    """Return the text of an object's key, "" for another value or none."""
    return text_of(get(value, key))


def list_objects(value: object) -> list[dict[str, object]]:
    """Return the objects in a list, none of another value."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text without surrogates; "" for any other value."""
    return replace_surrogates(value) if isinstance(value, str) else ""


def replace_surrogates(text: str) -> str:
    """Replace surrogates: halves of pairs, and bytes that were no UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def time_of(value: object) -> str:
    """Return a value that is a UTC time of a transcript, else ""."""
    return value if isinstance(value, str) and _TIME.fullmatch(value) else ""


def format_milliseconds(value: object) -> str:
    """Return the UTC time of a number of milliseconds, "" for none, or one that is too far away."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    try:
        found = _EPOCH + timedelta(milliseconds=value)
    except (OverflowError, ValueError):
        return ""
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
