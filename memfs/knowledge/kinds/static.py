"""The static kind: reference entries that do not change, found by key, category, tag or text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memfs import files
from memfs.core import body_edits
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, RejectedError, UsageError
from memfs.core.privacy import public
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds import scoring
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity, Content, Found, Metrics, Query, Relevant, State
from memfs.recall.index_session import IndexSession
from memfs.search.doc_json import epoch
from memfs.search.engine import Engine, Filter
from memfs.store import archive, clock, lock, static
from memfs.store.blocks import Place
from memfs.store.static import StaticEntry

INDEXES = ("key", "category", "tags")
ABOUT = 0.42  # least relevance of an entry to a task
_LOOKED_AT = 600  # characters of an entry that are compared


@dataclass(frozen=True)
class StoredEntry:
    """An entry, and the tier of its store."""

    tier: str
    entry: StaticEntry


class Static:
    """Entries of all tiers, found by `indexes`, and by text if they are `searchable`."""

    def __init__(
        self,
        place: Place,
        id: str = "static",
        capacity: Capacity | None = None,
        *,
        indexes: Sequence[str] = INDEXES,
        searchable: bool = True,
        index: IndexSession | None = None,
    ) -> None:
        self.id, self.type, self.capacity = id, "static", capacity or Capacity()
        self._place, self._index = place, index or IndexSession(place)
        self._indexes, self._searchable = indexes, searchable

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Store a text under `key` (made if not given), with `category` and `tags`; return the key.

        Raises `RejectedError` for a key that is taken: entries do not change.
        """
        text = "\n".join(message.text for message in contents.messages(content, ""))
        key = str(metadata.get("key") or f"entry-{clock.unique()}")
        tags = metadata.get("tags") or ()
        several = [str(tag) for tag in tags] if isinstance(tags, list | tuple) else [str(tags)]
        found = put(
            self._place, key, text, category=str(metadata.get("category") or ""), tags=several
        )
        self._enforce_capacity()
        return [found.entry.key]

    def retrieve(self, query: Query) -> list[Found]:
        """Return the entry of a key (`id`), or those with the category and all tags, by text."""
        if query.id:
            if "key" not in self._indexes:
                return []
            return [_make_found(get(self._place, query.id).entry, 1.0)]
        wanted = query.categories if "category" in self._indexes else ()
        tags = query.tags if "tags" in self._indexes else ()
        some = {
            each.entry.key: each.entry
            for category in wanted or ("",)
            for each in find(self._place, category=category, tags=tags)
        }
        if not query.texts:
            listed = [_make_found(entry, 1.0) for entry in some.values()] if wanted or tags else []
            return listed[: query.limit]
        return self._rank_by_text(query, some)[: query.limit] if self._searchable else []

    def update(self, ident: str, content: Content) -> None:
        """Raise `RejectedError`: entries do not change."""
        del content
        raise RejectedError(
            f"cannot change '{ident}': static entries do not change",
            f"store another one, or remove it: memfs static rm {ident}",
        )

    def delete(self, ident: str) -> None:
        """Remove an entry. Raises `NotFoundError`."""
        remove(self._place, ident)

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return the entries of the required categories and tags, and those near to the task."""
        found: dict[str, Found] = {}
        categories = (*state.categories, *query.categories)
        for category in categories:
            for each in self.retrieve(Query(categories=(category,), limit=query.limit)):
                found[each.id] = each
        for tag in (*state.tags, *query.tags):
            for each in self.retrieve(Query(tags=(tag,), limit=query.limit)):
                found.setdefault(each.id, each)
        least = query.threshold or ABOUT
        if state.task:
            about = Query((state.task, *query.texts), limit=query.limit, threshold=least)
            for each in self.retrieve(about):
                found.setdefault(each.id, each)
        some = tuple(found.values())[: query.limit]
        return Relevant(some, confidence=1.0 if some else 0.0)

    def summarize(self) -> str:
        """Return each key with the first line of its entry."""
        return "\n".join(
            f"- {each.entry.key}: {each.entry.text.lstrip().partition(chr(10))[0][:100]}"
            for each in find(self._place)
        )

    def compress(self) -> int:
        """Do nothing: entries do not change. Returns 0."""
        return 0

    def archive(self, older_than: str) -> int:
        """Archive the entries that were stored before a time; return their number."""
        before = contents.format_time(older_than)
        return self._evict(lambda some: [each for each in some if each.created_at < before])

    def metrics(self) -> Metrics:
        """Return the number, the size and the time range of the entries."""
        some = [each.entry for each in find(self._place)]
        times = sorted(entry.created_at for entry in some if entry.created_at) or [""]
        return Metrics(len(some), sum(map(_size, some)), times[0], times[-1])

    def _rank_by_text(self, query: Query, some: dict[str, StaticEntry]) -> list[Found]:
        if not some:
            return []
        return self._index.ask("hybrid", lambda engine: _rank_by_text(engine, query, some))

    def _enforce_capacity(self) -> None:
        """Archive the oldest entries that are over the capacity."""
        if self.capacity.bounded:
            self._evict(self._select_excess)

    def _select_excess(self, some: Sequence[StaticEntry]) -> Sequence[StaticEntry]:
        """Return the oldest entries that are over the capacity."""
        now = clock.seconds()
        sizes = [(_size(entry), float(epoch(entry.created_at) or now)) for entry in some]
        total = sum(size for size, _ in sizes)
        return some[: self.capacity.excess(sizes, len(some), total, now)]

    def _evict(self, choose: Callable[[Sequence[StaticEntry]], Sequence[StaticEntry]]) -> int:
        """Archive the chosen entries of this place's own store, then remove them.

        Entries in the user's store beside a project's are left alone.
        """
        store = self._place.home
        with lock.hold_lock(store, name=static.LOCK):
            chosen = choose(sorted(static.list_entries(store), key=lambda entry: entry.created_at))
            for entry in chosen:
                tags = tuple(filter(None, ("static", entry.category, *entry.tags)))
                source = f"static {entry.key}"
                archive.write_passage(store, entry.text, importance=5, tags=tags, source=source)
                files.remove(static.path_of(store, entry.key))
        return len(chosen)


def from_config(
    index: IndexSession, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Static:
    """Make the kind from its configuration. Raises `UsageError`."""
    with Options(id, options) as given:
        return Static(
            index.place,
            id,
            capacity,
            index=index,
            indexes=given.read_words("indexes") or INDEXES,
            searchable=given.read_flag("searchable", default=True),
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
    tier = labels.USER if user else labels.PROJECT if place.project else labels.USER
    where, key, text = place.store(tier), _normalise_key(key), public(text)
    clean = tuple(dict.fromkeys(" ".join(tag.lower().split()) for tag in tags if tag.strip()))
    if not text.strip():
        raise UsageError("cannot store an empty text")
    if len(text) > archive.LONGEST:
        raise RejectedError(
            f"cannot store {len(text):,} characters, the limit is {archive.LONGEST:,}",
            "store what is looked up, in several entries",
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
    with lock.hold_lock(where, name=static.LOCK):
        try:
            static.write_entry(where, key, text, " ".join(category.lower().split()), clean)
        except static.TakenError as error:
            raise RejectedError(
                f"there is an entry '{key}' already, and entries do not change",
                f"store it under another key, or remove that one: memfs static rm {key}",
            ) from error
    return get(place, key, tier)


def get(place: Place, key: str, tier: str = "") -> StoredEntry:
    """Return the entry of a key, preferring the project's. Raises `NotFoundError`."""
    for name, where in place.list_lasting_tiers():
        entry = static.read(where, _normalise_key(key)) if tier in ("", name) else None
        if entry:
            return StoredEntry(name, entry)
    raise NotFoundError(f"there is no entry '{key}'", "memfs static list shows them")


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
    with lock.hold_lock(where, name=static.LOCK):
        files.remove(static.path_of(where, found.entry.key))
    return found


