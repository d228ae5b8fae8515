"""The cost of the prompt hook, compared with a bare start of the same interpreter."""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import NamedTuple

import click

from benchmarks import command as runner
from benchmarks import passages, plot, program, project, scratch_store
from memfs.cli import console, layout, options, progress
from memfs.ops.install import commands
from memfs.recall import index_sources
from memfs.recall.index_sources import Stage
from memfs.store import store_paths

BLOCKS, BLOCK_CHARS = 10, 3900
_FLOOR = [sys.executable, "-I", "-S", "-E", "-c", "pass"]
_HOOK = commands.python("claude")
_UNTIMED = 2  # rounds that warm the file cache


@dataclass(frozen=True)
class HookTiming:
    """Wall time of a process in ms, and the ratio of its median to the floor's."""

    name: str
    median: float
    p95: float
    ratio: float


class _Case(NamedTuple):
    """A command, and the user, project ("": the floor) and session that it runs for.

    `reads`: the assistant reads a file instead of being asked something.
    """

    name: str
    command: list[str]
    env: dict[str, str]
    path: str
    session: str
    reads: bool = False

    def make_call(self, prompt: str, number: int) -> bytes:
        """Return what is sent to the hook in a round."""
        if self.reads:
            given = {"file_path": f"{self.path}/src/file{number}.py"}
            return self.payload("PreToolUse", tool_name="Read", tool_input=given)
        return self.payload("UserPromptSubmit", prompt=prompt) if self.path else b""

    def payload(self, event: str, **more: object) -> bytes:
        record = {"session_id": self.session, "cwd": self.path, "hook_event_name": event}
        return json.dumps({**record, **more}).encode()

    def ask(self, event: str, **more: object) -> bytes:
        """Call the hook with an event and return its output."""
        return program.run(self.command, self.payload(event, **more), self.env)


def run(rounds: int, items: int, stage: Stage) -> list[HookTiming]:
    """Time the floor and the hook in turns, `rounds` times each, on stores made for it.

    The hook runs without the service, with blocks alone and with a recall of `items` messages that
    is searched by words; then with it, which searches by meaning too, through the command that
    `memfs install` writes. The shell by which hosts start it is not measured.
    """
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        cold = program.make_user(folder, "cold", "service:\n  mode: off")
        warm = program.make_user(folder, "warm", "service:\n  mode: auto\n  pause: off")
        alone, full, served = (f"{folder}/{name}" for name in ("alone", "full", "served"))
        project.make(alone)
        place = passages.store(full, items, stage("writing", items))
        for path in (alone, full):
            _write_blocks(path)
        index_sources.sync(place, embed=True, stage=stage)
        shutil.copytree(full, served)
        for path, env in ((alone, cold), (full, cold), (served, warm)):
            with scratch_store.home(env["MEMFS_HOME"]):
                project.trust_own(path)
        cases = [
            _Case("python -I -S -E -c pass", _FLOOR, cold, "", ""),
            _Case(f"prompt hook, {BLOCKS} blocks", _HOOK, cold, alone, "1"),
            _Case(f"prompt hook, {BLOCKS} blocks, {items:,} messages", _HOOK, cold, full, "2"),
            _Case("the same with the service, by meaning too", _HOOK, warm, served, "3"),
            _Case("a file that is read, with the service", _HOOK, warm, served, "3", reads=True),
        ]
        try:
            for case in cases[1:4]:
                if b"BLOCK0" not in case.ask("SessionStart", source="startup"):
                    raise RuntimeError(f"the hook does not show the blocks of {case.path}")
            greet = partial(cases[3].ask, "UserPromptSubmit", prompt="hello there")
            program.await_service(greet, warm, served, stage("warming", 0))
            return _summarize(_time_cases(cases, rounds, stage("timing", rounds)))
        finally:
            program.memfs(["service", "stop"], warm, folder)


def _time_cases(
    cases: list[_Case], rounds: int, tick: Callable[[int], object]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    prompts = [f"please look at {query}" for query in passages.queries(rounds + _UNTIMED)]
    for number in range(len(prompts)):
        # The order alternates: no case profits from the caches of the same other each time.
        for at in range(len(cases))[:: 1 if number % 2 else -1]:
            case = cases[at]
            prompt = prompts[(number + at) % len(prompts)]  # no prompt comes twice in a row
            stdin = case.make_call(prompt, number)
            start = time.perf_counter()
            program.run(case.command, stdin, case.env)
            seconds = time.perf_counter() - start
            if number >= _UNTIMED:
                times[case.name].append(seconds * 1000)
        tick(number >= _UNTIMED)
    return times


def figure(timings: list[HookTiming]) -> str:
    """Draw the medians."""
    drawn = [
        plot.Bar(each.name, each.median, f"{each.median:.1f} ms, x {each.ratio:.1f}", not number)
        for number, each in enumerate(timings)
    ]
    return plot.bars("What a prompt hook costs", "milliseconds of the whole process, median", drawn)


def _summarize(times: dict[str, list[float]]) -> list[HookTiming]:
    medians = {name: sorted(values)[len(values) // 2] for name, values in times.items()}
    floor = next(iter(medians.values()))
    return [
        HookTiming(
            name, medians[name], sorted(values)[int(len(values) * 0.95)], medians[name] / floor
        )
        for name, values in times.items()
    ]


def _write_blocks(path: str) -> None:
    folder = f"{path}/{store_paths.NAME}/blocks"
    os.makedirs(folder, exist_ok=True)
    for number in range(BLOCKS):
        line = f"Block {number} keeps facts of about sixty characters on each line.\n"
        body = (line * (BLOCK_CHARS // len(line) + 1))[:BLOCK_CHARS]
        with open(f"{folder}/block{number}.md", "w", encoding="utf-8") as handle:
            handle.write(
                f"---\ndescription: Block {number}, for measuring.\nlimit: 5000\n"
                f"read_only: false\npinned: true\nversion: 1\n---\n{body}\n"
            )


@click.command("hook", cls=runner.Measurement)
@options.number_option("--rounds", help="Calls of each process.", default=60, least=5)
@options.number_option("--items", help="Messages that every prompt searches.", default=10000)
@runner.plot_option
@options.json_option
def command(rounds: int, items: int, plot: str, as_json: bool) -> None:
    """Time the prompt hook against a bare start of the interpreter.

    10 blocks with 39 kB; alone, with a recall that every prompt searches by words, by meaning too,
    and so with the service at hand.
    """
    with progress.show_stages() as stage:
        timings = run(rounds, items, stage)
    runner.write_plot(plot, figure(timings))
    if as_json:
        console.as_json([asdict(timing) for timing in timings])
        return
    rows = [("PROCESS", "MEDIAN", "P95", "RATIO")]
    rows += [(t.name, f"{t.median:.2f} ms", f"{t.p95:.2f} ms", f"{t.ratio:.2f}") for t in timings]
    console.echo(layout.table(rows, right=(1, 2, 3)))


if __name__ == "__main__":
    runner.run(command)
