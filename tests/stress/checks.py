"""What must hold when all is quiet: ledgers, journals and files tell the same story.

Nothing of memfs is used here: what is checked is what is on the disk.
"""

import fcntl
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tests.stress import story
from tests.stress.journals import Entry, Journal
from tests.stress.steps import Noted, whole
from tests.stress.world import World

_CALM = ("Claude Code is not wired to memfs",)


@dataclass(frozen=True)
class Found:
    """How many edits were journalled, those of killed steps among them, and what was wrong."""

    journalled: int
    overtaken: int
    failures: list[str]


def check(world: World, noted: list[Noted]) -> Found:
    """Check everything, and say of each thing that is wrong where it is."""
    journals = {tier: Journal(root / "local") for tier, root in world.stores.items()}
    entries: dict[str, list[Entry]] = {key: [] for key in world.files()}
    for journal in journals.values():
        for entry in journal.entries:
            if entry.key in entries:  # those that init made are nobody's
                entries[entry.key].append(entry)
    texts = {key: path.read_bytes().decode() for key, path in world.files().items()}
    failures = [
        *(f"{tier}: {what}" for tier, journal in journals.items() for what in journal.wrong()),
        *_chains(entries, texts),
        *story.told(entries, noted),
        *_lines(texts),
        *_locks(world),
        *_leftovers(world),
    ]
    lots = story.drawn(noted)
    owners = [story.owner(entry, lots) for mine in entries.values() for entry in mine]
    done = {note.step.name for note in owners if note}
    overtaken = sum(n.step.name in done for n in noted if not n.done and not n.refused)
    return Found(sum(map(len, entries.values())), overtaken, failures)


def _chains(entries: dict[str, list[Entry]], texts: dict[str, str]) -> Iterator[str]:
    """Versions count on without gaps, each edit begins where the last ended, the last is the file."""
    for key, mine in entries.items():
        versions = [entry.version for entry in mine]
        if versions != list(range(2, len(mine) + 2)):  # the file came into the store as version 1
            yield f"{key}: the versions of its {len(mine)} edits are {versions}"
        for old, new in pairwise(mine):
            if new.before != old.after:
                yield f"{key}: version {new.version} does not begin where {old.version} ended"
        if not mine or mine[-1].after != texts[key]:
            yield f"{key}: the file is not what its last edit wrote"


def _lines(texts: dict[str, str]) -> Iterator[str]:
    """Every line is whole, and there once."""
    for key, text in texts.items():
        found = Counter(story.lines(text))
        for line, count in found.items():
            if not whole(line):
                yield f"{key}: half a line: {line!r}"
            elif count > 1:
                yield f"{key}: {count} times: {line!r}"


def _locks(world: World) -> Iterator[str]:
    for root in world.stores.values():
        for path in [*(root / "local").glob("lock"), *(root / "local").glob("*.lock")]:
            with open(path, "rb") as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    yield f"{path} is still held"


def _leftovers(world: World) -> Iterator[str]:
    """Every file was written once more after the last kill, and took over what that left."""
    for folder in (*world.stores.values(), *world.trees.values()):
        for path in folder.rglob(".*"):
            if path.name.endswith((".tmp", ".edited")):
                yield f"{path} was left"


def doctor(world: World) -> Iterator[str]:
    """`memfs doctor` finds nothing either."""
    for tree in world.trees:
        for finding in json.loads(world.memfs("doctor", "--json", tree=tree).stdout):
            if finding["level"] != "ok" and finding["text"] not in _CALM:
                yield f"doctor in {tree or 'main'}: {finding['text']}"
