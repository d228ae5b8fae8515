"""Mend blocks, modes and leftovers: nothing is lost, and a second time there is nothing to do."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from memfs import files
from memfs.core import label as labels
from memfs.core import repair
from memfs.core.errors import LockedError, MemfsError
from memfs.core.records import Origin
from memfs.files import atomic, outside
from memfs.ingest import transcripts
from memfs.ops.doctor import permissions, temp_files
from memfs.ops.doctor.finding import Finding
from memfs.store import blocks, clock, local_folder, lock, store_paths, writer
from memfs.store.writer import Change
from memfs.sync import instruction_sections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

_BY_DOCTOR = Origin("user", reason="by memfs doctor")


def blocks_of(place: Place) -> Iterator[Finding]:
    """Mend the files of blocks. Links are left alone, and what is too large to be read."""
    try:
        listed = blocks.paths(place)
    except OSError:  # the folder of all blocks cannot be read
        return
    yield from _clashes(place, listed)
    for tier, label, path in blocks.paths(place):
        try:
            raw = blocks.read_whole_block(path)
            if raw is not None and repair.mend(raw)[1]:
                yield from _mended(place, tier, label, path)
        except (MemfsError, OSError) as error:
            if not isinstance(error, PermissionError | MemfsError):
                yield Finding("error", f"{path} cannot be mended: {error}")


def stores_of(place: Place) -> Iterator[Finding]:
    """Close private files to others, and put what killed runs left out of the way."""
    done: set[str] = set()
    for _, store in place.list_tiers():
        if store.root in done:
            continue
        done.add(store.root)
        yield from _put_away(store, temp_files.of_store(store))
        closed = 0
        for path in permissions.open_to_others(store):
            permissions.close(path)
            closed += 1
        if closed:
            yield Finding("ok", f"{store.tier} store: {closed:,} files and folders made private")


def settings_of(place: Place, home: str) -> Iterator[Finding]:
    """Put what killed runs left beside settings files out of the way."""
    yield from _put_away(place.home, temp_files.of_settings(place, home))


def _mended(place: Place, tier: str, label: str, path: str) -> Iterator[Finding]:
    store = place.store(tier)
    with writer.writing(store, place) as made:
        text, version = made.adopt_current(tier, label, path)
        after, done = repair.mend(text or "")
        if text is None or not done:  # somebody was quicker
            return
        what = "; ".join(done.values())
        backup = _backup(store, label, text)
        change = Change(tier, label, path, text, after, "mend", version + 1, what)
        made.commit([change], _BY_DOCTOR)
    note = instruction_sections.finish_edit(place, [change], _BY_DOCTOR)
    yield _done(f"{labels.qualified(tier, label)}: {what}", backup, note)


def _clashes(place: Place, known: list[tuple[str, str, str]]) -> Iterator[Finding]:
    """Give the second of two files with one label a label of its own."""
    taken = {(tier, label) for tier, label, _ in known}
    seen: dict[tuple[str, str], str] = {}
    for tier, label, path in known:
        first = seen.setdefault((tier, label), path)
        if first == path or labels.problem(label):
            continue
        new = _free(place, tier, label, taken)
        taken.add((tier, new))
        store = place.store(tier)
        target = blocks.path_of(place, tier, new)
        with writer.writing(store, place) as made:
            try:
                text = blocks.read_whole_block(path)
            except (MemfsError, OSError):
                continue
            if text is None:
                continue
            _, version = made.adopt_current(tier, new, target)
            backup = _backup(store, label, text)
            reason = f"{os.path.basename(path)} had the label of {os.path.basename(first)}"
            change = Change(tier, new, target, None, text, "create", version + 1, reason)
            made.commit([change], _BY_DOCTOR)
            files.remove(path)
            files.sync_folder(os.path.dirname(path))
        gone = Change(tier, label, path, text, None, "rename", version + 1)
        note = instruction_sections.finish_edit(place, [change, gone], _BY_DOCTOR)
        yield _done(f"{path} is now {labels.qualified(tier, new)}", backup, note)


def _move(path: str, target: str) -> None:
    """Move a file into a store's backup, also from another disk, for its owner alone."""
    data = outside.read(path)
    if data is not None:
        atomic.write_private(target, files.encode(data))
    files.remove(path)


def _done(what: str, backup: str, note: str) -> Finding:
    hint = f"as it was: {backup}"
    return Finding("ok", what, f"{hint} ({note})" if note else hint)


def _free(place: Place, tier: str, label: str, taken: set[tuple[str, str]]) -> str:
    number = 2
    while True:
        new = f"{label[: labels.MAX_LENGTH - 6]}-{number}"
        if (tier, new) not in taken and not os.path.lexists(blocks.path_of(place, tier, new)):
            return new
        number += 1


def _backup(store: Store, name: str, text: str) -> str:
    path = _backup_path(store, name) + blocks.SUFFIX
    atomic.write(path, text, private=True)
    return path


def _backup_path(store: Store, name: str) -> str:
    local_folder.make(store)
    folder = f"{store.local}/backup"
    files.make_folder(folder, private=True)
    return f"{folder}/{clock.unique()}-{store_paths.file_name(name.replace('/', '-').lstrip('.'))}"


def _put_away(store: Store, found: list[str]) -> Iterator[Finding]:
    """Move temporary files into the backup: those without a process under the writers' locks."""
    if not found:
        return
    with ExitStack() as stack:
        locked = True
        try:
            stack.enter_context(lock.hold_lock(store))
            stack.enter_context(lock.hold_lock(store, 1.0, transcripts.LOCK))
        except LockedError:
            locked = False
        for path in found:
            name = os.path.basename(path)
            if (locked or temp_files.names_process(name)) and os.path.lexists(path):
                backup = _backup_path(store, name)
                _move(path, backup)
                yield Finding("ok", f"{path}, left by a killed run, was put away", f"in {backup}")
