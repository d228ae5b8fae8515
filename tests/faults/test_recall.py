"""Ingestion, interrupted anywhere: each message is kept whole, and once; none is lost again."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from memfs.core.records import Fact, Origin
from memfs.ingest import transcripts
from memfs.ingest.transcripts import Tally
from memfs.ops import sessions
from memfs.store import facts, lock, recall
from tests.faults import harness
from tests.faults.harness import BEFORE, ERRORS, Fault
from tests.faults.power import ALL
from tests.faults.world import FAULTS_AND_POWER, Seen, World, exercise
from tests.hosts.transcript_lines import conversation

Kept = list[str]


def ingest(world: World) -> Tally:
    """Read the transcript as `memfs ingest` does."""
    tally = Tally()
    store = world.place().home
    with lock.hold_lock(store, name=lock.INGEST):
        transcripts.ingest_transcripts(store, [str(world.root / "t.jsonl")], tally)
    return tally


def becomes(world: World, data: bytes) -> None:
    """The host writes: not one of our calls."""
    with open(world.root / "t.jsonl", "wb") as handle:
        handle.write(data)


def kept(world: World) -> Kept:
    """The ids of the messages that are searched."""
    paths = Path(world.place().home.local, "recall/claude").glob(f"*{recall.SUFFIX}")
    return [each.id for path in paths for each in recall.messages(str(path))]


def check(world: World, data: bytes, seen: Seen[Kept]) -> None:
    assert {*kept(world)} >= {*seen.old}, "a message is lost that was kept"
    if seen.fault.kind in ERRORS and not seen.fault.loss:  # else the next run takes it over
        assert not world.temporaries()
    becomes(world, data)
    ingest(world)
    now = kept(world)
    assert len(now) == len({*now}), "a message is twice in it"
    assert {*now} >= {*seen.old, *seen.new}
    for path in Path(world.place().home.local, "recall").rglob(f"*{recall.SUFFIX}"):
        for line in path.read_bytes().splitlines():
            json.loads(line)
    becomes(world, data + conversation(1, first=90))
    ingest(world)
    assert sorted(kept(world)) == sorted([*now, "u90"])
    assert not world.temporaries()


HISTORIES = {
    "new": [conversation(4)],
    "grown": [conversation(2), conversation(5)],
    "rewritten": [conversation(4), conversation(3, first=2)],
    "rewritten twice": [conversation(4), conversation(3, first=3), conversation(2, first=7)],
}


@FAULTS_AND_POWER
@pytest.mark.parametrize("name", HISTORIES)
def test_ingest(world: World, name: str, kinds: Sequence[str]) -> None:
    *before, last = HISTORIES[name]
    for data in before:
        becomes(world, data)
        ingest(world)
    becomes(world, last)
    steps = [partial(ingest, world)]
    verify = partial(check, world, last)
    assert exercise(world, steps, partial(kept, world), verify, kinds)


def test_what_was_kept_is_kept_though_its_state_was_lost(world: World) -> None:
    """The state is not fsynced. What it does not know is not taken back before it is read again."""
    becomes(world, conversation(2))
    ingest(world)
    becomes(world, conversation(5))
    cut = Fault(BEFORE, 1000, ALL)
    assert harness.run(str(world.root), [partial(ingest, world)], cut).status == harness.DONE
    assert len(kept(world)) == 5
    becomes(world, conversation(7))
    steps: list[Callable[[], object]] = [partial(ingest, world)]
    verify = partial(check, world, conversation(7))
    assert exercise(world, steps, partial(kept, world), verify)


def test_what_a_kill_tore_is_mended(world: World) -> None:
    for data in HISTORIES["rewritten"]:
        becomes(world, data)
        ingest(world)
    [path] = Path(world.place().home.local, "recall/claude").glob(f"*{recall.SUFFIX}")
    with path.open("ab") as handle:
        handle.write(b'{"id": "to')
    last = conversation(5, first=2)
    becomes(world, last)
    steps = [partial(ingest, world)]
    assert exercise(world, steps, partial(kept, world), partial(check, world, last))


def forget(world: World) -> None:
    place = world.place()
    sessions.forget_sessions(place, sessions.list_sessions(place), Origin())


@FAULTS_AND_POWER
def test_forgetting_can_be_done_again(world: World, kinds: Sequence[str]) -> None:
    becomes(world, conversation(2))
    ingest(world)
    place = world.place()
    store = place.home
    [path] = map(Path, recall.sources(store))
    for part in (".agent-a.jsonl", recall.ASIDE):
        path.with_suffix(part).write_bytes(path.read_bytes())
    [said] = sessions.list_sessions(place)
    facts.write_facts(store, [Fact("f", said.prompt, 0.9, "rule", host=said.host, session=said.id)])
    sessions.rename_session(place, said, said.prompt)
    index = Path(store.index, "text")
    index.parent.mkdir(parents=True)
    index.write_text(said.prompt)

    def verify(_: Seen[Kept]) -> None:
        forget(world)
        ingest(world)
        held = world.files(below=".agent-memory")
        assert [name for name, text in held.items() if said.prompt.encode() in text] == []

    assert exercise(world, [partial(forget, world)], partial(kept, world), verify, kinds)


def check_said(world: World, seen: Seen[Kept]) -> None:
    assert kept(world) in (seen.old, seen.new)


def test_the_first_lines_of_a_session(world: World) -> None:
    becomes(world, conversation(2))
    step = partial(transcripts.session, world.place().home, str(world.root / "t.jsonl"), Tally())
    assert exercise(world, [step], partial(kept, world), partial(check_said, world), [ALL])
