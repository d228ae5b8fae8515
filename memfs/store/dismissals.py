"""What a person dismissed, a line each in `local/dismissed.jsonl`. Hot path to read.

The prompt is known by the hashes of its content words: one that shares half of them is alike.
"""

import json

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.store import prompt_log
from memfs.store.store_paths import DISMISSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memfs.files.logs import JsonLog
    from memfs.store.store_paths import Store

_ALIKE = 0.5  # least share of two prompts' content words that both have
_MOST = 1000  # dismissals; older ones are dropped
_LARGEST = 1 << 22  # bytes that are read
_TEXTS = ("id", "at", "host", "session", "source", "source_host", "source_session")


class Dismissal:
    """An item that came for a prompt and is dismissed.

    `at`, `host` and `session` are those of the prompt, `subject` the hashes of its words. `source`
    names where the item is from; its exchanges `ids` are of `source_host` and `source_session`.
    """

    __slots__ = (*_TEXTS, "ids", "subject")

    def __init__(
        self,
        id: str,
        at: str,
        host: str,
        session: str,
        subject: "Iterable[int]",
        source: str,
        source_host: str,
        source_session: str,
        ids: list[str],
    ) -> None:
        self.id, self.at, self.host, self.session = id, at, host, session
        self.subject, self.ids = frozenset(subject), ids
        self.source, self.source_host, self.source_session = source, source_host, source_session

    def matches_prompt(self, subject: frozenset[int]) -> bool:
        """Tell whether a prompt, by the hashes of its words, is like the one it came for."""
        return len(subject & self.subject) >= _ALIKE * len(subject | self.subject)


def list_hidden(store: "Store", subject: frozenset[int]) -> frozenset[str]:
    """Return the ids of what is dismissed for prompts like one, by the hashes of its words."""
    return frozenset(
        ident for each in read(store) if each.matches_prompt(subject) for ident in each.ids
    )


def read(store: "Store") -> list[Dismissal]:
    """Return the dismissals of a store, the latest last; damaged lines are left out."""
    text = files.read(f"{store.local}/{DISMISSED}", cap=_LARGEST) or ""
    return [*filter(None, map(_parse, text.split("\n")[:-1]))]


def add(store: "Store", dismissal: Dismissal) -> None:
    """Add a dismissal durably; it takes the place of an earlier one of the same item."""
    from memfs.store import local_folder, lock  # a prompt only reads

    local_folder.make(store)
    with lock.hold_lock(store, name=lock.KINDS):
        ids = {dismissal.id, *(each.id for each in read(store)[: 1 - _MOST])}
        remove(store, lambda each: each.id in ids)
        _open_log().append(f"{store.local}/{DISMISSED}", [dismissal])


def remove(store: "Store", is_gone: "Callable[[Dismissal], bool]") -> int:
    """Remove dismissals durably; return how many. The caller holds the lock of kinds."""
    path = f"{store.local}/{DISMISSED}"
    count = _open_log().rewrite(path, lambda each: None if is_gone(each) else each)
    if count and not files.get_size(path):
        files.remove(path)  # a prompt looks whether there is one
    return count


def _open_log() -> "JsonLog[Dismissal]":
    from memfs.files.logs import JsonLog  # a prompt only reads

    return JsonLog(_encode, _parse)


def _encode(dismissal: Dismissal) -> bytes:
    fields = {name: getattr(dismissal, name) for name in (*_TEXTS, "ids")}
    return (json.dumps({**fields, "subject": sorted(dismissal.subject)}) + "\n").encode()


def _parse(line: "str | bytes") -> Dismissal | None:
    try:
        found = Dismissal(**json.loads(line))
    except UNREADABLE:
        return None
    is_typed = prompt_log.is_text_list([getattr(found, name) for name in _TEXTS])
    is_typed = is_typed and prompt_log.is_text_list(found.ids)
    return found if is_typed and {*map(type, found.subject)} <= {int} else None
