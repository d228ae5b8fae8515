"""Facts on disk: files `<yyyy-mm>.jsonl` of lines that are only added, so that git can unite them.

Accepted ones are in `facts/`, which is committed, the others in `local/facts/`. The latest revision
of a fact counts. A line that cannot be read is left alone.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from itertools import chain

from memfs import files
from memfs.core.records import ACCEPTED, ARCHIVED, STATUSES, Fact
from memfs.files import signatures, trees
from memfs.files.logs import JsonLog, have_type
from memfs.store import local_folder, quarantine
from memfs.store.file_cache import FileCache
from memfs.store.store_paths import Store

FOLDER = "facts"
SUFFIX = ".jsonl"
_UNDATED = "undated"
_MONTH = re.compile(r"\d{4}-\d\d")
_NO_SOURCE = Fact("", "", 0, "")


def sources(store: Store) -> list[str]:
    """List the files with facts, the committed ones first."""
    walked = trees.walk(f"{store.local}/{FOLDER}", levels=1)
    local = sorted(each.path for each in walked if each.name.endswith(SUFFIX))
    return [*_list_committed(store), *local]


def _list_committed(store: Store) -> list[str]:
    return [path for _, path in quarantine.list_files(store, FOLDER, SUFFIX, levels=1)]


def read(path: str) -> dict[str, Fact]:
    """Return the facts of one file by id, each in its latest revision."""
    found: dict[str, Fact] = {}
    for fact, _ in _LOG.read(path):
        if fact and (fact.id not in found or fact.revision >= found[fact.id].revision):
            found[fact.id] = fact
    return found


def list_damage(store: Store) -> list[tuple[str, list[int]]]:
    """List the files with lines that are no fact, and the numbers of these lines from 1."""
    return [(path, wrong) for path in sources(store) if (wrong := _LOG.find_damaged(path))]


def make_cache() -> FileCache[dict[str, Fact]]:
    """Return a cache of facts, for a process that loads them often."""
    return FileCache(read)


def load_facts(store: Store, cache: FileCache[dict[str, Fact]] | None = None) -> dict[str, Fact]:
    """Return all facts of a store by id, the oldest first.

    A committed fact names its source where this machine knows it.
    """
    found: dict[str, Fact] = {}
    for path in sources(store):
        facts = cache.read(path, signatures.sign_file(path)) if cache else read(path)
        for ident, fact in facts.items():
            known = found.get(ident, fact)
            newest, other = (fact, known) if fact.revision > known.revision else (known, fact)
            found[ident] = newest if newest.session else _set_source(newest, other)
    return dict(sorted(found.items(), key=lambda pair: (pair[1].at, pair[0])))


def write_facts(store: Store, facts: Iterable[Fact]) -> int:
    """Add facts, or new revisions of them; return how many. The caller holds the lock of kinds.

    What a person accepted is committed, and so is what is committed already; the rest stays local.
    Raises `OSError` where a link is in the way.
    """
    facts = list(facts)
    known = {ident for path in _list_committed(store) for ident in read(path)}
    shared = [fact for fact in facts if fact.status == ACCEPTED or fact.id in known]
    ids = {fact.id for fact in shared}
    _append(f"{store.root}/{FOLDER}", [_set_source(fact, _NO_SOURCE) for fact in shared],
            private=store.private)  # fmt: skip
    local_folder.make(store)
    own = [replace(fact, status=ARCHIVED) if fact.id in ids else fact for fact in facts]
    _append(f"{store.local}/{FOLDER}", [fact for fact in own if fact.session or fact.id not in ids],
            private=True)  # fmt: skip
    return len(facts)


def _append(folder: str, facts: Iterable[Fact], *, private: bool) -> None:
    by_month: dict[str, list[Fact]] = {}
    for fact in facts:
        month = fact.at[:7] if _MONTH.fullmatch(fact.at[:7]) else _UNDATED
        by_month.setdefault(month, []).append(fact)
    for month, some in by_month.items():
        files.make_folder(folder, private=private)
        _LOG.append(f"{folder}/{month}{SUFFIX}", some, private=private)


def _set_source(fact: Fact, other: Fact) -> Fact:
    return replace(fact, host=other.host, session=other.session, message=other.message)


def compact_file(path: str) -> int:
    """Leave the last revision of each fact in a file; return how many lines that saved.

    Lines that cannot be read stay. The caller holds the lock of kinds.
    """
    latest = read(path)

    def find_latest(fact: Fact) -> Fact | None:
        return latest.pop(fact.id) if latest.get(fact.id) == fact else None

    return _LOG.rewrite(path, find_latest)


def remove_facts(store: Store, is_gone: Callable[[Fact], bool]) -> int:
    """Write the files of a store without the facts that `is_gone` names; return how many they were.

    A fact goes with all its revisions, and of another each that `is_gone` names; lines that cannot
    be read stay. The caller holds the lock of kinds.
    """
    gone = {ident for ident, fact in load_facts(store).items() if is_gone(fact)}
    for path in sources(store):
        _LOG.rewrite(path, lambda fact: None if fact.id in gone or is_gone(fact) else fact)
    return len(gone)


def _encode_fact(fact: Fact) -> bytes:
    found = {key: value for key, value in asdict(fact).items() if value not in ("", (), 0, False)}
    return files.encode(json.dumps(found, ensure_ascii=False) + "\n")


def _decode_fact(line: bytes) -> Fact | None:
    """Return the fact of a line; None if it is none: the file may have come with a clone."""
    found = json.loads(line.decode("utf-8", "replace"))
    lists = [found.pop(name, []) for name in ("entities", "over", "relations")]
    entities, over, relations = lists
    if not have_type(list, *lists, *relations):
        return None
    triples = tuple((a, b, c) for a, b, c in relations)
    fact = Fact(**found, entities=tuple(entities), over=tuple(over), relations=triples)
    names = (fact.id, fact.category, fact.at, fact.session, fact.host, fact.key, fact.message)
    words = (*names, fact.statement, fact.by, fact.extractor, *entities, *over, *chain(*relations))
    words += (fact.review_after, fact.expires_at)
    good = type(fact.confidence) in (int, float) and 0 <= fact.confidence <= 1
    good = good and have_type(str, *words) and _is_encodable("".join(words))
    good = good and have_type(int, fact.revision) and have_type(bool, fact.personal)
    return fact if good and fact.status in STATUSES and fact.statement else None


def _is_encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


_LOG = JsonLog(_encode_fact, _decode_fact, shared=True)
