"""The project's own blocks as a section of files that assistants read; staged for commits.

These files are committed: nothing of the user's or a session's blocks comes into them.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from memfs import files
from memfs.context import brief_contents
from memfs.core import brief_layout
from memfs.core import changes as compare
from memfs.core.errors import MemfsError, StoreError
from memfs.core.records import Origin
from memfs.files import atomic, outside
from memfs.hosts import marked_section
from memfs.hosts.marked_section import MARKS, TARGETS, InstructionFile
from memfs.secrets import redact
from memfs.store import blocks, commit_writer, commits, config, git, lock, quarantine, store_paths
from memfs.store.blocks import Place
from memfs.store.commits import TrackedFile
from memfs.store.store_paths import Store
from memfs.store.writer import Change

_PARTIAL = "next-index-"  # the name of git's index for a commit of named paths

_NOTICE = (
    "`memfs sync` writes this section from .agent-memory/blocks: do not edit it here, "
    "change memory with the commands below."
)
_IMPORT = re.compile(r"(?<![^\s\ufeff])@(?=\S)")  # to JavaScript, U+FEFF is a space
_CLOSED = (".git", store_paths.NAME)  # folders that a link may not lead into
_WRITABLE = 0o222


@dataclass(frozen=True)
class Plan:
    """What is to be done to one file; None stands for no file. `real` is where links lead."""

    target: InstructionFile
    real: str
    before: str | None
    after: str | None

    @property
    def outcome(self) -> str:
        """The effect of writing: created, updated, removed or unchanged."""
        return compare.name_outcome(self.before, self.after)

    def diff(self) -> str:
        name = self.target.path
        return compare.format_diff(self.before or "", self.after or "", f"a/{name}", f"b/{name}")

    def check_writable(self) -> None:
        """Raise `StoreError` for a read-only file that is to change: a rename would replace it."""
        if self.before is None or self.after == self.before:
            return
        if not os.stat(self.real).st_mode & _WRITABLE or not os.access(self.real, os.W_OK):
            raise StoreError(
                f"{self.target.path} is read-only",
                f"run chmod u+w {self.target.path}, then memfs sync",
            )

    def write(self, top: str) -> None:
        """Write the file, unless somebody else changed it since the plan was made."""
        if self.after == self.before:
            return
        self.check_writable()
        if _read(self.target, self.real) != self.before:
            raise StoreError(
                f"{self.target.path} was changed by another program in the meantime",
                "run memfs sync again",
            )
        if self.after is not None:
            files.make_folder(os.path.dirname(self.real))
            atomic.write(self.real, self.after)
            return
        files.remove(self.real)
        folder = os.path.dirname(self.real)
        files.sync_folder(folder)
        with suppress(OSError):  # it holds something
            while folder != os.path.realpath(top):
                os.rmdir(folder)
                folder = os.path.dirname(folder)


def render_section(store: Store) -> str:
    """Render the section between the marks: the brief of a project's own blocks.

    The same blocks give the same text for everybody. No line of it can be a mark, wherever the
    brief was cut, and none has an assistant import a file (`@path`). No secret is in it that an
    editor wrote into a block.
    """
    found = blocks.load(Place(store, None))
    brief = redact(brief_layout.brief(found, _NOTICE, brief_contents.commands("memfs")))
    return _IMPORT.sub(r"\\@", brief.replace("<!--", r"<\!--")).strip("\n")


def plan(store: Store, target: InstructionFile, ours: str, *, remove: bool = False) -> Plan:
    """Plan how a file gets the section `ours`, or with `remove` loses its section.

    Raises `StoreError` where the file is not to be written, or half a section is in it.
    """
    real = _resolve_path(store, target)
    before = _read(target, real)
    wrong = marked_section.problem(before or "", *MARKS)
    if wrong:
        raise StoreError(
            f"{target.path}: {wrong}; the file was not changed",
            "keep one pair of these marks in the file, or none",
        )
    if not remove:
        start = before if before is not None else target.head or None
        return Plan(target, real, before, marked_section.put_section(start, ours, *MARKS))
    return Plan(target, real, before, _remove_section(target, before))


def find_sections(store: Store) -> list[InstructionFile]:
    """Return the files that have a mark of ours; those that are not ours to read have none."""
    found: dict[str, InstructionFile] = {}  # one of those that are the same file
    for target in TARGETS.values():
        with suppress(MemfsError, OSError):
            real = _resolve_path(store, target)
            if marked_section.has_mark(_read(target, real) or "", *MARKS):
                found.setdefault(real, target)
    return list(found.values())


def check_allowed(store: Store) -> None:
    """Raise `StoreError` for a store that is not trusted or has quarantined files."""
    if not store.trusted:
        raise StoreError(
            "you have not trusted this store, so assistants do not get its memory",
            "review the store, and decide whether to trust it: memfs trust",
        )
    if quarantine.map_copies(store, anew=True):
        raise StoreError(
            "changes by other people are waiting for your review", "review the changes: memfs trust"
        )


def finish_edit(place: Place, changes: list[Change], origin: Origin) -> str:
    """Commit an edit and renew the sections, as configured.

    Returns what went wrong, or ""; the edit stands.
    """
    notes = (
        commit_writer.commit_edit(place, changes, origin),
        renew_after_edit(place, {change.tier for change in changes}),
    )
    return "; ".join(note for note in notes if note)


def renew_after_edit(place: Place, tiers: Iterable[str]) -> str:
    """Renew the sections after an edit of blocks in `tiers`, if `sync.on_edit` is set."""
    store = place.project
    if store is None or store.tier not in tiers:
        return ""
    if config.load(place).get("sync.on_edit") is not True:
        return ""
    wrong = []
    try:
        found = find_sections(store)
        if not found:
            return ""
        check_allowed(store)
        with lock.hold_lock(store):
            ours = render_section(store)
            for target in found:
                try:
                    plan(store, target, ours).write(store.top)
                except MemfsError as error:
                    wrong.append(error.message)
                except OSError as error:
                    wrong.append(f"{target.path}: {error.strerror}")
    except MemfsError as error:
        wrong.append(error.message)
    except OSError as error:
        wrong.append(str(error))
    return f"not synced: {'; '.join(wrong)}" if wrong else ""


def _remove_section(target: InstructionFile, before: str | None) -> str | None:
    """Remove the section from a file's text; None if only text of ours is left."""
    if before is None or not marked_section.has_section(before, *MARKS):
        return before
    after = marked_section.remove_section(before, *MARKS)
    ours = before.startswith(MARKS[0]) if not after else after.replace("\r\n", "\n") == target.head
    return None if ours else after


