"""Find what is wrong, say where, and what to do about it; mend what can be mended safely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.ops.doctor import blocks, hosts, model, passages, sections, stores
from memfs.ops.doctor import fix as doctor_fix
from memfs.ops.doctor.finding import Finding
from memfs.store import blocks as stored

if TYPE_CHECKING:
    from memfs.store.blocks import Place

__all__ = ["Finding", "fix", "run"]


def run(place: Place, home: str) -> list[Finding]:
    """Look at stores, configuration, blocks, passages, journal and hooks, as they are."""
    place = stored.without_quarantine(place)
    return [
        *stores.check_stores(place),
        *blocks.check_blocks(place),
        *passages.check_passages(place),
        *stores.merging(place),
        *hosts.check_hosts(place, home),
        *sections.check_sections(place),
        *model.check_model(place),
        *stores.calls(place),
    ]


def fix(place: Place, home: str) -> list[Finding]:
    """Mend what can be mended without losing a byte; return what was done, nothing if nothing was.

    A block that changes is journalled like an edit (`memfs undo` takes it back), and its file as it
    was is kept in `local/backup/`. So are temporary files of killed runs.
    """
    place = stored.without_quarantine(place)
    return [
        *doctor_fix.blocks_of(place),
        *doctor_fix.stores_of(place),
        *doctor_fix.settings_of(place, home),
    ]
