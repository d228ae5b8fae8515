"""Faults on top of faults, and edits that reach over two stores or two worktrees."""

import copy
import os
import subprocess
from collections.abc import Sequence
from functools import partial

from memfs.core.body_edits import Append, Delete, Edit
from memfs.store import journal, writer
from tests.faults import harness
from tests.faults.checks import Texts, check_blocks, check_opened, open_anew
from tests.faults.harness import BEFORE, HALF, KILLS, Fault, Step
from tests.faults.power import ALL
from tests.faults.world import ANY, FAULTS_AND_POWER, Seen, World, exercise

SECRET = "ghp_" + "".join(f"{n}aB" for n in range(10, 22))[:36]
PATCH = (Append("notes", "four"), Append("persona", "Be brief."))


def interrupt(world: World, step: Step, call: str, name: str, kind: str = BEFORE) -> None:
    """Leave the world as a kill at the last call of this name and file does."""
    world.save()
    calls = harness.run(str(world.root), [step]).calls
    at = max(n for n, each in enumerate(calls, 1) if each.startswith(call) and name in each)
    world.restore()
    assert harness.run(str(world.root), [step], Fault(kind, at)).status == harness.KILLED


def opened(world: World) -> Texts:
    open_anew(world)
    return world.texts()


@FAULTS_AND_POWER
def test_an_edit_that_first_finishes_another(world: World, kinds: Sequence[str]) -> None:
    """A patch was killed between its two files: whatever happens next, it is not left in half."""
    interrupt(world, partial(world.edit, *PATCH), "create", "persona.md")
    step = partial(world.edit, Append("persona", "Be kind."))
    assert exercise(world, [step], partial(opened, world), partial(check_opened, world), kinds)
    assert "Be brief." in (opened(world)["project:persona"] or "")


@FAULTS_AND_POWER
def test_an_edit_after_a_torn_line(world: World, kinds: Sequence[str]) -> None:
    interrupt(world, partial(world.edit, *PATCH), "write", "journal.jsonl", HALF)
    step = partial(world.edit, Append("persona", "Be kind."))
    assert exercise(world, [step], partial(opened, world), partial(check_opened, world), kinds)


def check_secret(world: World, seen: Seen[Texts]) -> None:
    now = opened(world)
    assert now in (seen.old, seen.new), "a block is half written, or without its secret"
    world.edit(Append("notes", "five"))


def test_an_edit_of_a_block_with_a_secret_in_it(world: World) -> None:
    """The journal has no copy of it, and an edit that was not acknowledged is not made without."""
    path = world.repo / ".agent-memory/blocks/notes.md"
    path.write_text(path.read_text() + f"the token is {SECRET}\n")
    step = partial(world.edit, Append("notes", "four"))
    assert exercise(world, [step], partial(opened, world), partial(check_secret, world), ANY)
    assert SECRET in path.read_text()
    assert SECRET not in (world.repo / ".agent-memory/local/journal.jsonl").read_text()


TIERS = (Append("notes", "four"), Append("human", "Likes tea"))


def check_tiers(world: World, seen: Seen[Texts]) -> None:
    """Check the tiers each for itself: its part of the patch is there wholly or not at all."""
    open_anew(world)
    now = world.texts()
    done = {key for key in now if now[key] == seen.new[key] != seen.old[key]}
    mixed = {key: (seen.new if key in done else seen.old)[key] for key in now}
    assert now == mixed
    check_blocks(world, seen._replace(old=now, new=now))


def test_a_patch_over_two_tiers(world: World) -> None:
    step = partial(world.edit, *TIERS)
    assert exercise(world, [step], world.texts, partial(check_tiers, world), KILLS)


def test_a_patch_over_two_tiers_is_all_or_nothing(world: World) -> None:
    step = partial(world.edit, *TIERS)
    exercise(world, [step], world.texts, partial(check_blocks, world), ANY)


def check_from_main(world: World, tree: World, seen: Seen[Texts]) -> None:
    place = world.place()
    assert place.project
    with writer.writing(place.project, place):
        pass
    assert tree.texts() in (seen.old, seen.new), "half of a patch in another worktree"
    check_opened(tree, seen)


def test_a_linked_worktree(world: World) -> None:
    """Both worktrees share a journal: whoever opens it first finishes what was interrupted."""
    git = ["git", "-C", str(world.repo)]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "memory"], check=True)
    tree = copy.copy(world)
    tree.repo = world.root / "tree"
    subprocess.run([*git, "worktree", "add", "-q", str(tree.repo)], check=True)
    step = partial(tree.edit, *PATCH)
    assert exercise(tree, [step], tree.texts, partial(check_from_main, world, tree), KILLS)


def versions(world: World) -> list[tuple[str, int]]:
    return [(entry.op, entry.version) for entry in journal.read(world.place().home)]


def check_versions(world: World, seen: Seen[list[tuple[str, int]]]) -> None:
    assert versions(world) in (seen.old, seen.new)


def test_the_first_line_of_a_journal(world: World) -> None:
    for name in ("journal.jsonl", "heads.json"):
        os.remove(f"{world.place().home.local}/{name}")
    edits: tuple[Edit, ...] = (Append("notes", "four"), Delete("persona"))
    steps = [partial(world.edit, each) for each in edits]
    assert exercise(world, steps, partial(versions, world), partial(check_versions, world), [ALL])