def _normalise_key(key: str) -> str:
    name = labels.normalise(key)
    wrong = labels.problem(name)
    if wrong:
        raise UsageError(f"{key!r} cannot be a key: {wrong}", "for example: style/python")
    return name


def _make_found(entry: StaticEntry, relevance: float) -> Found:
    metadata = {"category": entry.category, "tags": entry.tags, "changed": entry.changed}
    return Found(
        entry.key,
        "static",
        entry.text,
        relevance,
        entry.created_at,
        "",
        f"static/{entry.key}",
        f"static {entry.key}",
        metadata,
    )


def _size(entry: StaticEntry) -> int:
    return len(entry.text.encode("utf-8", "replace"))


def _rank_by_text(engine: Engine, query: Query, some: dict[str, StaticEntry]) -> list[Found]:
    only = Filter(kinds=("static",))
    keys: dict[str, None] = {}
    for text in query.texts:
        page = engine.search(text, mode=scoring.mode(engine), only=only, limit=3 * query.limit)
        keys |= {hit.label: None for hit in page.hits if hit.label in some}
    texts = [f"{key} {some[key].text[:_LOOKED_AT]}" for key in keys]
    near = scoring.relevances(query.texts, texts, words=engine.vectors is None)
    pairs = sorted(zip(near, keys, strict=True), key=lambda pair: -pair[0])
    return [_make_found(some[key], score) for score, key in pairs if score >= query.threshold]
