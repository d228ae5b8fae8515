"""Our section of a file of others, interrupted anywhere: the file is as it was, or as it should be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.ops import doctor, sync
from tests.faults.checks import check_blocks
from tests.faults.harness import ERRORS, KILLS
from tests.faults.power import LOSSES
from tests.faults.world import Seen, World, exercise

ANY = (*KILLS, *ERRORS)
NAMES = ("agents", "cursor")
Texts = list[bytes | None]


def paths(world: World) -> list[Path]:
    return [world.repo / "AGENTS.md", world.repo / ".cursor/rules/memfs.mdc"]


def texts(world: World) -> Texts:
    return [path.read_bytes() if path.exists() else None for path in paths(world)]


def put(world: World, *, remove: bool = False) -> None:
    sync.run(world.place(), NAMES, remove=remove)


def check(world: World, seen: Seen[Texts], *, remove: bool = False) -> None:
    for found, old, new in zip(texts(world), seen.old, seen.new, strict=True):
        assert found in (old, new)
    left = world.temporaries()
    assert not left or seen.fault.kind in KILLS
    if left:
        told = "\n".join(each.text for each in doctor.run(world.place(), str(world.home)))
        assert [path for path in left if path not in told] == []
    put(world, remove=remove)
    assert texts(world) == seen.new
    put(world, remove=True)
    assert texts(world) == [b"# Ours", None]


@pytest.mark.parametrize("kinds", [ANY, LOSSES], ids=["faults", "power"])
@pytest.mark.parametrize("remove", [False, True], ids=["put", "taken"])
def test_sections(world: World, kinds: Sequence[str], remove: bool) -> None:
    (world.repo / "AGENTS.md").write_bytes(b"# Ours")
    if remove:
        put(world)
    step = partial(put, world, remove=remove)
    assert exercise(
        world, [step], partial(texts, world), partial(check, world, remove=remove), kinds
    )


def check_edit(world: World, seen: Seen[dict[str, str | None]]) -> None:
    for path in paths(world):
        for left in path.parent.glob(f".{path.name}.*.tmp"):  # `check` has doctor name it
            assert seen.fault.kind in KILLS
            left.unlink()
    check_blocks(world, seen)


def test_an_edit_that_renews_them_is_there_wholly_or_not_at_all(world: World) -> None:
    config = world.repo / ".agent-memory/config.yaml"
    config.write_text(f"{config.read_text()}\nsync:\n  on_edit: true\n")
    put(world)
    step = partial(world.edit, Append("notes", "four"))
    assert exercise(world, [step], world.texts, partial(check_edit, world), ANY)
    assert b"four" in (texts(world)[0] or b"")
