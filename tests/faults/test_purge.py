"""Redacting what is kept, interrupted anywhere: run again, it is finished, and nothing else is lost."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from memfs.core.body_edits import Append, Remove
from memfs.ops import history, purge
from memfs.secrets import redact
from memfs.store import recall
from memfs.store.store_paths import Store
from tests.faults.checks import check_journal, go_on, open_anew
from tests.faults.harness import ERRORS
from tests.faults.test_recall import becomes, ingest
from tests.faults.world import FAULTS_AND_POWER, Seen, World, exercise
from tests.hosts.transcript_lines import conversation

SECRET = "ghp_" + "".join(f"{n}aB" for n in range(10, 22))[:36]
MANAGED = ("version:", "updated_at:", "updated_by:")
Kept = dict[str, list[str]]


def stores(world: World) -> list[Store]:
    place = world.place()
    return list({store.root: store for _, store in place.list_tiers()}.values())


def by_hand(world: World, name: str, line: str) -> None:
    path = world.repo / ".agent-memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + line)


def fill(world: World) -> None:
    """The secret in a block, in the history of another, and where nothing is journalled."""
    by_hand(world, "blocks/notes.md", f"\nuse {SECRET} here\n")
    by_hand(world, "blocks/persona.md", f"\nand {SECRET} there\n")
    history.log(world.place())
    world.edit(Remove("persona", f"and {SECRET} there\n"), Append("notes", "last"))
    by_hand(world, "archive/2026-05/p1.md", f"---\n---\nthe token is {SECRET}\n")
    by_hand(world, "local/hook.log", f"failed: {SECRET}\n")
    by_hand(world, "local/sessions/s1/shown.json", json.dumps({"a": SECRET}))
    by_hand(world, "local/index/segment", f"half of an index, with {SECRET}")
    becomes(world, conversation(4))
    ingest(world)
    [path] = recall.sources(world.place().home)
    text = Path(path).read_text()
    Path(path).write_text(text.replace("turn number 1", f"turn {SECRET} 1"))


def words(world: World) -> Kept:
    """All that people wrote, redacted, without what every edit changes; and the history."""
    found = {}
    for key, text in world.texts().items():
        lines = redact(text or "").splitlines()
        found[key] = [line for line in lines if not line.startswith(MANAGED)]
    found["log"] = [
        redact(f"{entry.label} {entry.version} {entry.reason}")
        for entry in history.log(world.place())
        if entry.op != purge.OP
    ]
    [path] = recall.sources(world.place().home)
    found["recall"] = [redact(each.text) for each in recall.messages(path)]
    for name in ("archive/2026-05/p1.md", "local/hook.log"):
        found[name] = redact((world.repo / ".agent-memory" / name).read_text()).splitlines()
    return found


def holding(world: World) -> list[str]:
    return [path for path, data in world.files().items() if SECRET.encode() in data]


def check(world: World, seen: Seen[Kept]) -> None:
    if seen.result.done:
        assert holding(world) == [], "what was said to be gone has to stay away"
    open_anew(world)
    assert words(world) == seen.old
    if seen.fault.kind in ERRORS:
        assert not world.temporaries()
    purge.run(world.place())
    assert holding(world) == []
    assert words(world) == seen.old
    for store in stores(world):
        check_journal(world, store)
    becomes(world, conversation(6))
    ingest(world)
    [path] = recall.sources(world.place().home)
    assert [each.id for each in recall.messages(path)] == [f"u{n}" for n in range(6)]
    go_on(world, world.texts(), {"project:notes"})


@FAULTS_AND_POWER
def test_purge(world: World, kinds: Sequence[str]) -> None:
    fill(world)
    step = partial(lambda: purge.run(world.place()))
    assert exercise(world, [step], partial(words, world), partial(check, world), kinds)
