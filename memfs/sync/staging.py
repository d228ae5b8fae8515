"""Before a commit: renew the sections there are, and add the files that we alone changed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

from memfs import files
from memfs.hosts import marked_section
from memfs.hosts.instructions import MARKS, InstructionFile
from memfs.store import commits, git, lock, tracked_files
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.store.tracked_files import TrackedFile
from memfs.sync import instruction_sections
from memfs.sync.instruction_sections import Plan

_PARTIAL = "next-index-"  # the name of git's index for a commit of named paths


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


def run(place: Place, index: str = "") -> StagedSections:
    """Renew outdated sections, and stage the files in which only our section differs.

    `index` is the index that the commit is made of, "" for the usual one. What a person did not
    stage is never added for them, and what the commit does not have of the blocks stays out of it.
    """
    store = place.project
    targets = instruction_sections.find_sections(store) if store else []
    if store is None or not targets:
        return StagedSections((), ())
    instruction_sections.check_allowed(store)
    with lock.hold_lock(store):
        ours = instruction_sections.render_section(store)
        plans = {_get_name(store, plan): plan for plan in _make_plans(store, targets, ours)}
        known = tracked_files.read_staged(store.top, list(plans), index) or {}
        waiting = _find_outdated(store, plans, known, ours)
        why = _find_hindrance(store, index) if waiting else ""
        if why:
            return StagedSections((), tuple(f"{each.plan.target.path}: {why}" for each in waiting))
        return _stage_files(store, waiting, index)


def _make_plans(store: Store, targets: list[InstructionFile], ours: str) -> list[Plan]:
    return [instruction_sections.plan(store, target, ours) for target in targets]


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
    filtered = tracked_files.list_filters(store.top, late) if late else {}
    for each in waiting:
        each.plan.write(store.top)
        if each.wanted is None or each.wanted == each.text:
            continue
        path = each.plan.target.path
        if not _is_same_text(each.wanted, each.plan.after):
            left.append(f"{path}: it has other changes that are not staged")
        elif each.name in filtered:
            left.append(f"{path}: it goes through {filtered[each.name]}, which memfs does not run")
        elif not _add(store, each, each.wanted, index):
            left.append(f"{path}: git did not add it")
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
        return "a commit of named paths takes nothing else"
    known = tracked_files.read_staged(store.root, ["blocks"], index)
    if known is None:
        return "git does not answer"
    changed = tracked_files.list_differing(store.root, ["blocks"], known)
    before = git.prefix(store.root)
    return f"{before}{changed[0]} has changes that are not staged" if changed else ""
