"""Check stores: configuration, journal, modes, temporary files, git, failed hook calls."""

import os
import stat
import sys
from collections.abc import Iterator
from itertools import chain, islice

from memfs import files, hosts
from memfs.core import label as labels
from memfs.core import os_errors
from memfs.core.formats import format_count
from memfs.files import trees
from memfs.hosts import settings_merge
from memfs.ops.doctor.finding import Finding, confirm, fail, warn
from memfs.ops.doctor.hosts import list_temp_files, report_temp_file
from memfs.store import config_file, git, journal, local_folder, lock, prompts, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

_OTHERS = 0o077

LITTLE = 64 << 20  # bytes; an index and its next version take tens of MB
_MB = 1_000_000

_LOG_LINES = 3
_MOST_NAMED = 10


def check_stores(place: Place) -> Iterator[Finding]:
    """Check the stores: configuration, journal, temporary files and modes."""
    for tier, store in place.list_lasting_tiers():
        yield confirm(f"{tier} store: {store.root}")
        if tier == labels.PROJECT and not store.trusted:
            yield warn(
                "you have not trusted the project store, so hooks do not use it",
                "review the store, and decide whether to trust it: memfs trust",
            )
        for name in local_folder.find_unused(store) if tier == labels.PROJECT else ():
            yield warn(
                f"{store.main}/{name} was not created by memfs for you, so it is not used",
                f"remove the folder, or use it if it is yours: memfs trust --local {name}",
            )
        for text in config_file.find_problems(store):
            yield warn(text)
        yield from _check_prompts(store)
        yield from _check_journal(store)
        for path in list_temp_files(store):
            yield report_temp_file(path)
        if found := open_to_others(store):
            more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
            yield warn(
                f"{found[0]}{more} can be read by other users of this machine",
                "make the files private (modes 0600 and 0700): memfs doctor --fix",
            )


def check_variables() -> Iterator[Finding]:
    """Check the variables that begin with `MEMFS_`."""
    for text in config_file.find_variable_problems(os.environ):
        yield warn(text)


def check_merging(place: Place) -> Iterator[Finding]:
    """Check that git merges blocks with our driver in this clone."""
    project = place.project
    if project is None or git.top_level(project.root) is None:
        return
    refused, hint = git.find_refusal(project.root)
    if refused:
        yield fail(refused, hint)
        return
    driver = git.get_driver(project.root)
    merges = git.get_merge_driver(project.root, "blocks/x.md") == "memfs"
    if not merges or not driver:
        yield warn(
            "git does not use memfs to merge blocks in this clone",
            "register the merge driver: memfs init"
            if merges
            else "add the line 'blocks/**/*.md merge=memfs' to .agent-memory/.gitattributes, then "
            "run memfs init",
        )
    elif not settings_merge.is_available(settings_merge.programs(driver)[0]):
        yield fail(
            f"git merges blocks with {settings_merge.programs(driver)[0]}, which no longer exists",
            "register the merge driver again: memfs init",
        )
    elif " -m memfs" in driver and " -P " not in driver:
        yield fail(
            "to merge, git would run the repository's own folder 'memfs', not the installed memfs",
            "register the merge driver again: memfs init",
        )


def _check_prompts(store: store_paths.Store) -> Iterator[Finding]:
    """Name the files in `prompts/` that nothing reads."""
    known = {"agent.md", "guidance.md", *(f"guidance.{name}.md" for name in hosts.NAMES)}
    for name in prompts.list_files(store):
        if name not in known:
            yield warn(
                f"{store.root}/{prompts.FOLDER}/{name}: memfs reads no file with this name",
                "rename the file to guidance.md, agent.md, or guidance.HOST.md, where HOST is "
                f"one of {', '.join(hosts.NAMES)}",
            )


def _check_journal(store: store_paths.Store) -> Iterator[Finding]:
    entries, end = journal.read_since(store, 0)
    size = files.get_size(store.journal)
    damaged = [str(line) for line in journal.find_damaged(store)]
    if damaged:
        most = ", …" if len(damaged) > _MOST_NAMED else ""
        where = f"line{'s' * (len(damaged) > 1)} {', '.join(damaged[:_MOST_NAMED])}{most}"
        yield fail(
            f"{store.journal}: {where} cannot be read; their versions cannot be restored",
            "restore the file from a backup; without a backup, memfs uses the other lines",
        )
    if end < size:
        yield warn(
            f"{store.journal}: the last entry is incomplete",
            "no action is needed: the next edit removes the entry",
        )
    yield confirm(f"{format_count(len(entries), 'edit')} in the journal")


def check_failed_calls(place: Place) -> Iterator[Finding]:
    """Report hook calls that failed, and the Python that runs."""
    for store in place.stores():
        path = f"{store.local}/hook.log"
        if lines := (files.read(path) or "").splitlines():
            shown = "; ".join(lines[-_LOG_LINES:])
            failed = format_count(len(lines), "failed hook call")
            yield warn(
                f"{path} lists {failed}; the latest: {shown}", "fix the cause, then delete the file"
            )
    yield confirm(f"Python {sys.version.split()[0]} at {sys.executable}")


def check_disks(place: Place, least: int = LITTLE) -> Iterator[Finding]:
    """Check the stores of a place; a disk is to have `least` bytes of room."""
    seen = set()
    for store in place.stores():
        folders = [path for path in (store.root, store.local, store.index) if files.is_folder(path)]
        refused = list(islice(chain.from_iterable(map(_check_rights, folders)), 1))
        yield from refused
        if not refused and files.is_file(f"{store.local}/{lock.STORE}"):
            try:
                lock.check_lock(store)
            except OSError as error:
                told = os_errors.describe_refusal(error)
                yield fail(told.message, told.hint)
        for folder in folders:
            status = files.status(folder)
            device = status.st_dev if status else 0
            if device not in seen:
                seen.add(device)
                room = trees.get_room(folder)
                if room < least:
                    yield Finding(
                        "warning" if room else "error",
                        f"the disk with {folder} has {room / _MB:,.1f} MB left",
                        "free some space: on a full disk memfs writes nothing",
                    )


def _check_rights(folder: str) -> Iterator[Finding]:
    effective = os.access in os.supports_effective_ids
    if os.access(folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=effective):
        return
    if hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY:
        yield fail(
            f"{folder} cannot be written: its disk is read-only", "mount the disk for writing"
        )
    else:
        yield fail(
            f"you cannot write to {folder}", f"check its owner and permissions: ls -ld {folder}"
        )


def open_to_others(store: Store) -> list[str]:
    """List the private files and folders of a store that are open to others; no links.

    Folders of indexes are private themselves: libraries write into them with modes of their own.
    """
    top = store.root if store.private else store.local
    listed = [(path, files.status(path)) for path in [top, *_list_below(top, store)]]
    return [path for path, status in listed if status and status.st_mode & _OTHERS]


def close(path: str) -> None:
    """Make a file or folder private to its owner."""
    found = files.status(path)
    if found is not None:
        trees.set_mode(path, stat.S_IMODE(found.st_mode) & ~_OTHERS)


def _list_below(top: str, store: Store) -> Iterator[str]:
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        indexes = (store.index, store.sources) if folder == store.local else ()
        inner = (".git", *map(os.path.basename, indexes))
        try:
            found = sorted(files.entries(folder))
        except OSError:
            continue
        yield from (f"{folder}/{name}" for name, _ in found)
        waiting += [f"{folder}/{n}" for n, is_folder in found if is_folder and n not in inner]
