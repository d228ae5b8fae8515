"""Syncs of two machines, killed anywhere and in any order: both end alike, and no line is lost."""

import os
import shutil
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.body_edits import Append, Create
from memfs.core.records import Origin
from memfs.ops import edit, sync_user
from memfs.store import git
from memfs.store.blocks import Place
from tests.examples import examples
from tests.faults import harness
from tests.faults.harness import AFTER, BEFORE, DONE, HALF, KILLED, Fault
from tests.ops.machines import World, make_world, memory, put, root, say


def kill(place: Place, remote: str, fault: Fault) -> harness.Result:
    """Sync in a process that a fault ends, also between two calls of git."""
    named = [(cast(type, git), name) for name in ("ask_remote", "start")]
    step = lambda: sync_user.run(place, remote, sessions=True)  # noqa: E731
    return harness.run(str(root(place)), [step], fault, named)


def test_a_kill_at_any_point_costs_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path / "world")
    edit.run(world.one, [Append("human", "- a\n- b\n- c\n- d"), Create("gone", "x")], Origin())
    say(world.one, "s1", "hello")
    world.sync(world.one, world.two)
    path = root(world.one) / "blocks/human.md"
    path.write_text(path.read_text().replace("- b\n", "").replace("- d", "- d\n- one"))
    (root(world.one) / "blocks/gone.md").unlink()
    put(world.one, "archive/2026-05/a.md", "a passage\n")
    say(world.one, "s1", "hello", "more")
    world.sync(world.one)
    path = root(world.two) / "blocks/human.md"
    path.write_text(path.read_text().replace("- a\n", "").replace("- c\n", "- c\n- two\n"))
    put(world.two, "facts/2026-05.jsonl", '{"id": "b"}\n')
    kept = tmp_path / "kept"
    shutil.copytree(tmp_path / "world", kept)

    calls = len(kill(world.two, world.remote, Fault(AFTER, 10**6)).calls)
    assert calls > 30
    every = 1 if os.environ.get("MEMFS_TEST_EXAMPLES") == "all" else 16
    for at in range(1, calls + 1, every):
        kind = (BEFORE, HALF, AFTER)[at % 3]
        shutil.rmtree(tmp_path / "world")
        shutil.copytree(kept, tmp_path / "world")
        done = kill(world.two, world.remote, Fault(kind, at))
        assert done.status in (KILLED, DONE), done.error
        world.sync(world.two, world.one)
        found = memory(world.one)
        assert found == memory(world.two), (kind, at)
        lines = found["blocks/human.md"].split("---\n")[2].splitlines()
        assert lines == ["- c", "- two", "- d", "- one"], (kind, at)
        assert "blocks/gone.md" not in found
        assert found["recall/claude/s1.jsonl"].count("\n") == 2


Step = tuple[int, str, int, int, int]
NAMES = (
    "blocks/human.md blocks/a.md blocks/dir/b.md archive/2026-05/p.md facts/2026-05.jsonl".split()
)


class Game:
    """Plays steps on both machines; `wanted` are the lines that nobody deleted."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.wanted: set[str] = set()
        self._count = 0

    def play(self, step: Step) -> None:
        machine, kind, which, at, fault = step
        place = self.world[machine]
        assert isinstance(place, Place)
        name = NAMES[which]
        path = root(place) / name
        lines = path.read_text().splitlines() if path.exists() else []
        head = lines.index("---", 1) + 1 if lines[:1] == ["---"] else 0
        if kind == "sync":
            self.world.sync(place)
        elif kind == "kill":
            kill(place, self.world.remote, Fault((BEFORE, HALF, AFTER)[at % 3], fault))
        elif kind == "say":
            self._count += 1
            said = [f"said {machine} {number}" for number in range(self._count)]
            say(place, f"session{machine}", *said)
            self.wanted |= set(said)
        elif kind == "delete":
            self.wanted -= set(lines)
            path.unlink(missing_ok=True)
        elif kind == "rename" and lines and name.startswith("blocks/"):
            path.rename(path.with_name(f"r{self._count}.md"))
        elif kind == "cut" and lines[head:]:
            self.wanted.discard(lines.pop(head + at % len(lines[head:])))
            put(place, name, "".join(f"{line}\n" for line in lines))
        elif kind == "add":
            self._count += 1
            line = f"line {self._count}"
            line = f'{{"id": "{line}"}}' if name.endswith("jsonl") else line
            lines.insert(
                len(lines) if "jsonl" in name else head + at % (len(lines) - head + 1), line
            )
            put(place, name, "".join(f"{line}\n" for line in lines))
            self.wanted.add(line)


@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from(
                ["sync", "sync", "kill", "say", "delete", "rename", "cut", *["add"] * 4]
            ),
            st.integers(0, len(NAMES) - 1),
            st.integers(0, 8),
            st.integers(1, 80),
        ),
        max_size=20,
    )
)
@examples(24)
def test_in_any_order_and_with_kills_no_line_is_lost(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    folder = tmp_path_factory.mktemp("world")
    game = Game(make_world(folder))
    for step in steps:
        game.play(step)
    one, two, _ = game.world
    game.world.sync(one, two, one)
    found = memory(one)
    assert found == memory(two)
    text = "\n".join(found.values())
    assert {line for line in game.wanted if line not in text} == set()
    for name, each in found.items():
        said = [line for line in each.splitlines() if line.startswith("line ")]
        assert len(said) == len(set(said)), name
    shutil.rmtree(folder)
