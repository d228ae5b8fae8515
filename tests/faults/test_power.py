"""Power cuts: what was acknowledged was fsynced, and so was every name on the way to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import pytest

from memfs.core.body_edits import Append, Create, Delete, Edit, Rename
from memfs.ingest import transcripts
from memfs.ingest.transcripts import Tally
from memfs.store import journal, recall
from tests.faults.checks import check_blocks
from tests.faults.power import ALL, LOSSES
from tests.faults.world import Seen, World, exercise
from tests.hosts.transcript_lines import conversation

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


def edits(world: World) -> list[tuple[str, int]]:
    store = world.place().project
    assert store
    return [(entry.op, entry.version) for entry in journal.read(store)]


def check_edits(world: World, seen: Seen[list[tuple[str, int]]]) -> None:
    assert edits(world) in (seen.old, seen.new)


def test_the_first_line_of_a_journal(world: World) -> None:
    store = world.place().project
    assert store
    for name in ("journal.jsonl", "heads.json"):
        os.remove(f"{store.local}/{name}")
    steps: list[Callable[[], object]] = [
        partial(world.edit, Append("notes", "four")),
        partial(world.edit, Delete("persona")),
    ]
    assert exercise(world, steps, partial(edits, world), partial(check_edits, world), [ALL])


def said(world: World) -> list[str]:
    found = recall.sources(world.place().home)
    return [message.id for path in found for message in recall.messages(path)]


def check_said(world: World, seen: Seen[list[str]]) -> None:
    assert said(world) in (seen.old, seen.new)


def test_the_first_lines_of_a_session(world: World) -> None:
    path = world.root / "t.jsonl"
    path.write_bytes(conversation(2))
    store = world.place().home
    step = partial(transcripts.session, store, str(path), Tally())
    assert exercise(world, [step], partial(said, world), partial(check_said, world), [ALL])
