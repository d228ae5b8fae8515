"""What assistants were given at prompts and with files, and what stayed below the floor. Hot path.

A record each in `local/given.log`: a line of fields, then the text. Of the prompt there are hashes.
"""

import json
import os
from zlib import crc32

from memfs import files
from memfs.core.errors import UNREADABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.store.store_paths import Store

_NAME = "given.log"
_LARGEST = 1 << 18  # bytes
_FIELDS = 9  # of a prompt; what came with a file has its name as well
_FIELDS_BEFORE = 7  # of a record that an earlier version wrote; the last one is not read
_MOST_HASHES = 64  # of a prompt; of a long one these are a sample that similar prompts share
_FAR = 1 << 37  # seconds; a time behind it has no date
_BEGIN = "\x1d"  # of a record; no text of ours has it


class RecalledItem:
    """An item of a reply: `source` names where it is from, `reason` says what matched.

    `host` and `session` are those of its exchanges ("": it is none), whose ids are `ids`.
    """

    __slots__ = ("characters", "host", "ids", "reason", "session", "source")

    def __init__(
        self, source: str, reason: str, characters: int, host: str, session: str, ids: list[str]
    ) -> None:
        self.source, self.reason, self.characters = source, reason, characters
        self.host, self.session, self.ids = host, session, ids

    def list_fields(self) -> list[object]:
        """Return the arguments that make this item."""
        return [self.source, self.reason, self.characters, self.host, self.session, self.ids]


class PromptRecord:
    """What a prompt was answered with: `text`, "" for nothing.

    `about` is how much the best exchange of past sessions is about the prompt, `floor` what it
    needs to be shown; `nearest` names it (date, session and its beginning). `by_words` says why the
    search was by words alone, "" if it was by meaning too. `subject` are the hashes of the prompt's
    content words (see `hash_words`). `at` is in seconds since 1970. `opened`: it was no prompt, but
    a tool's call that opened this file.
    """

    def __init__(
        self,
        at: float,
        host: str,
        session: str,
        about: float,
        floor: float,
        nearest: str,
        text: str,
        items: "Iterable[RecalledItem]" = (),
        by_words: str = "",
        subject: "Iterable[int]" = (),
        opened: str = "",
    ) -> None:
        self.at, self.host, self.session = at, host, session
        self.about, self.floor, self.nearest = about, floor, nearest
        self.text, self.items = text, tuple(items)
        self.by_words, self.subject, self.opened = by_words, frozenset(subject), opened


def hash_words(words: "Iterable[str]") -> frozenset[int]:
    """Return the least hashes of words: enough to know a similar prompt by, and not its text."""
    hashes = sorted(crc32(word.encode("utf-8", "replace")) for word in words)
    return frozenset(hashes[:_MOST_HASHES])


def note_prompt(store: "Store", what: PromptRecord) -> None:
    """Note what a prompt was given. Raises `OSError`."""
    numbers = (f"{what.at:.0f}", what.host, what.session, f"{what.about:.2f}", f"{what.floor:.2f}")
    items = json.dumps([each.list_fields() for each in what.items])
    subject = " ".join(f"{each:08x}" for each in what.subject)
    opened = [what.opened] if what.opened else []
    head = "\t".join(
        map(_flatten, (*numbers, what.nearest, items, what.by_words, subject, *opened))
    )
    record = f"{_BEGIN}{head}\n{what.text.replace(_BEGIN, ' ')}\n"
    path = f"{store.local}/{_NAME}"
    if files.get_size(path) > _LARGEST:
        _halve(path)
    handle, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        files.write_all(handle, record.encode("utf-8", "replace"))
    finally:
        os.close(handle)


def read(store: "Store", most: int) -> list[PromptRecord]:
    """Return the records of the last `most` prompts, the newest first."""
    return [each for each in read_all(store) if not each.opened][:most]


def read_all(store: "Store") -> list[PromptRecord]:
    """Return all records, of prompts and opened files, the newest first."""
    found = filter(None, map(_parse_record, _read_records(f"{store.local}/{_NAME}")))
    return list(found)[::-1]


def remove(store: "Store") -> None:
    """Remove the log: it quotes what was found in sessions."""
    files.remove(f"{store.local}/{_NAME}")


def _read_records(path: str) -> list[str]:
    return (files.read(path, cap=4 * _LARGEST) or "").split(_BEGIN)[1:]


def _halve(path: str) -> None:
    from memfs.files import atomic

    records = _read_records(path)
    text = "".join(f"{_BEGIN}{each}" for each in records[len(records) // 2 :])
    atomic.write(path, text, private=True, durable=False)


def _flatten(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ").replace(_BEGIN, " ")


def _parse_record(record: str) -> PromptRecord | None:
    head, _, text = record.partition("\n")
    fields = head.split("\t")
    if len(fields) == _FIELDS_BEFORE:
        fields[-1:] = "[]", "", ""
    if len(fields) == _FIELDS:
        fields.append("")
    if len(fields) != _FIELDS + 1:
        return None
    at, host, session, about, floor, nearest, items, by_words, subject, opened = fields
    try:
        if not 0 <= float(at) < _FAR:
            return None
        return PromptRecord(
            float(at),
            host,
            session,
            float(about),
            float(floor),
            nearest,
            text.removesuffix("\n"),
            [*map(_parse_item, json.loads(items))],
            by_words,
            [int(each, 16) for each in subject.split()],
            opened,
        )
    except UNREADABLE:
        return None


def _parse_item(fields: list[object]) -> RecalledItem:
    """Return the item with these arguments. Raises `TypeError` for values of another type."""
    *texts, ids = fields
    is_typed = [*map(type, texts)] == [str, str, int, str, str] and is_text_list(ids)
    if not is_typed:
        raise TypeError
    return RecalledItem(*fields)  # type: ignore[arg-type]


def is_text_list(value: object) -> bool:
    """Tell whether a value of JSON is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
