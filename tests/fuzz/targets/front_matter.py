"""Block files: read, shown, checked, edited, mended."""

from __future__ import annotations

from memfs.core import block_problems
from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit
from memfs.store import blocks
from tests.e2e import ways
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World
from tests.ops.mutations import SAMPLES


def begin(world: World) -> Target:
    path = world.store / "blocks" / "fuzzed.md"
    prompt = ways.hook("claude", "UserPromptSubmit", prompt="gophers and tunnels")
    doors = ("show", "doctor", "doctor --fix", "blocks", "sync --check", "status")
    turn = 0

    def run(case: Case) -> None:
        nonlocal turn
        path.write_bytes(case.data)
        place = world.place()
        blocks.load(place)
        block_problems.find(case.data.decode("utf-8", "surrogateescape"))
        edit.run(place, [Append("fuzzed", "one more line")], Origin("user"))
        turn += 1
        if turn % 8 == 0:
            world.through(prompt)
            world.go(doors[turn // 8 % len(doors)])

    own = [(world.store / "blocks/rules.md").read_bytes()]
    return Target([Case("fuzzed.md", data) for data in (*SAMPLES, *own)], run)
