"""What a person dismissed: recalled items that are not to come again for such prompts.

A line each in `local/dismissed.jsonl`, without texts: the prompt is known by the hashes of its
content words. A prompt that shares half of them with it is such a prompt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.files import atomic, logs
from memfs.store import local_folder, lock
from memfs.store.prompt_log import hash_words
from memfs.store.store_paths import DISMISSED, Store

LOCK = "dismissed.lock"
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


def read(store: Store) -> list[Dismissal]:
    """Return the dismissals of a store, the latest last; damaged lines are left out."""
    found = []
    for line in logs.read_lines(f"{store.local}/{DISMISSED}"):
        try:
            fields = json.loads(line)
            lists = {name: tuple(fields[name]) for name in ("subject", "ids")}
            found.append(Dismissal(**fields | lists))
        except UNREADABLE:
            continue
    return found


def add(store: Store, dismissal: Dismissal) -> None:
    """Add a dismissal durably."""
    local_folder.make(store)
    with lock.hold_lock(store, name=LOCK):
        known = [each for each in read(store) if each.id != dismissal.id]
        _write(store, [*known, dismissal][-_MOST:])


def remove(store: Store, is_gone: Callable[[Dismissal], bool]) -> int:
    """Remove dismissals durably; return how many. Without any left, the file goes."""
    with lock.hold_lock(store, name=LOCK):
        known = read(store)
        kept = [each for each in known if not is_gone(each)]
        if len(kept) < len(known):
            _write(store, kept)
    return len(known) - len(kept)


def _write(store: Store, dismissals: Sequence[Dismissal]) -> None:
    path = f"{store.local}/{DISMISSED}"
    if not dismissals:
        files.remove(path)
        return
    text = "".join(json.dumps(asdict(each)) + "\n" for each in dismissals)
    atomic.write(path, text, private=True)
