"""The story of a round: which step every journalled edit is, and that it did what it was for."""

import re
from collections.abc import Iterator

from tests.stress.journals import Entry
from tests.stress.steps import UNDO, Noted
from tests.stress.workers import EDITOR

_ADOPT = "adopt"
_UNDONE = re.compile(r"undo of version (\d+)")
Claims = dict[tuple[str, int], Noted]  # (block file, version) -> who says to have made it
Lots = dict[tuple[str, str], Noted]  # ("+" or "-", line) -> who was to add it or to take it out


def lines(text: str | None) -> list[str]:
    """Return the lines of a block's body."""
    return (text or "").partition("\n---\n")[2].splitlines()


def told(entries: dict[str, list[Entry]], noted: list[Noted]) -> Iterator[str]:
    """Every edit is a step's, did what it was for and nothing else; every step happened as noted."""
    made: dict[tuple[str, str], list[Entry]] = {}  # (step, block file) -> entries
    lots, claims = drawn(noted), claimed(noted)
    saved = {part.text for n in noted if n.step.road == EDITOR for part in n.step.parts}
    for key, mine in entries.items():
        for index, entry in enumerate(mine):
            before = mine[index - 1] if index else None
            note = owner(entry, lots)
            if entry.op == UNDO:
                yield from _undo(entry, mine)
            elif entry.op == _ADOPT:
                yield from _adopted(entry, before, saved, claims)
            elif note is None:
                yield f"{key} version {entry.version} ({entry.op}) is nobody's"
            else:
                made.setdefault((note.step.name, key), []).append(entry)
                yield from _exact(entry, note)
    yield from _as_noted(entries, noted, made)
    yield from _saved(noted, entries)


def _as_noted(
    entries: dict[str, list[Entry]], noted: list[Noted], made: dict[tuple[str, str], list[Entry]]
) -> Iterator[str]:
    """What was acknowledged is journalled with its version, what was refused is not, all once."""
    at = {(key, entry.version): entry for key, mine in entries.items() for entry in mine}
    owners: dict[tuple[str, int], str] = {}
    for note in noted:
        step = note.step
        if step.road == EDITOR:
            continue
        undo = step.parts[0].op == UNDO
        there = {key for key in step.keys if (step.name, key) in made}
        if any(len(made[step.name, key]) > 1 for key in there):
            yield f"{step.name} was journalled more than once"
        if note.done and note.done.keys() != step.keys:
            yield f"{step.name} was acknowledged for {sorted(note.done)}, not {sorted(step.keys)}"
        if there and there != step.keys:
            yield f"{step.name} is half there: {sorted(there)} of {sorted(step.keys)}"
        if note.refused and there:
            yield f"{step.name} was refused ({note.refused}), and is there"
        for key, version in note.done.items():
            if (key, version) in owners:
                yield f"{key} version {version} was acknowledged to {owners[key, version]} and {step.name}"
            owners[key, version] = step.name
            entry = at.get((key, version))
            fits = entry is not None and (
                entry.op == UNDO if undo else made.get((step.name, key)) == [entry]
            )
            if not fits:
                yield f"{step.name} was acknowledged as {key} version {version}, which it is not"


def drawn(noted: list[Noted]) -> Lots:
    """Return whose lines are whose: nobody adds or takes out what another does."""
    parts = [(note, part) for note in noted for part in note.step.parts]
    return {("+", part.text): note for note, part in parts if part.text} | {
        ("-", part.old): note for note, part in parts if part.old
    }


def owner(entry: Entry, lots: Lots) -> Noted | None:
    """Return whose edit an entry is, by the lines that it adds, else by those that it takes out."""
    before, after = set(lines(entry.before)), set(lines(entry.after))
    changed = [("+", x) for x in sorted(after - before)] + [
        ("-", x) for x in sorted(before - after)
    ]
    return next((lots[line] for line in changed if line in lots), None)


def claimed(noted: list[Noted]) -> Claims:
    return {
        (key, version): note
        for note in noted
        if note.step.road != EDITOR
        for key, version in note.done.items()
    }


def _exact(entry: Entry, note: Noted) -> Iterator[str]:
    """Check that an edit added and removed the lines of its step, and moved no other."""
    before, after = lines(entry.before), lines(entry.after)
    added, removed = note.step.change(entry.key)
    if (set(after) - set(before), set(before) - set(after)) != (added, removed):
        yield f"{entry.key} version {entry.version} is not what {note.step.name} was to do"
    if [x for x in before if x not in removed] != [x for x in after if x not in added]:
        yield f"{entry.key} version {entry.version} changed other lines than those of {note.step.name}"


def _undo(entry: Entry, mine: list[Entry]) -> Iterator[str]:
    """An undo is the very reverse of an edit that no other undo took back."""
    found = _UNDONE.match(entry.reason)
    number = int(found[1]) if found else 0
    target = next((other for other in mine if other.version == number), None)
    name = f"{entry.key} version {entry.version}"
    if target is None or target.op == UNDO:
        yield f"{name} undoes {number or entry.reason!r}, which is no edit"
    elif (entry.before, entry.after) != (target.after, target.before):
        yield f"{name} is not the reverse of version {number}"
    earlier = [o for o in mine if o.op == UNDO and o.version < entry.version]
    if any((again := _UNDONE.match(o.reason)) and int(again[1]) == number for o in earlier):
        yield f"{name} undoes version {number} a second time"


def _adopted(entry: Entry, before: Entry | None, saved: set[str], claims: Claims) -> Iterator[str]:
    """What is adopted is what the editor saved, over the text that it found.

    That text is not yet the newest one where a writer was killed between journal and file: its
    step was never acknowledged, and gives way.
    """
    after = lines(entry.after)
    bases = [lines(entry.before)]
    if before and before.op != _ADOPT and (entry.key, before.version) not in claims:
        bases.append(lines(before.before))
    for base in bases:
        new = saved.intersection(after).difference(base)
        if new and [line for line in after if line not in new] == base:
            return
    yield f"{entry.key} version {entry.version} was adopted, and is not what the editor saved"


def _saved(noted: list[Noted], entries: dict[str, list[Entry]]) -> Iterator[str]:
    """What the editor saved was adopted, once."""
    adopted: dict[str, int] = {}
    for mine in entries.values():
        for entry in mine:
            if entry.op == _ADOPT:
                for line in set(lines(entry.after)) - set(lines(entry.before)):
                    adopted[line] = adopted.get(line, 0) + 1
    for note in noted:
        if note.step.road == EDITOR and note.done and adopted.get(note.step.parts[0].text) != 1:
            yield f"{note.step.name} was adopted {adopted.get(note.step.parts[0].text, 0)} times"
