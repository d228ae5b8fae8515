"""Facts on disk: `facts/<yyyy-mm>.jsonl`, lines that are only added, so that git can unite them.

A fact whose status changes is written again with its next revision; the latest one counts, whatever
the order of the lines. A line that cannot be read is left alone.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from memfs.core.facts import STATUSES, Fact
from memfs.store import files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.store.layout import Store

FOLDER = "facts"
SUFFIX = ".jsonl"
LOCK = "facts.lock"
_UNDATED = "undated"
_CAP = 1 << 30  # bytes


def sources(store: Store) -> list[str]:
    """List the files with facts; links that leave the store are left out."""
    folder = f"{store.root}/{FOLDER}"
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [f"{folder}/{name}" for name in names if name.endswith(SUFFIX)]
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]


def read(path: str) -> dict[str, Fact]:
    """Return the facts of one file by id, each in its latest revision."""
    found: dict[str, Fact] = {}
    for line in (files.read(path, cap=_CAP) or "").splitlines():
        fact = _parsed(line)
        if fact and (fact.id not in found or fact.revision >= found[fact.id].revision):
            found[fact.id] = fact
    return found


def every(store: Store) -> dict[str, Fact]:
    """Return all facts of a store by id, the oldest first."""
    found: dict[str, Fact] = {}
    for path in sources(store):
        for ident, fact in read(path).items():
            if ident not in found or fact.revision > found[ident].revision:
                found[ident] = fact
    return dict(sorted(found.items(), key=lambda pair: (pair[1].at, pair[0])))


def add(store: Store, facts: Iterable[Fact]) -> int:
    """Add facts, or new revisions of them; return how many. The caller holds `LOCK`."""
    by_month: dict[str, list[Fact]] = {}
    for fact in facts:
        month = fact.at[:7] if len(fact.at) >= 7 else _UNDATED
        by_month.setdefault(month, []).append(fact)
    for month, some in by_month.items():
        folder = f"{store.root}/{FOLDER}"
        files.make_folder(folder, private=store.private)
        path = f"{folder}/{month}{SUFFIX}"
        lines = "".join(json.dumps(_record(each), ensure_ascii=False) + "\n" for each in some)
        before = files.read(path, cap=_CAP) or ""
        start = "\n" if before and not before.endswith("\n") else ""  # a kill tore the last line
        files.append(path, files.encode(start + lines), private=store.private)
    return sum(map(len, by_month.values()))


def _record(fact: Fact) -> dict[str, object]:
    """Return a fact as it is written: what is empty is left out."""
    return {key: value for key, value in asdict(fact).items() if value not in ("", (), 0)}


def _parsed(line: str) -> Fact | None:
    try:
        found = json.loads(line)
        relations = tuple((str(a), str(b), str(c)) for a, b, c in found.pop("relations", ()))
        entities = tuple(map(str, found.pop("entities", ())))
        over = tuple(map(str, found.pop("over", ())))
        fact = Fact(**found, entities=entities, over=over, relations=relations)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    texts = (fact.id, fact.statement, fact.category, fact.at, fact.session, fact.host)
    good = all(isinstance(each, str) for each in texts) and fact.status in STATUSES
    number = isinstance(fact.confidence, int | float) and isinstance(fact.revision, int)
    return fact if good and number and fact.statement else None
