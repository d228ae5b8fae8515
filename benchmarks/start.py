"""What starting costs: the MCP server and a search, each compared with its floor.

Processor time, not wall time: it hardly depends on what else the machine does.
"""

import json
import resource
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import NamedTuple

import click

from benchmarks import command as runner
from benchmarks import passages, program, project, scratch_store
from memfs.cli import console, layout, options, progress
from memfs.recall.index_sources import Stage

_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench"}}
_LIST = "".join(
    json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
    for number, (method, params) in enumerate((("initialize", _HELLO), ("tools/list", {})))
).encode()
_MEMFS = [sys.executable, "-P", "-c", "import memfs.__main__"]
_MESSAGES = 1000
_ENGINE = "click, msgspec, numkong, numpy, tantivy, tokenizers"  # what a cold search imports


class StartTiming(NamedTuple):
    """The median of a process's processor time in ms, and of its ratio to that of a floor."""

    name: str
    floor: str
    median: float
    ratio: float


class _Case(NamedTuple):
    """A command, what it reads, and the case that is its floor; "" for a floor itself."""

    command: list[str]
    env: dict[str, str]
    stdin: bytes = b""
    floor: str = ""


def run(rounds: int, stage: Stage) -> list[StartTiming]:
    """Time each process in turns, `rounds` times, in a project of 1,000 messages."""
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        cold = program.make_user(folder, "cold", "service:\n  mode: off")
        warm = program.make_user(folder, "warm", "service:\n  mode: auto\n  pause: off")
        path = f"{folder}/project"
        passages.store(path, _MESSAGES, stage("writing", _MESSAGES))
        for env in (cold, warm):
            with scratch_store.home(env["MEMFS_HOME"]):
                project.trust_own(path)
        query = passages.queries(1)[0]
        search = [*_MEMFS, "search", query]
        bare, light = "python -c pass", 'python -c "import click"'
        engine = f'python -c "import {_ENGINE}"'
        cases = {
            bare: _Case([sys.executable, "-c", "pass"], cold),
            "memfs mcp, initialize and tools/list": _Case([*_MEMFS, "mcp"], warm, _LIST, bare),
            light: _Case([sys.executable, "-c", "import click"], cold),
            "memfs search, with the service": _Case(search, warm, floor=light),
            "memfs recall, with the service": _Case([*_MEMFS, "recall", query], warm, floor=light),
            "memfs graph, with the service": _Case([*_MEMFS, "graph"], warm, floor=light),
            engine: _Case([sys.executable, "-c", f"import {_ENGINE}"], cold),
            "memfs search without the service": _Case(search, cold, floor=engine),
        }
        program.memfs(["search", "anything"], cold, path)  # indexes
        try:
            program.run([*_MEMFS, "mcp"], _LIST, warm, path)
            ask = partial(program.run, search, b"", warm, path)
            program.await_service(ask, warm, path, stage("warming", 0))
            return _time_cases(cases, path, rounds, stage("timing", rounds))
        finally:
            program.memfs(["service", "stop"], warm, folder)


def _time_cases(
    cases: dict[str, _Case], folder: str, rounds: int, tick: Callable[[int], object]
) -> list[StartTiming]:
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            before = _read_clock()
            program.run(case.command, case.stdin, case.env, folder)
            times[name].append(_read_clock() - before)
        tick(1)
    return [
        StartTiming(
            name,
            case.floor,
            median(times[name]) * 1000,
            median(a / b for a, b in zip(times[name], times[case.floor or name], strict=True)),
        )
        for name, case in cases.items()
    ]


def _read_clock() -> float:
    """Return the processor time of the children that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@click.command("start", cls=runner.Measurement)
@options.number_option("--rounds", help="Runs of each process.", default=21, least=3)
@options.json_option
def command(rounds: int, as_json: bool) -> None:
    """Time the start of the MCP server and of a search against that of their imports."""
    with progress.show_stages() as stage:
        timings = run(rounds, stage)
    if as_json:
        console.as_json([timing._asdict() for timing in timings])
        return
    rows = [("PROCESS", "MEDIAN", "RATIO")]
    rows += [(t.name, f"{t.median:.1f} ms", f"{t.ratio:.2f}") for t in timings]
    console.echo(layout.table(rows, right=(1, 2)))


if __name__ == "__main__":
    runner.run(command)
