"""Every edit, interrupted everywhere: it is there wholly or not at all, and all before it is."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from memfs.core.body_edits import (
    Append,
    Create,
    Delete,
    Describe,
    Edit,
    Insert,
    Remove,
    Rename,
    Replace,
    Rethink,
)
from memfs.ops import history
from memfs.ops.undo import restore_version, undo_edit
from tests.faults.checks import check_blocks
from tests.faults.harness import EIO, KILLS
from tests.faults.power import LOSSES
from tests.faults.world import ANY, ORIGIN, World, exercise

EDITS: dict[str, list[Edit]] = {
    "append": [Append("notes", "four")],
    "append, user tier": [Append("human", "Likes tea")],
    "append, session tier": [Append("session:working", "second")],
    "replace": [Replace("notes", "two", "2")],
    "remove": [Remove("notes", "two\n")],
    "insert": [Insert("notes", 1, "one and a half")],
    "rethink": [Rethink("notes", "all new\n")],
    "create": [Create("fresh", "A new block", "text")],
    "create, in a new folder": [Create("services/api", "A nested block", "text")],
    "delete": [Delete("notes")],
    "rename": [Rename("notes", "remarks")],
    "rename, into a new folder": [Rename("notes", "kept/remarks")],
    "describe": [Describe("notes", {"limit": 900, "pinned": False})],
    "patch over two blocks": [Append("notes", "four"), Append("persona", "Be brief.")],
    "patch over four blocks": [
        Delete("notes"),
        Create("fresh", "A new block"),
        Append("persona", "Be brief."),
        Create("session:new", "A new block"),
    ],
}

USUAL = ("append", "create", "delete")
ALIKE = ("remove", "insert", "rethink", "describe", "append, user tier")  # as replace, on the disk


@pytest.mark.parametrize(
    "name",
    [name if name in USUAL else pytest.param(name, marks=pytest.mark.thorough) for name in EDITS],
)
def test_an_edit(world: World, name: str) -> None:
    step = partial(world.edit, *EDITS[name])
    kinds = (*KILLS, EIO) if name in ALIKE else ANY
    assert exercise(world, [step], world.texts, partial(check_blocks, world), kinds)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["append", "create, in a new folder", "delete", "rename", "patch over four blocks"]
)
def test_an_edit_and_a_power_cut(world: World, name: str) -> None:
    """What was acknowledged was fsynced, and so was every name on the way to it."""
    step = partial(world.edit, *EDITS[name])
    assert exercise(world, [step], world.texts, partial(check_blocks, world), LOSSES)


@pytest.mark.thorough  # over five seconds
def test_one_edit_after_the_other(world: World) -> None:
    steps = [
        partial(world.edit, Append("notes", "four")),
        partial(world.edit, Append("human", "Likes tea")),
        partial(world.edit, Append("notes", "five"), Append("persona", "Be brief.")),
    ]
    assert exercise(world, steps, world.texts, partial(check_blocks, world))


def undo(world: World, label: str) -> None:
    undo_edit(world.place(), label, ORIGIN)


@pytest.mark.thorough  # on the disk it is as an edit
def test_undo(world: World) -> None:
    world.edit(Append("notes", "four"))
    step = partial(undo, world, "notes")
    assert exercise(world, [step], world.texts, partial(check_blocks, world))


@pytest.mark.thorough  # over five seconds
def test_undo_of_a_rename(world: World) -> None:
    world.edit(Rename("notes", "remarks"))
    step = partial(undo, world, "remarks")
    assert exercise(world, [step], world.texts, partial(check_blocks, world))


@pytest.mark.thorough  # likewise
def test_restore(world: World) -> None:
    world.edit(Append("notes", "four"))
    world.edit(Delete("notes"))
    step = partial(lambda: restore_version(world.place(), "notes", "1", ORIGIN))
    assert exercise(world, [step], world.texts, partial(check_blocks, world))


@pytest.mark.thorough  # over five seconds
def test_an_editors_change_is_adopted(world: World) -> None:
    path = Path(world.repo / ".agent-memory/blocks/notes.md")
    path.write_text(path.read_text().replace("two", "2 (by hand)"))
    steps: list[Callable[[], object]] = [
        partial(lambda: history.log(world.place())),
        partial(world.edit, Append("notes", "four")),
    ]
    assert exercise(world, steps, world.texts, partial(check_blocks, world))
