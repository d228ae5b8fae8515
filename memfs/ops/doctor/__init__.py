"""Find what is wrong, say where, and what to do about it; mend what can be mended safely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.ops.doctor import blocks, hosts, mend, model, passages, sections, stores
from memfs.ops.doctor.finding import Finding
from memfs.store import blocks as stored

if TYPE_CHECKING:
    from memfs.store.blocks import Place

__all__ = ["Finding", "fix", "run"]


def run(place: Place, home: str) -> list[Finding]:
    """Look at stores, configuration, blocks, passages, journal and hooks, as they are."""
    place = stored.as_is(place)
    return [
        *stores.look(place),
        *blocks.look(place),
        *passages.look(place),
        *stores.merging(place),
        *hosts.look(place, home),
        *sections.look(place),
        *model.look(place),
        *stores.calls(place),
    ]


def fix(place: Place, home: str) -> list[Finding]:
    """Mend what can be mended without losing a byte; return what was done, nothing if nothing was.

    A block that changes is journalled like an edit (`memfs undo` takes it back), and its file as it
    was is kept in `local/backup/`. So are temporary files of killed runs.
    """
    place = stored.as_is(place)
    return [*mend.blocks_of(place), *mend.stores_of(place), *mend.settings_of(place, home)]
