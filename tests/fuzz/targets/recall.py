"""What is kept of past sessions, line by line, and how far it was read."""

from __future__ import annotations

from tests.e2e import doors
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_WAYS = (
    doors.cli("search tabs spaces --mode text"), doors.cli("search tabs --sessions"),
    doors.cli("facts --extract --no-model"), doors.cli("graph"), doors.cli("context --task tabs"),
    doors.cli("ingest said.jsonl"), doors.cli("doctor --secrets"), doors.cli("status"),
    doors.cli("doctor --secrets --purge -y"), doors.cli("export --all --yes --force made.zip"),
    doors.cli("graph --similar tabs"), doors.tool("conversation_search", query="tabs or spaces"),
    doors.tool("conversation_search_date", start_date="2026-01-01"),
    doors.hook("claude", "Stop"),
)  # fmt: skip


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
