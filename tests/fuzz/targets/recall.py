"""What is kept of past sessions, line by line, and how far it was read."""

from __future__ import annotations

from tests.e2e import ways
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_WAYS = (
    ways.cli("search tabs spaces --mode text"),
    ways.cli("search tabs --sessions"),
    ways.cli("facts extract --no-model"),
    ways.cli("graph"),
    ways.cli("recall tabs"),
    ways.cli("ingest said.jsonl"),
    ways.cli("doctor --secrets"),
    ways.cli("status"),
    ways.cli("doctor --secrets --purge -y"),
    ways.cli("export --all --with-secrets --force made.zip"),
    ways.cli("graph --similar tabs"),
    ways.tool("conversation_search", query="tabs or spaces"),
    ways.tool("conversation_search_date", start_date="2026-01-01"),
    ways.hook("claude", "Stop"),
)


def begin(world: World) -> Target:
    folder = world.store / "local/recall/claude"
    turn = 0

    def run(case: Case) -> None:
        nonlocal turn
        turn += 1
        (folder / case.name).write_bytes(case.data)
        try:
            world.through(_WAYS[turn % len(_WAYS)])
        finally:
            world.put_back("local/recall")

    return Target([Case(path.name, path.read_bytes()) for path in folder.iterdir()], run)
