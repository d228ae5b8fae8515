"""Sync our section of instruction files (AGENTS.md and the like) with the blocks."""

from collections.abc import Sequence

from memfs.core.errors import StoreError
from memfs.hosts.marked_section import TARGETS
from memfs.store import lock
from memfs.store.blocks import Place
from memfs.sync import instruction_sections
from memfs.sync.instruction_sections import Plan

__all__ = ["Plan", "run"]


def run(
    place: Place, names: Sequence[str] = (), *, remove: bool = False, write: bool = True
) -> list[Plan]:
    """Write the project's memory into the files named, or remove it; return the plans.

    Without names, those files that have a section. Without `write`, nothing is written, and the
    store needs no trust. Raises `StoreError` if there is no project, or if one of the files cannot
    be written; then none is.
    """
    store = place.project
    if store is None:
        raise StoreError("there is no project store here to sync", "create a store: memfs init")
    if not write:
        return _plan_targets(place, names, remove=remove)
    if not remove:
        instruction_sections.check_allowed(store)
    with lock.hold_lock(store):
        found = _plan_targets(place, names, remove=remove)
        for plan in found:
            plan.check_writable()
        for plan in found:
            plan.write(store.top)
    return found


def _plan_targets(place: Place, names: Sequence[str], *, remove: bool) -> list[Plan]:
    store = place.store("project")
    targets = [TARGETS[name] for name in names] or instruction_sections.find_sections(store)
    ours = "" if remove or not targets else instruction_sections.render_section(store)
    found: dict[str, Plan] = {}
    for target in targets:
        plan = instruction_sections.plan(store, target, ours, remove=remove)
        found.setdefault(plan.real, plan)  # a link gives one file two names
    return list(found.values())
