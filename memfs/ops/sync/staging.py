"""Before a commit: renew the sections there are, and add the files that we alone changed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memfs.context import sections
from memfs.hosts import section
from memfs.hosts.instructions import MARKS
from memfs.store import git, lock

if TYPE_CHECKING:
    from memfs.context.sections import Plan
    from memfs.store.blocks import Place
    from memfs.store.layout import Store

_LITERAL = "--literal-pathspecs"
_PARTIAL = "next-index-"  # the name of git's index for a commit of named paths


@dataclass(frozen=True)
class Staged:
    """The files that were renewed and added to the commit, and why others were not."""

    added: tuple[str, ...]
    left: tuple[str, ...]


class _Waiting(NamedTuple):
    """A file that is out of step: its text in the index, and what that should be."""

    plan: Plan
    text: str | None
    wanted: str | None


def run(place: Place, index: str = "") -> Staged:
    """Renew what is out of step, and add it where nothing but our section differs.

    `index` is the index that the commit is made of, "" for the usual one. What a person did not
    stage is never added for them, and what the commit does not have of the blocks stays out of it.
    """
    store = place.project
    targets = sections.present(store) if store else []
    if store is None or not targets:
        return Staged((), ())
    sections.check_allowed(store)
    with lock.hold(store):
        ours = sections.text(store)
        waiting = []
        for target in targets:
            plan = sections.plan(store, target, ours)
            text = _text(store, plan, index)
            there = text is not None and section.has(text, *MARKS)
            wanted = section.put(text, ours, *MARKS) if there else text
            if wanted != text or plan.before != plan.after:
                waiting.append(_Waiting(plan, text, wanted))
        why = _hindrance(store, index) if waiting else ""
        if why:
            return Staged((), tuple(f"{each.plan.target.path}: {why}" for each in waiting))
        return _staged(store, waiting, index)


def _staged(store: Store, waiting: list[_Waiting], index: str) -> Staged:
    added, left = [], []
    for plan, text, wanted in waiting:
        plan.write(store.top)
        if wanted == text:
            continue
        path = plan.target.path
        if wanted != plan.after:
            left.append(f"{path}: it has other changes that are not staged")
        elif git.run(store.top, _LITERAL, "add", "--", plan.real, index=index) is None:
            left.append(f"{path}: git did not add it")
        else:
            added.append(path)
    return Staged(tuple(added), tuple(left))


def _text(store: Store, plan: Plan, index: str) -> str | None:
    """Return a file as the commit will have it, with the line ends of the working tree."""
    name = os.path.relpath(plan.real, os.path.realpath(store.top)).replace(os.sep, "/")
    return git.run(store.top, "cat-file", "--filters", f":./{name}", index=index)


def _hindrance(store: Store, index: str) -> str:
    """Say why nothing can be added to this commit, or ""."""
    if os.path.basename(index).startswith(_PARTIAL):
        return "a commit of named paths takes nothing else"
    listed = git.run(
        store.root, _LITERAL, "status", "--porcelain=v1", "-z", "--no-renames",
        "--untracked-files=all", "--", "blocks", index=index,
    )  # fmt: skip
    if listed is None:
        return "git does not answer"
    changed = [item[3:] for item in listed.split("\0") if item and item[1:2] != " "]
    return f"{changed[0]} has changes that are not staged" if changed else ""
