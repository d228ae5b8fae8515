"""What happened in a memory over time: messages, edits, its growth, its cost, and its hooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, TypeVar

from memfs import files, hosts
from memfs.core import tokens
from memfs.core.formats import format_day
from memfs.core.records import JournalEntry
from memfs.store import blocks, clock, journal_query, prompt_log, sessions
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

Key = TypeVar("Key")

DAYS = 371  # that are shown: 53 weeks
_ENTRIES = 5000  # of the journal, the last ones
_PROMPTS = 2000  # the last ones


@dataclass(frozen=True)
class DayActivity:
    """One day (here, 2026-05-03): messages in sessions, and edits of blocks."""

    day: str
    messages: int
    edits: int


@dataclass(frozen=True)
class SessionCost:
    """What memory added to the prompts of a session; `tokens` are estimated."""

    host: str
    session: str
    prompts: int
    tokens: int


@dataclass(frozen=True)
class DayCost:
    """What memory added to the prompts of a day; `tokens` are estimated."""

    day: str
    prompts: int
    tokens: int


@dataclass(frozen=True)
class HookTimes:
    """The last runs of the hooks in one assistant, in milliseconds."""

    host: str
    runs: int
    median: float
    p95: float
    last: float


@dataclass(frozen=True)
class Timeline:
    """All of it. `growth` has (day, characters in blocks after it); `failures` are hook errors.

    `day_costs` has each day from the first one with prompts on.
    """

    days: tuple[DayActivity, ...]
    growth: tuple[tuple[str, int], ...]
    costs: tuple[SessionCost, ...]
    day_costs: tuple[DayCost, ...]
    hooks: tuple[HookTimes, ...]
    failures: int


def run(index: OpenStore, days: int = DAYS) -> Timeline:
    """Return what happened in the last `days` days. Raises `MemfsError`."""
    place = index.place
    entries = journal_query.list_entries(place)[-_ENTRIES:]
    said = index.ask("text", lambda engine: engine.count_by_day())
    return Timeline(
        tuple(_count_days(said, entries, days)),
        tuple(_measure_growth(place, entries)),
        tuple(_measure_costs(place)),
        measure_day_costs(place),
        tuple(each for name in hosts.NAMES if (each := _measure_hooks(place, name))),
        sum((files.read(f"{store.local}/hook.log") or "").count("\n") for store in place.stores()),
    )


def _count_days(
    messages: Counter[str], entries: Sequence[JournalEntry], days: int
) -> Iterable[DayActivity]:
    edits = Counter(format_day(entry.at) for entry in entries)
    last = date.fromisoformat(format_day(clock.seconds()))
    for number in range(days - 1, -1, -1):
        day = (last - timedelta(days=number)).isoformat()
        yield DayActivity(day, messages[day], edits[day])


def _measure_growth(place: Place, entries: Sequence[JournalEntry]) -> Iterable[tuple[str, int]]:
    """Yield the size of all blocks at the end of each day with edits, from what it is now."""
    size = sum(block.chars for block in blocks.load(place))
    found: dict[str, int] = {}
    for entry in reversed(entries):
        found.setdefault(format_day(entry.at), size)
        size -= len(entry.after or "") - len(entry.before or "")
    return ((day, max(0, size)) for day, size in reversed(found.items()))


def _measure_costs(place: Place) -> Iterable[SessionCost]:
    found = _count_prompts(place, lambda record: (record.host, record.session))
    return (SessionCost(*key, *cost) for key, cost in reversed(found.items()))


def measure_day_costs(place: Place) -> tuple[DayCost, ...]:
    """Return what prompts were given by day, from the first day in the log until today."""
    found = _count_prompts(place, lambda record: date.fromisoformat(format_day(record.at)))
    if not found:
        return ()
    last = date.fromisoformat(format_day(clock.seconds()))
    first = max(min(found), last - timedelta(days=DAYS - 1))
    span = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return tuple(DayCost(day.isoformat(), *found.get(day, (0, 0))) for day in span)


def _count_prompts(
    place: Place, get_key: Callable[[PromptRecord], Key]
) -> dict[Key, tuple[int, int]]:
    """Count the last prompts and the tokens added to them by a key, the oldest first."""
    found: dict[Key, tuple[int, int]] = {}
    for record in reversed(prompt_log.read(place.home, _PROMPTS)):
        key = get_key(record)
        prompts, added = found.get(key, (0, 0))
        found[key] = prompts + 1, added + (tokens.estimate(record.text) if record.text else 0)
    return found


def _measure_hooks(place: Place, host: str) -> HookTimes | None:
    found = sessions.list_runs(place.home, host)
    if not found:
        return None
    times = sorted(milliseconds for _, _, milliseconds in found)
    median, p95 = (times[min(len(times) - 1, int(len(times) * part))] for part in (0.5, 0.95))
    return HookTimes(host, len(times), median, p95, found[-1][1])
