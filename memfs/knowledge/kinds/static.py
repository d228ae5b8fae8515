"""The static kind: reference entries that do not change, found by key, category, tag or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, ClassVar

from memfs import files
from memfs.context.pieces import Found
from memfs.core import body_edits
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, RejectedError, UsageError
from memfs.core.privacy import public
from memfs.knowledge.kinds import base
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds.base import Form, ListedKind
from memfs.knowledge.kinds.protocol import Capacity, Content, Query, Relevant, State
from memfs.store import archive, clock, lock, static
from memfs.store.blocks import Place
from memfs.store.static import StaticEntry

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

INDEXES = ("key", "category", "tags")
ABOUT = 0.42  # least relevance of an entry to a task
_LOOKED_AT = 600  # characters of an entry that are compared


@dataclass(frozen=True)
class StoredEntry:
    """An entry, and the tier of its store."""

    tier: str
    entry: StaticEntry


class Static(ListedKind[StaticEntry]):
    """Entries of all tiers, found by `indexes`, and by text if they are `searchable`.

    The id of an entry is its key.
    """

    type = "static"
    OPTIONS: ClassVar[Mapping[str, Form]] = {
        "indexes": base.Form(
            f"a list of {', '.join(INDEXES)}",
            lambda v: base.WORDS.fits(v) and set(v) <= set(INDEXES),
            lambda given: given or INDEXES,
        ),
        "searchable": base.FLAG,
    }
    _UNDATED = inf
    _BY_RELEVANCE = True
    _WHY_FIXED = (
        "cannot change '{}': static entries do not change",
        "use another key, or remove the existing entry: memfs static rm {}",
    )

    def __init__(
        self,
        place: Place,
        id: str = "static",
        capacity: Capacity | None = None,
        *,
        indexes: Sequence[str] = INDEXES,
        searchable: bool = True,
        index: OpenStore | None = None,
    ) -> None:
        super().__init__(place, id, capacity, index)
        self._indexes, self._searchable = indexes, searchable

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Store a text under `key` (made if not given), with `category` and `tags`; return the key.

        Raises `RejectedError` for a key that is taken: entries do not change.
        """
        text = "\n".join(message.text for message in contents.messages(content, ""))
        key = str(metadata.get("key") or f"entry-{clock.unique()}")
        tags = metadata.get("tags") or ()
        several = [str(tag) for tag in tags] if isinstance(tags, list | tuple) else [str(tags)]
        category = str(metadata.get("category") or "")
        found = put(self.place, key, text, category=category, tags=several)
        self._enforce_capacity()
        return [found.entry.key]

    def delete(self, ident: str) -> None:
        """Remove an entry. Raises `NotFoundError`."""
        remove(self.place, ident)

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return the entries of the required categories and tags, and those near to the task."""
        categories, tags = (*state.categories, *query.categories), (*state.tags, *query.tags)
        queries = [Query(categories=(each,), limit=query.limit) for each in categories]
        queries += [Query(tags=(each,), limit=query.limit) for each in tags]
        if state.task:
            texts, least = (state.task, *query.texts), query.threshold or ABOUT
            queries.append(Query(texts, limit=query.limit, threshold=least))
        found = tuple(self._collect(queries).values())[: query.limit]
        return Relevant(found, confidence=1.0 if found else 0.0)

    def summarize(self) -> str:
        """Return each key with the first line of its entry."""
        return "\n".join(
            f"- {each.key}: {each.text.lstrip().partition(chr(10))[0][:100]}"
            for each in self._list_items()
        )

    def _get(self, ident: str) -> list[Found]:
        if "key" not in self._indexes:
            return []
        return [self._make_found(get(self.place, ident).entry, 1.0)]

    def _find(self, query: Query) -> list[Found]:
        wanted = query.categories if "category" in self._indexes else ()
        tags = query.tags if "tags" in self._indexes else ()
        some = {
            each.entry.key: each.entry
            for category in wanted or ("",)
            for each in find(self.place, category=category, tags=tags)
        }
        if not query.texts:
            return [self._make_found(each, 1.0) for each in some.values()] if wanted or tags else []
        if not self._searchable:
            return []
        return self._rank(query, "static", some, lambda e: f"{e.key} {e.text[:_LOOKED_AT]}")

    def _list_items(self, *, own: bool = False) -> list[StaticEntry]:
        if own:
            return list(static.list_entries(self.place.home))
        return [each.entry for each in find(self.place)]

    def _measure(self, item: StaticEntry) -> tuple[int, str]:
        return len(item.text.encode("utf-8", "replace")), item.created_at

    def _move_to_archive(self, items: Sequence[StaticEntry]) -> None:
        store = self.place.home
        for entry in items:
            tags = tuple(filter(None, ("static", entry.category, *entry.tags)))
            source = f"static {entry.key}"
            archive.write_passage(store, entry.text, importance=5, tags=tags, source=source)
            files.remove(static.path_of(store, entry.key))

    def _make_found(self, item: StaticEntry, relevance: float) -> Found:
        name = item.key
        metadata = {"category": item.category, "tags": item.tags, "changed": item.changed}
        group, head = f"static/{name}", f"static {name}"
        return Found(
            name, "static", item.text, relevance, item.created_at, "", group, head, metadata
        )


def put(
    place: Place,
    key: str,
    text: str,
    *,
    category: str = "",
    tags: Sequence[str] = (),
    user: bool = False,
) -> StoredEntry:
    """Store an entry. Raises `RejectedError` for a key that is taken: entries do not change."""
    tier = labels.PROJECT if place.project and not user else labels.USER
    where, key, text = place.store(tier), _normalise_key(key), public(text)
    clean = tuple(dict.fromkeys(" ".join(tag.lower().split()) for tag in tags if tag.strip()))
    if not text.strip():
        raise UsageError("the text is empty, so nothing was stored")
    if len(text) > archive.LONGEST:
        raise RejectedError(
            f"cannot store {len(text):,} characters, the limit is {archive.LONGEST:,}",
            "shorten the text, or split it into several entries",
        )
    odd = (
        body_edits.check_text("store", key, text)
        or body_edits.check_secret("store", key, text)
        or body_edits.check_metadata(
            "the key, the category and the tags", "\n".join((key, category, *clean))
        )
    )
    if odd:
        raise RejectedError(odd.message, odd.hint)
    with lock.hold_lock(where, name=lock.KINDS):
        try:
            static.write_entry(where, key, text, " ".join(category.lower().split()), clean)
        except static.TakenError as error:
            raise RejectedError(
                f"the key '{key}' already exists, and static entries do not change",
                f"use another key, or remove the existing entry: memfs static rm {key}",
            ) from error
    return get(place, key, tier)


def get(place: Place, key: str, tier: str = "") -> StoredEntry:
    """Return the entry of a key, preferring the project's. Raises `NotFoundError`."""
    for name, where in place.list_lasting_tiers():
        entry = static.read(where, _normalise_key(key)) if tier in ("", name) else None
        if entry:
            return StoredEntry(name, entry)
    raise NotFoundError(
        f"no static entry has the key '{key}'", "list the entries: memfs static list"
    )


def find(
    place: Place, *, category: str = "", tags: Sequence[str] = (), text: str = ""
) -> list[StoredEntry]:
    """Return the entries that have the category, all of the tags, and all words of the text."""
    words = text.casefold().split()
    wanted = {" ".join(tag.lower().split()) for tag in tags}
    return [
        StoredEntry(tier, entry)
        for tier, where in place.list_lasting_tiers()
        for entry in static.list_entries(where)
        if category.lower() in ("", entry.category)
        and wanted <= set(entry.tags)
        and all(word in f"{entry.key} {entry.text}".casefold() for word in words)
    ]


def remove(place: Place, key: str, tier: str = "") -> StoredEntry:
    """Remove an entry, at a person's request; return it. Raises `NotFoundError`."""
    found = get(place, key, tier)
    where = place.store(found.tier)
    with lock.hold_lock(where, name=lock.KINDS):
        files.remove(static.path_of(where, found.entry.key))
    return found


def _normalise_key(key: str) -> str:
    name = labels.normalise(key)
    wrong = labels.problem(name)
    if wrong:
        raise UsageError(f"{key!r} cannot be a key: {wrong}", "use a key such as style/python")
    return name
