"""What assistants were given at their prompts, and what stayed below the floor. Hot path to write.

A record each in `local/given.log`, the newest last: a line of fields, then the text as it is, so
that a secret in it is found like any other. Of what grows large the older half goes. The prompt
itself is not kept here: recall has it, and without its secrets.
"""

import os

from memfs import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.store_paths import Store

_NAME = "given.log"
_LARGEST = 1 << 18  # bytes
_FIELDS = 7
_BEGIN, _BREAK = "\x1d", "\x1f"  # of a record, of a line in a field; no text of ours has them


class PromptRecord:
    """What a prompt was answered with: `text`, "" for nothing.

    `about` is how much the best exchange of past sessions is about the prompt, `floor` what it
    needs to be shown; `nearest` names it (date, session and its beginning), `why` says for each
    session that was shown what matched. `at` is in seconds since 1970.
    """

    __slots__ = ("about", "at", "floor", "host", "nearest", "session", "text", "why")

    def __init__(
        self,
        at: float,
        host: str,
        session: str,
        about: float,
        floor: float,
        nearest: str,
        why: str,
        text: str,
    ) -> None:
        self.at, self.host, self.session = at, host, session
        self.about, self.floor = about, floor
        self.nearest, self.why, self.text = nearest, why, text


def note_prompt(store: "Store", what: PromptRecord) -> None:
    """Note what a prompt was given. Raises `OSError`."""
    numbers = (f"{what.at:.0f}", what.host, what.session, f"{what.about:.2f}", f"{what.floor:.2f}")
    head = "\t".join(map(_flatten, (*numbers, what.nearest, what.why)))
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
    found = filter(None, map(_parse_record, _read_records(f"{store.local}/{_NAME}")))
    return list(found)[: -most - 1 : -1]


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
    return text.replace("\n", _BREAK).replace("\t", " ").replace(_BEGIN, " ")


def _parse_record(record: str) -> PromptRecord | None:
    head, _, text = record.partition("\n")
    fields = head.split("\t")
    if len(fields) != _FIELDS:
        return None
    at, host, session, about, floor, nearest, why = fields
    try:
        return PromptRecord(
            float(at),
            host,
            session,
            float(about),
            float(floor),
            nearest,
            why.replace(_BREAK, "\n"),
            text.removesuffix("\n"),
        )
    except ValueError:
        return None
