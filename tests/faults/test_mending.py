"""Mending broken files, interrupted anywhere: nothing is lost, and the next run finishes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from memfs.ops import doctor
from memfs.store import blocks, journal_query
from tests.faults.checks import check_journal, open_anew
from tests.faults.harness import ERRORS, KILLS
from tests.faults.power import LOSSES
from tests.faults.world import Seen, World, exercise

CONFLICT = "one\n<<<<<<< ours\nmine\n=======\ntheirs\n>>>>>>> theirs\n"
WORDS = ("mine", "theirs", "in capitals", "sixteen", "three")
Labels = list[str]


def broken(world: World) -> None:
    """A conflict, two files with one label, and a file that is not UTF-8."""
    folder = world.repo / ".agent-memory/blocks"
    (folder / "conflict.md").write_text(CONFLICT)
    (folder / "NOTES.md").write_text("in capitals\n")
    (folder / "wide.md").write_bytes("sixteen\n".encode("utf-16"))


def labels(world: World) -> Labels:
    return [label for _, label, _ in blocks.paths(world.place())]


def words(world: World) -> set[str]:
    """Return which of the words are in a block, as it can be read."""
    text = "\n".join(block.value for block in blocks.load(world.place()))
    return {word for word in WORDS if word in text}


def check(world: World, seen: Seen[Labels]) -> None:
    assert words(world) == set(WORDS)
    if seen.result.done:
        assert len(set(labels(world))) == len(labels(world)), "what was given a name has it alone"
    open_anew(world)
    doctor.fix(world.place(), str(world.home))
    assert doctor.fix(world.place(), str(world.home)) == []
    assert words(world) == set(WORDS)
    assert len(set(labels(world))) == len(labels(world))
    journal_query.list_entries(world.place())
    for _, store in world.place().list_tiers():
        check_journal(world, store)


@pytest.mark.parametrize("kinds", [(*KILLS, *ERRORS), LOSSES], ids=["faults", "power"])
@pytest.mark.parametrize("alone", [True, False], ids=["a name", "everything"])
def test_mending(world: World, kinds: Sequence[str], alone: bool) -> None:
    broken(world)
    if alone:  # nothing that comes later makes the folder durable
        by_hand = world.repo / ".agent-memory/blocks"
        (by_hand / "conflict.md").write_text("mine\ntheirs\n")
        (by_hand / "wide.md").write_text("sixteen\n")
    step = partial(lambda: doctor.fix(world.place(), str(world.home)))
    assert exercise(world, [step], partial(labels, world), partial(check, world), kinds)
