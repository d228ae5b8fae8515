"""What a person dismissed: recalled items that are not to come again for such prompts.

A line each in `local/dismissed.jsonl`, without texts: the prompt is known by the hashes of its
content words. A prompt that shares half of them with it is such a prompt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from memfs import files
from memfs.files.logs import JsonLog, have_type
from memfs.store import local_folder, lock
from memfs.store.prompt_log import hash_words
from memfs.store.store_paths import DISMISSED, Store

_ALIKE = 0.5  # least share of two prompts' content words that both have
_MOST = 1000  # dismissals; older ones are dropped


@dataclass(frozen=True)
class Dismissal:
    """An item that came for a prompt and is dismissed.

    `at`, `host` and `session` are those of the prompt, `subject` the hashes of its words. `source`
    names where the item is from; its exchanges `ids` are of `source_host` and `source_session`.
    """

    id: str
    at: str
    host: str
    session: str
    subject: tuple[int, ...]
    source: str
    source_host: str
    source_session: str
    ids: tuple[str, ...]

    def fits(self, stems: Sequence[str]) -> bool:
        """Tell whether a prompt with these content words is like the one it came for."""
        mine, others = set(self.subject), set(hash_words(stems))
        return len(mine & others) >= _ALIKE * len(mine | others)


def _decode(line: bytes) -> Dismissal | None:
    fields = json.loads(line)
    subject, ids = fields.pop("subject"), fields.pop("ids")
    known = have_type(list, subject, ids) and have_type(int, *subject)
    known = known and have_type(str, *ids, *fields.values())
    return Dismissal(**fields, subject=tuple(subject), ids=tuple(ids)) if known else None


_LOG = JsonLog(lambda each: (json.dumps(asdict(each)) + "\n").encode(), _decode)


def read(store: Store) -> list[Dismissal]:
    """Return the dismissals of a store, the latest last; damaged lines are left out."""
    return [each for each, _ in _LOG.read(f"{store.local}/{DISMISSED}") if each]


def add(store: Store, dismissal: Dismissal) -> None:
    """Add a dismissal durably; it takes the place of an earlier one of the same item."""
    local_folder.make(store)
    with lock.hold_lock(store, name=lock.KINDS):
        ids = {dismissal.id, *(each.id for each in read(store)[: 1 - _MOST])}
        remove(store, lambda each: each.id in ids)
        _LOG.append(f"{store.local}/{DISMISSED}", [dismissal])


def remove(store: Store, is_gone: Callable[[Dismissal], bool]) -> int:
    """Remove dismissals durably; return how many. The caller holds the lock of kinds."""
    path = f"{store.local}/{DISMISSED}"
    count = _LOG.rewrite(path, lambda each: None if is_gone(each) else each)
    if count and not files.get_size(path):
        files.remove(path)  # a prompt looks whether there is one
    return count
