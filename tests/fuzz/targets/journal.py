"""The journal of edits, and the heads that are kept of it."""

from __future__ import annotations

from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_WAYS = (
    *("log", "log rules --json", "blame rules", "diff rules", "undo rules", "restore rules 1"),
    *("edit rules --append more", "doctor", "doctor --fix", "page in rules", "status"),
    *("export --all --with-secrets --force made.zip", "doctor --secrets"),
)


def begin(world: World) -> Target:
    turn = 0

    def run(case: Case) -> None:
        nonlocal turn
        turn += 1
        (world.store / "local" / case.name).write_bytes(case.data)
        if turn % 2 and case.name == "journal.jsonl":
            (world.store / "local/heads.json").unlink(missing_ok=True)
        try:
            world.go(_WAYS[turn % len(_WAYS)])
        finally:
            for name in ("local/journal.jsonl", "local/heads.json", "blocks"):
                world.put_back(name)

    names = ("journal.jsonl", "journal.jsonl", "heads.json", "facts.json", "outcomes.jsonl")
    local = world.store / "local"
    return Target([Case(name, (local / name).read_bytes()) for name in names], run)
