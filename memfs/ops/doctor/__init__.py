"""Find problems, their place and their remedy; fix those that can be fixed safely."""

from memfs.core import parts
from memfs.ops.doctor import fix as doctor_fix
from memfs.ops.doctor import hosts, memory, stores
from memfs.ops.doctor.finding import Finding
from memfs.store import blocks as stored
from memfs.store.blocks import Place

__all__ = ["Finding", "fix", "run"]


def run(place: Place, home: str, *, content: bool = True) -> list[Finding]:
    """Check stores, configuration, blocks, passages, journal and hooks. Fixes nothing.

    Without `content` nothing is said that names a part of the project's store.
    """
    place, team = stored.without_quarantine(place), parts.find("team.seam")
    named = place if content else stored.Place(None, place.user)
    return [
        *stores.check_stores(place),
        *stores.check_disks(place),
        *stores.check_variables(),
        *memory.check_blocks(named),
        *memory.check_passages(named),
        *stores.check_merging(place),
        *hosts.check_hosts(place, home),
        *memory.check_sections(named),
        *memory.check_model(place),
        *memory.check_kinds(named),
        *memory.check_sources(named),
        *(team.check(place) if team else ()),
        *stores.check_failed_calls(place),
    ]


def fix(place: Place, home: str) -> list[Finding]:
    """Fix what can be fixed without losing a byte; return a finding for each fix.

    A block that changes is journalled like an edit (`memfs undo` takes it back). Its earlier file
    is kept in `local/backup/`, as are temporary files of killed runs.
    """
    place = stored.without_quarantine(place)
    return [
        *doctor_fix.blocks_of(place),
        *doctor_fix.stores_of(place),
        *doctor_fix.settings_of(place, home),
    ]
