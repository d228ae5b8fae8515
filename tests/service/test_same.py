"""A session is told the same with the service and without.

Held to be the same, byte for byte: whole briefs, changed blocks, blocks about a file, and silence. What a prompt brings to
mind is found better by the service, which looks by meaning too; of that it is asserted that whatever
words alone find is told, unless there are as many hits as one prompt may bring, and that no hit is
told to a session twice.
"""

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ipc import client, service_status
from memfs.ops import archive, brief, edit, init
from memfs.recall import index_sources
from memfs.store import blocks
from tests.examples import examples
from tests.service import running
from tests.service.running import answered, hook, payload

_HIT = re.compile(r"^- .*\((?:words|meaning)[^)]*\)\n> (.*)$", re.MULTILINE)
_RECALLED = "# Recalled from earlier "


class World(NamedTuple):
    """A home, and two repositories with stores."""

    root: Path

    def repo(self, number: int) -> Path:
        return self.root / f"repo{number}"

    def enter(self, mode: str) -> None:
        os.environ["HOME"] = str(self.root / "home")
        os.environ["MEMFS_SERVICE_MODE"] = mode
        os.chdir(self.root)


@pytest.fixture
def worlds(tmp_path: Path, wanted: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[World]]:
    """Two that are alike; the service runs in the first."""
    monkeypatch.chdir(tmp_path)
    made = []
    for name in ("warm", "cold"):
        world = World(tmp_path / name)
        for folder in ("home", "repo0/.git", "repo1/.git"):
            (world.root / folder).mkdir(parents=True)
        world.enter("auto")
        for number in range(2):
            init.run(str(world.repo(number)), str(world.root / "home"))
        made.append(world)
    made[0].enter("auto")
    running.begin()
    yield made
    for world in made:
        world.enter("off")
        running.end_all(world.root / "home")


def both(worlds: list[World], do: Callable[[World], str]) -> list[str]:
    """Do something in both; return what was told, as if both were in one place."""
    told = []
    for world, mode in zip(worlds, ("auto", "off"), strict=True):
        world.enter(mode)
        told.append(do(world).replace(str(world.root), "/world"))
    return told


SESSIONS = st.sampled_from(["a", "b"])
REPOS = st.integers(0, 1)
STEP = st.one_of(
    st.tuples(
        st.just("start"),
        REPOS,
        SESSIONS,
        st.sampled_from(["startup", "resume", "compact", "clear"]),
    ),
    st.tuples(
        st.just("prompt"), REPOS, SESSIONS, st.sampled_from(["", "go", "go on with it, please"])
    ),
    st.tuples(
        st.just("edit"), REPOS, st.sampled_from(["human", "system_rules"]), st.sampled_from("xyz")
    ),
    st.tuples(
        st.just("file"),
        REPOS,
        st.sampled_from(["human", "new"]),
        st.sampled_from(["", "A.\n", "B.\n", "---\npaths: src/*\n---\nC.\n"]),
    ),
    st.tuples(st.just("read"), REPOS, SESSIONS, st.sampled_from(["src/a.py", "b.py"])),
    st.tuples(st.just("compaction"), REPOS, SESSIONS, st.just("")),
)


def step(world: World, kind: str, number: int, name: str, text: str, run: str) -> str:
    repo = world.repo(number)
    if kind == "edit":
        edit.run(blocks.find_place(str(repo)), [Append(f"project:{name}", text)], Origin())
        return ""
    if kind == "file":
        path = repo / f".agent-memory/blocks/{name}.md"
        if text:
            path.write_text(text)
        else:
            path.unlink(missing_ok=True)
        return ""
    if kind == "read":
        given = {"file_path": text}
        session = f"{run}{name}"
        return hook(
            payload(repo, "PreToolUse", session=session, tool_name="Read", tool_input=given)
        )
    event = {"start": "SessionStart", "prompt": "UserPromptSubmit", "compaction": "PreCompact"}[
        kind
    ]
    source = text if kind == "start" else ""
    return hook(payload(repo, event, text, f"{run}{name}", source=source))


@examples(20)
@given(steps=st.lists(STEP, min_size=4, max_size=14))
def test_briefs_news_and_silence_are_the_same(
    worlds: list[World], steps: list[tuple[str, int, str, str]]
) -> None:
    run = os.urandom(6).hex()  # what a session is told twice in a moment is kept from it once
    for world in worlds:
        for number in range(2):
            (world.repo(number) / ".agent-memory/blocks/new.md").unlink(missing_ok=True)
            for label in ("system_rules", "human"):
                text = "---\ndescription: x\n---\nAs at first.\n"
                (world.repo(number) / f".agent-memory/blocks/{label}.md").write_text(text)
    for kind, number, name, text in steps:
        do = partial(step, kind=kind, number=number, name=name, text=text, run=f"{run}")
        warm, cold = both(worlds, do)
        assert warm == cold
    # It was the service that answered, and not everybody for himself.
    worlds[0].enter("auto")
    hook(payload(worlds[0].repo(0), "SessionStart", session=f"{run}"))
    assert answered(payload(worlds[0].repo(0), "UserPromptSubmit", "go", f"{run}")) == ""


FACTS = (
    "We chose postgres for the ledger because of serializable isolation",
    "The retry backoff starts at 200 ms and doubles up to ten seconds",
    "Invoices are rendered with weasyprint in a worker of their own",
    "The staging cluster is rebuilt every night from terraform",
    "Feature flags are read from a file that is reloaded on a signal",
)
PROMPTS = (
    "which database did we choose for the ledger isolation",
    "how does the retry backoff start and when it doubles",
    "where are invoices rendered in a worker",
    "when is the staging cluster rebuilt from terraform",
    "nothing of all that matters for lunch",
    "postgres ledger, retry backoff, invoices worker, staging cluster",
)


def test_what_words_find_is_told_by_the_service_too_and_nothing_twice(worlds: list[World]) -> None:
    def fill(world: World) -> str:
        place = blocks.find_place(str(world.repo(0)))
        for fact in FACTS:
            archive.run(place, fact, importance=5, tags=(), origin=Origin())
        index_sources.sync(place, embed=True)
        return hook(payload(world.repo(0), "SessionStart", session="s"))

    both(worlds, fill)
    worlds[0].enter("auto")
    assert client.ask("hold", [str(worlds[0].repo(0))], wait=running.LONG) is not None
    running.until(lambda: not (service_status.load_status() or running.begin()).work)
    seen: list[set[str]] = [set(), set()]
    for prompt in PROMPTS:
        warm, cold = both(
            worlds, partial(step, kind="prompt", number=0, name="s", text=prompt, run="")
        )
        found = [set(_HIT.findall(text)) for text in (warm, cold)]
        assert (_RECALLED in warm) == bool(found[0])
        assert not found[0] & seen[0]
        assert found[1] <= found[0] | seen[0] or len(found[0]) == brief.RECALL_AUTO
        seen = [old | new for old, new in zip(seen, found, strict=True)]
    assert seen[1]