def _resolve_path(store: Store, target: InstructionFile) -> str:
    """Resolve the links of a file's path; raises `StoreError` if it leaves the project."""
    real = outside.real_path(os.path.join(store.top, target.path), store.top)
    within = os.path.relpath(real, os.path.realpath(store.top)).split(os.sep)
    if any(part.lower() in _CLOSED for part in within):
        raise StoreError(
            f"{target.path} is a link to {real}, where memfs does not write",
            "replace the link with a file",
        )
    return real


def _read(target: InstructionFile, real: str) -> str | None:
    """Return a file's text, None for no file; raises `StoreError` for what cannot be kept."""
    found, size = outside.beginning(real, files.READ_CAP, 0)
    if found is None and os.path.lexists(real):
        raise StoreError(f"{target.path} is not a readable file", "replace it with a text file")
    if size > files.READ_CAP:
        raise StoreError(f"{target.path} is too large for an instructions file ({size:,} bytes)")
    if found is not None and ("\0" in found or found[:1] in ("\udcfe", "\udcff")):
        raise StoreError(f"{target.path} is not UTF-8", "save the file as UTF-8")
    return found


@dataclass(frozen=True)
class StagedSections:
    """The files that were renewed and added to the commit, and why others were not."""

    added: tuple[str, ...]
    left: tuple[str, ...]


class _Waiting(NamedTuple):
    """An outdated file: its mode and text in the index, and the text it should have."""

    plan: Plan
    name: str
    mode: str
    text: str | None
    wanted: str | None


