"""Export and import, interrupted anywhere: old or new, never half; import again finishes it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from memfs.core import label as labels
from memfs.core.body_edits import Append
from memfs.importers import export_format, exporting, importing
from memfs.store import archive, blocks, recall
from tests.faults.checks import check_journal, go_on, open_anew
from tests.faults.harness import ERRORS
from tests.faults.world import FAULTS_AND_POWER, ORIGIN, Seen, World, exercise
from tests.ops.imports import said
from tests.store.test_export_format import zipped

Files = dict[str, bytes]


def write(world: World) -> None:
    path = str(world.root / "m.zip")
    exporting.run(world.place(), path, user=False, everything=True, force=True, anyway=False)


def exported(world: World) -> Files | None:
    path = world.root / "m.zip"
    return export_format.read(str(path)).files if path.exists() else None


def check_export(world: World, seen: Seen[Files | None]) -> None:
    assert exported(world) in (seen.old, seen.new)
    if seen.fault.kind in ERRORS:
        assert not world.temporaries()
    write(world)
    assert exported(world) == seen.new


@FAULTS_AND_POWER
def test_export(world: World, kinds: Sequence[str]) -> None:
    write(world)
    world.edit(Append("notes", "four"))
    step = partial(write, world)
    assert exercise(world, [step], partial(exported, world), partial(check_export, world), kinds)


def take(world: World) -> importing.Imported:
    path = str(world.root / "hand.zip")
    return importing.run(world.place(), path, ORIGIN, user=False, anyway=False, dry_run=False)


def beside(world: World) -> Files:
    """What is imported but the blocks."""
    root = world.repo / ".agent-memory"
    paths = [*archive.sources(world.place().home), *recall.sources(world.place().home)]
    paths += [str(path) for path in (root / "facts").glob("*.jsonl")]
    return {path: Path(path).read_bytes() for path in paths}


def check_import(world: World, new: Files, seen: Seen[dict[str, str | None]]) -> None:
    for path, data in beside(world).items():
        assert data == new[path], f"{path} is half written"
    if seen.fault.kind in ERRORS:
        assert not world.temporaries()
    open_anew(world)
    assert world.texts() in (seen.old, seen.new), "half of a patch"
    take(world)
    assert beside(world) == new
    assert not world.temporaries()
    values = {block.label: block.value for block in blocks.load(world.place())}
    assert set(values["notes"].split("\n")) == {"one", "two", "three", "four"}
    assert values["api"] == "five seconds"
    assert {item.outcome for item in take(world).items} == {"same"}
    for tier, store in world.place().list_tiers():
        if tier != labels.SESSION:
            check_journal(world, store)
    go_on(world, world.texts(), {"project:notes"})


@FAULTS_AND_POWER
def test_import(world: World, kinds: Sequence[str]) -> None:
    files = {
        "blocks/notes.md": "one\ntwo\nfour\n",
        "blocks/api.md": "five seconds\n",
        "archive/2026-05/p1.md": "Green tea",
        "archive/2026-05/p2.md": "Black tea",
        "facts/2026-05.jsonl": '{"statement": "a"}\n',
        "local/recall/claude/s.jsonl": said("hello"),
    }
    members = ((name, text.encode()) for name, text in files.items())
    (world.root / "hand.zip").write_bytes(zipped(*members))
    world.save()
    take(world)
    new = beside(world)
    world.restore()
    step = partial(take, world)
    check = partial(check_import, world, new)
    assert exercise(world, [step], world.texts, check, kinds)
