"""Power cuts: what was acknowledged was fsynced, and so was every name on the way to it."""

from __future__ import annotations

from functools import partial

import pytest

from memfs.core.edits import Append, Create, Delete, Edit, Rename
from tests.faults.checks import check_blocks
from tests.faults.power import LOSSES
from tests.faults.world import World, exercise

EDITS: dict[str, list[Edit]] = {
    "append": [Append("notes", "four")],
    "create, in a new folder": [Create("services/api", "A nested block", "text")],
    "delete": [Delete("notes")],
    "rename": [Rename("notes", "remarks")],
    "patch": [Append("notes", "four"), Delete("persona"), Create("session:new", "A new block")],
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit(world: World, name: str) -> None:
    step = partial(world.edit, *EDITS[name])
    assert exercise(world, [step], world.texts, partial(check_blocks, world), LOSSES)
