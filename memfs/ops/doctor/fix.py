"""Fix blocks, modes and temporary files. Nothing is lost; a second run finds nothing to do."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count

from memfs import files
from memfs.core import block_problems
from memfs.core import label as labels
from memfs.core.errors import LockedError, MemfsError
from memfs.core.records import Origin
from memfs.files import atomic, outside
from memfs.ops.doctor import hosts, stores
from memfs.ops.doctor.finding import Finding, confirm, fail
from memfs.secrets import redact
from memfs.store import blocks, clock, local_folder, lock, store_paths, writer
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.store.writer import Change
from memfs.sync import instruction_sections

_BY_DOCTOR = Origin("user", reason="by memfs doctor")


def blocks_of(place: Place) -> Iterator[Finding]:
    """Fix the files of blocks, except links and files too large to read."""
    try:
        listed = blocks.paths(place)
    except OSError:  # the folder of all blocks cannot be read
        return
    yield from _resolve_clashes(place, listed)
    for tier, label, path in blocks.paths(place):
        try:
            raw = blocks.read_whole_block(path)
            if raw is not None and block_problems.mend(raw)[1]:
                yield from _mend_block(place, tier, label, path)
        except (MemfsError, OSError) as error:
            if not isinstance(error, PermissionError | MemfsError):
                yield fail(f"cannot repair {path}: {error}")


def stores_of(place: Place) -> Iterator[Finding]:
    """Make private files private again, and move temporary files of killed runs to the backup."""
    for store in place.stores():
        yield from _put_away(store, hosts.list_temp_files(store))
        if found := stores.open_to_others(store):
            for path in found:
                stores.close(path)
            yield confirm(f"{store.tier} store: {len(found):,} files and folders made private")


def settings_of(place: Place, home: str) -> Iterator[Finding]:
    """Move temporary files of killed runs beside settings files to the backup."""
    yield from _put_away(place.home, hosts.list_temp_settings(place, home))


def _mend_block(place: Place, tier: str, label: str, path: str) -> Iterator[Finding]:
    store = place.store(tier)
    with writer.writing(store, place) as store_writer:
        text, version = store_writer.adopt_current(tier, label, path)
        after, done = block_problems.mend(text or "")
        if text is None or not done:  # another process fixed it
            return
        what = "; ".join(done.values())
        backup = _write_backup(store, label, text)
        change = Change(tier, label, path, text, after, "mend", version + 1, what)
        store_writer.commit([change], _BY_DOCTOR)
    note = instruction_sections.finish_edit(place, [change], _BY_DOCTOR)
    yield _make_finding(f"{labels.qualify(tier, label)}: {what}", backup, note)


def _resolve_clashes(place: Place, known: list[tuple[str, str, str]]) -> Iterator[Finding]:
    taken = {(tier, label) for tier, label, _ in known}
    seen: dict[tuple[str, str], str] = {}
    for tier, label, path in known:
        first = seen.setdefault((tier, label), path)
        if first == path or labels.problem(label):
            continue
        numbered = (f"{label[: labels.MAX_LENGTH - 6]}-{number}" for number in count(2))
        new = next(
            each
            for each in numbered
            if (tier, each) not in taken and not os.path.lexists(blocks.path_of(place, tier, each))
        )
        taken.add((tier, new))
        store = place.store(tier)
        target = blocks.path_of(place, tier, new)
        with writer.writing(store, place) as store_writer:
            try:
                text = blocks.read_whole_block(path)
            except (MemfsError, OSError):
                continue
            if text is None:
                continue
            _, version = store_writer.adopt_current(tier, new, target)
            backup = _write_backup(store, label, text)
            reason = f"{os.path.basename(path)} had the same label as {os.path.basename(first)}"
            change = Change(tier, new, target, None, text, "create", version + 1, reason)
            store_writer.commit([change], _BY_DOCTOR)
            files.remove(path)
            files.sync_folder(os.path.dirname(path))
        gone = Change(tier, label, path, text, None, "rename", version + 1)
        note = instruction_sections.finish_edit(place, [change, gone], _BY_DOCTOR)
        name = labels.qualify(tier, new)
        yield _make_finding(f"{path} is now the block '{name}'", backup, note)


def _make_finding(what: str, backup: str, note: str) -> Finding:
    hint = f"the old file was saved as {backup}"
    return confirm(what, f"{hint} ({note})" if note else hint)


def _write_backup(store: Store, name: str, text: str) -> str:
    path = _make_backup_path(store, name) + blocks.SUFFIX
    atomic.write(path, redact(text), private=True)
    return path


def _make_backup_path(store: Store, name: str) -> str:
    local_folder.make(store)
    folder = f"{store.local}/backup"
    files.make_folder(folder, private=True)
    return f"{folder}/{clock.unique()}-{store_paths.file_name(name.replace('/', '-').lstrip('.'))}"


def _put_away(store: Store, found: list[str]) -> Iterator[Finding]:
    """Move temporary files to the backup; those that name no process, under the writers' locks."""
    if not found:
        return
    with ExitStack() as stack:
        locked = True
        try:
            stack.enter_context(lock.hold_lock(store, 1.0, lock.INGEST))
            stack.enter_context(lock.hold_lock(store))
        except LockedError:
            locked = False
        for path in found:
            name = os.path.basename(path)
            if (locked or hosts.names_process(name)) and os.path.lexists(path):
                backup = _make_backup_path(store, name)
                data = outside.read(path)  # it may be on another disk
                if data is not None:
                    atomic.write_private(backup, files.encode(data))
                files.remove(path)
                yield confirm(f"moved {path}, left by an interrupted run, to {backup}")
