"""Check instruction files: whether our section is in sync with the blocks, and stays so."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.core.errors import MemfsError
from memfs.ops.doctor.finding import Finding
from memfs.store.blocks import Place
from memfs.sync import githook, instruction_sections


def check_sections(place: Place) -> Iterator[Finding]:
    """Check each section of ours, and the hooks of git that renew them."""
    store = place.project
    if store is None:
        return
    targets = instruction_sections.find_sections(store)
    ours = instruction_sections.render_section(store) if targets else ""
    for target in targets:
        try:
            outcome = instruction_sections.plan(store, target, ours).outcome
        except MemfsError as error:
            yield Finding("error", error.message, error.hint)
            continue
        if outcome == "unchanged":
            yield Finding("ok", f"{target.path} is in step with the blocks")
        else:
            yield Finding("warning", f"{target.path} is out of step with the blocks", "memfs sync")
    for problem in githook.find_problems(place):
        yield Finding("warning", problem, "memfs sync --git-hook")
