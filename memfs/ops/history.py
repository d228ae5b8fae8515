"""The history of blocks: log, diff, blame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from memfs.core import changes
from memfs.core.block import Block
from memfs.core.formats import parse
from memfs.core.records import JournalEntry
from memfs.store import block_history, blocks
from memfs.store.blocks import Place

Source = TypeVar("Source")


@dataclass(frozen=True)
class Diff:
    """A unified diff between two states of a block (version or commit); "" if they are equal."""

    label: str
    old: str
    new: str
    text: str


@dataclass(frozen=True)
class BlameLine:
    """A line of a block, and the entry that added it; None for lines older than the journal."""

    text: str
    source: JournalEntry | None


def log(place: Place, label: str = "", limit: int = 0, since: int = 0) -> list[JournalEntry]:
    """Return the entries of the journal and git, newest first, of one block or of all tiers.

    `since` is the time of the first one in seconds since 1970, 0 for all.
    """
    if not since:
        return block_history.read(place, label, limit)
    moments = ((parse(entry.at), entry) for entry in block_history.read(place, label))
    found = [entry for at, entry in moments if at and at.timestamp() >= since]
    return found[:limit] if limit else found


def blame(place: Place, label: str) -> list[BlameLine]:
    """Return the current lines of a block, each with the edit or commit that added it."""
    found = block_history.read(place, label)[::-1]
    block = blocks.get(place, label)
    states: list[tuple[str, JournalEntry | None]] = []
    if found and found[0].before is not None:
        states.append((_parse_value(block, found[0].before), None))
    states += [(_parse_value(block, entry.after), entry) for entry in found]
    states.append((block.value, None))
    return [BlameLine(text, source) for text, source in attribute_lines(states)]


def diff(place: Place, label: str, old: str = "", new: str = "") -> Diff:
    """Compare two states of a block; by default its last change."""
    old, new = (block_history.resolve_version(place, label, each) for each in (old, new))
    found = block_history.read(place, label)
    if not found:
        blocks.get(place, label)
        return Diff(label, "", "", "")
    last = found[0]
    if not old:
        earlier = "before" if last.op == block_history.COMMIT else str(last.version - 1)
        return _diff(label, earlier, block_history.name_state(last), last.before, last.after)
    journalled = [entry for entry in found if entry.op != block_history.COMMIT]
    first = min(journalled, key=lambda entry: entry.version, default=None)
    is_start = (
        old == "0" if first is None else first.before is None and old == str(first.version - 1)
    )  # the state before the block existed
    before = None if is_start else block_history.read_version(place, label, old)
    after = block_history.read_version(place, label, new) if new else last.after
    return _diff(label, old, new or block_history.name_state(last), before, after)


def _diff(label: str, old: str, new: str, before: str | None, after: str | None) -> Diff:
    text = changes.of_blocks(before, after, f"{label}@{old}", f"{label}@{new}")
    return Diff(label, old, new, text)


def _parse_value(block: Block, text: str | None) -> str:
    return "" if text is None else blocks.make(block.tier, block.label, "", text).value


def attribute_lines(states: Sequence[tuple[str, Source]]) -> list[tuple[str, Source]]:
    """Return the lines of the last text, each with the source of the state that added it.

    `states` are (text, source), oldest first. A line that is removed and added again (an undo)
    keeps the source that it had.
    """
    lines: list[str] = []
    sources: list[Source] = []
    gone: dict[str, Source] = {}
    for text, source in states:
        new = text.split("\n") if text else []
        kept: list[Source] = []
        end = 0
        for a, b, c, d in changes.find_replacements(lines, new):
            kept += sources[end:a]
            gone.update(zip(lines[a:b], sources[a:b], strict=True))
            kept += [gone.get(line, source) for line in new[c:d]]
            end = b
        sources = kept + sources[end:]
        lines = new
    return list(zip(lines, sources, strict=True))