def stage_files(place: Place, index: str = "") -> StagedSections:
    """Renew outdated sections, and stage the files in which only our section differs.

    `index` is the index that the commit is made of, "" for the usual one. What a person did not
    stage is never added for them, and what the commit does not have of the blocks stays out of it.
    """
    store = place.project
    targets = find_sections(store) if store else []
    if store is None or not targets:
        return StagedSections((), ())
    check_allowed(store)
    with lock.hold_lock(store):
        ours = render_section(store)
        plans = {_get_name(store, plan): plan for plan in _make_plans(store, targets, ours)}
        known = commits.read_staged(store.top, list(plans), index) or {}
        waiting = _find_outdated(store, plans, known, ours)
        why = _find_hindrance(store, index) if waiting else ""
        if why:
            return StagedSections((), tuple(f"{each.plan.target.path}: {why}" for each in waiting))
        return _stage_files(store, waiting, index)


def _make_plans(store: Store, targets: list[InstructionFile], ours: str) -> list[Plan]:
    return [plan(store, target, ours) for target in targets]


def _find_outdated(
    store: Store, plans: dict[str, Plan], known: dict[str, TrackedFile], ours: str
) -> list[_Waiting]:
    """List the sections that are outdated, in the files or in the index."""
    texts = commits.read_blobs(store.top, [each.blob for each in known.values()])
    found = []
    for name, plan in plans.items():
        entry = known.get(name)
        text = texts.get(entry.blob) if entry else None
        there = text is not None and marked_section.has_section(text, *MARKS)
        wanted = marked_section.put_section(text, ours, *MARKS) if there else text
        if wanted != text or plan.before != plan.after:
            found.append(_Waiting(plan, name, entry.mode if entry else "", text, wanted))
    return found


def _stage_files(store: Store, waiting: list[_Waiting], index: str) -> StagedSections:
    added, left = [], []
    late = [each.name for each in waiting if each.wanted != each.text]
    filtered = commits.list_filters(store.top, late) if late else {}
    for each in waiting:
        each.plan.write(store.top)
        if each.wanted is None or each.wanted == each.text:
            continue
        path = each.plan.target.path
        if not _is_same_text(each.wanted, each.plan.after):
            left.append(f"{path}: the file has other changes that are not staged")
        elif each.name in filtered:
            left.append(
                f"{path}: git filters the file with {filtered[each.name]}, which memfs does not run"
            )
        elif not _add(store, each, each.wanted, index):
            left.append(f"{path}: git could not stage the file")
        else:
            added.append(path)
    return StagedSections(tuple(added), tuple(left))


def _add(store: Store, each: _Waiting, text: str, index: str) -> bool:
    """Add a text to the index without filters; tell whether that worked."""
    blob = git.run(
        store.top, "hash-object", "-w", "--no-filters", "--stdin", data=files.encode(text)
    )
    if not blob:
        return False
    line = f"{each.mode} {blob.strip()}\t{git.prefix(store.top)}{each.name}\0"
    data = os.fsencode(line)
    done = git.run(store.top, "update-index", "-z", "--index-info", data=data, index=index)
    return done is not None


def _is_same_text(wanted: str, after: str | None) -> bool:
    """Tell whether the index is to have what is in the file, whose line ends may be CRLF."""
    return after is not None and wanted.replace("\r\n", "\n") == after.replace("\r\n", "\n")


def _get_name(store: Store, plan: Plan) -> str:
    return os.path.relpath(plan.real, os.path.realpath(store.top)).replace(os.sep, "/")


def _find_hindrance(store: Store, index: str) -> str:
    """Return why nothing can be added to this commit, or ""."""
    if os.path.basename(index).startswith(_PARTIAL):
        return "git commits only the paths that you named"
    known = commits.read_staged(store.root, ["blocks"], index)
    if known is None:
        return "git cannot list the staged blocks"
    changed = commits.list_differing(store.root, ["blocks"], known)
    before = git.prefix(store.root)
    return f"{before}{changed[0]} has changes that are not staged" if changed else ""
