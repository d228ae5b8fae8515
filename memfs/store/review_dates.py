"""The dates after which a text is to be looked at again, or does not hold: in its front matter."""

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from memfs import files
from memfs.core import frontmatter
from memfs.core.formats import format_day
from memfs.core.records import Fact
from memfs.store import archive, blocks, clock, facts, static
from memfs.store.blocks import Place
from memfs.store.file_cache import FileCache

KEYS = ("review_after", "expires_at")


class DueText(NamedTuple):
    """A text with a date that is past, or that is none (`day` is "" then).

    `kind` is block, static, passage or fact, and `name` its label, key or id. `key` is one of
    `KEYS`, `value` what stands there.
    """

    tier: str
    kind: str
    name: str
    path: str
    key: str
    value: str
    day: str

    def describe(self) -> str:
        """Return what to say of it: `block shop (review_after 2026-01-31)`."""
        return f"{self.kind} {self.name} ({self.key} {self.day or self.value})"


def read_dates(meta: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Yield (key, value, day) of the dates in front matter; the day of what is none is ""."""
    for key in KEYS:
        value = str(meta.get(key) or "").strip()
        try:
            day = datetime.fromisoformat(value).strftime("%Y-%m-%d") if value else ""
        except ValueError:
            day = ""
        if value:
            yield key, value, day


def find_due(meta: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Yield those of `read_dates` that are past, and those that are no dates."""
    today = format_day(clock.seconds())
    return (each for each in read_dates(meta) if each[2] < today)


def describe_dates(meta: Mapping[str, object]) -> str:
    """Return the dates of a text: `review after 2026-01-31 (in the past)`; "" for none."""
    late = {key: "in the past" if day else "not a date" for key, _, day in find_due(meta)}
    return ", ".join(
        f"{key.replace('_', ' ')} {day or value}" + (f" ({late[key]})" if key in late else "")
        for key, value, day in read_dates(meta)
    )


def list_due(
    place: Place, most: int = 0, cache: FileCache[dict[str, Fact]] | None = None
) -> list[DueText]:
    """Return what is past its date in a place, and dates that are none, the oldest first.

    Passages are left out of a store that has more than `most` of them (0: any number). `cache` has
    the facts that were read already.
    """
    found = []
    for tier, kind, name, path in _list_files(place, most):
        text = files.read(path) or ""
        if any(key in text for key in KEYS):
            meta = blocks.front_matter(frontmatter.split(text)[0])
            found += [DueText(tier, kind, name, path, *each) for each in find_due(meta)]
    for tier, store in place.list_lasting_tiers():
        for fact in facts.load_facts(store, cache).values():
            meta = {key: date for key in KEYS if (date := getattr(fact, key))}
            for each in find_due(meta) if meta and fact.holds else ():
                found.append(DueText(tier, "fact", fact.id, "", *each))
    return sorted(found, key=lambda each: (each.day, each.kind, each.name))


def _list_files(place: Place, most: int) -> Iterator[tuple[str, str, str, str]]:
    for tier, label, path in blocks.paths(place):
        yield tier, "block", label, path
    for tier, store in place.list_lasting_tiers():
        yield from ((tier, "static", key, path) for key, path in static.sources(store))
        passages = archive.sources(store)
        for path in passages if not most or len(passages) <= most else ():
            yield tier, "passage", os.path.basename(path).removesuffix(archive.SUFFIX), path
