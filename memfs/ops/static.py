"""Store reference entries once, and find them by key, category, tag or text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import edits
from memfs.core import label as labels
from memfs.core.errors import USAGE, MemfsError, NotFoundError, RejectedError
from memfs.core.private import public
from memfs.store import archive, files, lock, static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.store.blocks import Place
    from memfs.store.static import Entry

LOCK = "static.lock"


@dataclass(frozen=True)
class Found:
    """An entry, and the tier whose store has it."""

    tier: str
    entry: Entry


def store(
    place: Place, key: str, text: str, *, category: str = "", tags: Sequence[str] = (),
    user: bool = False,
) -> Found:  # fmt: skip
    """Store an entry. Raises `RejectedError` for a key that is taken: entries do not change."""
    tier = labels.USER if user else labels.PROJECT if place.project else labels.USER
    where, key, text = place.store(tier), _key(key), public(text)
    clean = tuple(dict.fromkeys(" ".join(tag.lower().split()) for tag in tags if tag.strip()))
    if not text.strip():
        raise MemfsError("cannot store an empty text", "", USAGE)
    if len(text) > archive.LONGEST:
        raise RejectedError(
            f"cannot store {len(text):,} characters, the limit is {archive.LONGEST:,}",
            "store what is looked up, in several entries",
        )
    odd = (
        edits.unfit("store", key, text)
        or edits.secret("store", key, text)
        or edits.unkept("the category and the tags", "\n".join((category, *clean)))
    )
    if odd:
        raise RejectedError(odd.message, odd.hint)
    with lock.hold(where, name=LOCK):
        try:
            static.add(where, key, text, " ".join(category.lower().split()), clean)
        except static.TakenError as error:
            raise RejectedError(
                f"there is an entry '{key}' already, and entries do not change",
                f"store it under another key, or remove that one: memfs static {key} --remove",
            ) from error
    return get(place, key, tier)


def get(place: Place, key: str, tier: str = "") -> Found:
    """Return the entry of a key, the project's before the user's. Raises `NotFoundError`."""
    for name, where in place.lasting():
        entry = static.read(where, _key(key)) if tier in ("", name) else None
        if entry:
            return Found(name, entry)
    raise NotFoundError(f"there is no entry '{key}'", "memfs static lists them")


def find(
    place: Place, *, category: str = "", tags: Sequence[str] = (), text: str = ""
) -> list[Found]:  # fmt: skip
    """Return the entries that have the category, all of the tags, and all words of the text."""
    words = text.casefold().split()
    wanted = {" ".join(tag.lower().split()) for tag in tags}
    return [
        Found(tier, entry)
        for tier, where in place.lasting()
        for entry in static.every(where)
        if category.lower() in ("", entry.category)
        and wanted <= set(entry.tags)
        and all(word in f"{entry.key} {entry.text}".casefold() for word in words)
    ]


def remove(place: Place, key: str) -> Found:
    """Remove an entry; that is a person's to do. Raises `NotFoundError`."""
    found = get(place, key)
    where = place.store(found.tier)
    with lock.hold(where, name=LOCK):
        files.remove(static.path_of(where, found.entry.key))
    return found


def _key(key: str) -> str:
    name = labels.normalise(key)
    wrong = labels.problem(name)
    if wrong:
        raise MemfsError(f"{key!r} cannot be a key: {wrong}", "for example: style/python", USAGE)
    return name
