"""What the prompt hook costs, against a bare start of the same interpreter."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memfs.bench import passages, plot, project
from memfs.memory import corpus
from memfs.ops import trust
from memfs.ops.install import commands
from memfs.store import blocks, layout, scratch

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.memory.corpus import Stage

BLOCKS, BLOCK_CHARS = 10, 3900
_FLOOR = [sys.executable, "-I", "-S", "-E", "-c", "pass"]
_HOOK = commands.python("claude")
_QUICK = commands.perl("claude")  # empty where there is none
_UNTIMED = 2  # rounds that warm the file cache
_PAUSE = 0.3  # seconds
_LONGEST = 3600.0


@dataclass(frozen=True)
class Timing:
    """Milliseconds of wall time of a whole process, and the ratio to the floor's median."""

    name: str
    median: float
    p95: float
    ratio: float


class _Case(NamedTuple):
    """What is run, by which user, in which project ("": the floor) and session of an assistant."""

    name: str
    command: list[str]
    env: dict[str, str]
    path: str
    session: str

    def payload(self, event: str, **more: str) -> bytes:
        told = {"session_id": self.session, "cwd": self.path, "hook_event_name": event}
        return json.dumps({**told, **more}).encode()


def run(rounds: int, items: int, stage: Stage) -> list[Timing]:
    """Time the floor and the hook in turns, `rounds` times each, on stores made for it.

    By itself, with blocks alone and with a recall of `items` messages that is searched by words,
    then by meaning too; and with the service of a user at hand, which does the same and is asked
    by what `memfs install` would write. The shell by which hosts start it is not in it.
    """
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        cold = _environment(folder, "cold", "service:\n  mode: off")
        near = _environment(folder, "near", "service:\n  mode: off\nhooks:\n  cold: hybrid")
        warm = _environment(folder, "warm", "service:\n  mode: auto\n  pause: off")
        alone, full, by_meaning, served = (
            f"{folder}/{name}" for name in ("alone", "full", "by_meaning", "served")
        )
        project.make(alone)
        place = passages.store(full, items, stage("writing", items))
        for path in (alone, full):
            _blocks(path)
        corpus.sync(place, embed=True, stage=stage)
        for path in (by_meaning, served):
            shutil.copytree(full, path)
        for path, env in ((alone, cold), (full, cold), (by_meaning, near), (served, warm)):
            with scratch.home(env["MEMFS_HOME"]):
                trust.accept(blocks.Place(layout.find(path), None))
        cases = [
            _Case("python -I -S -E -c pass", _FLOOR, cold, "", ""),
            _Case(f"prompt hook, {BLOCKS} blocks", _HOOK, cold, alone, "1"),
            _Case(f"prompt hook, {BLOCKS} blocks, {items:,} messages", _HOOK, cold, full, "2"),
            _Case("the same, by meaning too", _HOOK, near, by_meaning, "3"),
            _Case("the same with the service, by meaning too", _QUICK or _HOOK, warm, served, "4"),
        ]
        if _QUICK:
            cases.append(_Case("the same, where there is no Perl", _HOOK, warm, served, "5"))
        try:
            for case in cases[1:]:
                brief = _run(case.command, case.payload("SessionStart", source="startup"), case.env)
                if b"BLOCK0" not in brief:
                    raise RuntimeError(f"the hook does not show the blocks of {case.path}")
            _warmed(cases[4], stage("warming", 0))
            return _timings(_timed(cases, rounds, stage("timing", rounds)))
        finally:
            _memfs(["daemon", "stop"], warm, folder)


def _timed(
    cases: list[_Case], rounds: int, tick: Callable[[int], object]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    prompts = [f"please look at {query}" for query in passages.queries(rounds + _UNTIMED)]
    for number in range(len(prompts)):
        # What one leaves in the processor's caches is no advantage of the same other each time.
        for at in range(len(cases))[:: 1 if number % 2 else -1]:
            case = cases[at]
            prompt = prompts[(number + at) % len(prompts)]  # none is asked twice in a row
            stdin = case.payload("UserPromptSubmit", prompt=prompt) if case.path else b""
            start = time.perf_counter()
            _run(case.command, stdin, case.env)
            spent = time.perf_counter() - start
            if number >= _UNTIMED:
                times[case.name].append(spent * 1000)
        tick(number >= _UNTIMED)
    return times


def _warmed(case: _Case, tick: Callable[[int], object]) -> None:
    """Have the service hold a store, and wait until it has nothing left to do for it."""
    prompt = case.payload("UserPromptSubmit", prompt="hello there")
    deadline = time.monotonic() + _LONGEST
    while time.monotonic() < deadline:
        _run(case.command, prompt, case.env)
        time.sleep(_PAUSE)
        found = json.loads(_memfs(["daemon", "--json"], case.env, case.path))
        if found.get("stores") and not found["work"]:
            return
        tick(0)
    raise RuntimeError("the service is not done with its work: memfs daemon")


def figure(timings: list[Timing]) -> str:
    """Draw the medians."""
    drawn = [
        plot.Bar(each.name, each.median, f"{each.median:.1f} ms, x {each.ratio:.1f}", not number)
        for number, each in enumerate(timings)
    ]
    return plot.bars("What a prompt hook costs", "milliseconds of the whole process, median", drawn)


def _timings(times: dict[str, list[float]]) -> list[Timing]:
    medians = {name: sorted(values)[len(values) // 2] for name, values in times.items()}
    floor = next(iter(medians.values()))
    return [
        Timing(name, medians[name], sorted(values)[int(len(values) * 0.95)], medians[name] / floor)
        for name, values in times.items()
    ]


def _memfs(words: list[str], env: dict[str, str], folder: str) -> bytes:
    return _run([sys.executable, "-m", "memfs", *words], b"", env, folder)


def _run(command: list[str], stdin: bytes, env: dict[str, str], folder: str = "/") -> bytes:
    done = subprocess.run(  # noqa: S603 - our own programs
        command, input=stdin, capture_output=True, env=env, cwd=folder, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[-1]}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def _environment(folder: str, name: str, configured: str) -> dict[str, str]:
    """Return the environment of a user with a store of that name."""
    user = f"{folder}/{name}"
    os.mkdir(user)
    with open(f"{user}/{layout.CONFIG}", "w", encoding="utf-8") as handle:
        handle.write(f"memfs: 1\n{configured}\n")
    return {"HOME": folder, "MEMFS_HOME": user, "PATH": os.environ.get("PATH", "")}


def _blocks(path: str) -> None:
    folder = f"{path}/{layout.NAME}/blocks"
    os.makedirs(folder, exist_ok=True)
    for number in range(BLOCKS):
        line = f"Block {number} keeps facts of about sixty characters on each line.\n"
        body = (line * (BLOCK_CHARS // len(line) + 1))[:BLOCK_CHARS]
        with open(f"{folder}/block{number}.md", "w", encoding="utf-8") as handle:
            handle.write(
                f"---\ndescription: Block {number}, for measuring.\nlimit: 5000\n"
                f"read_only: false\npinned: true\nversion: 1\n---\n{body}\n"
            )
