"""`python -m tests.stress`: many processes edit the same blocks and are killed while they do.

Every edit carries a line of its own, and a worker notes it as acknowledged, durably, once the call
has returned. Afterwards ledgers, journals and files must tell the same story (`checks`).
"""

import argparse
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.stress import rounds
from tests.stress.roads import ROADS
from tests.stress.rounds import Result
from tests.stress.workers import Plan

_SHOWN = 30  # failures of a round


def main(words: list[str]) -> int:
    asked = _arguments().parse_args(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start, seed = time.time(), asked.seed or secrets.token_hex(4)
    until = start + asked.minutes * 60 if asked.minutes else float("inf")
    results: list[Result] = []
    failed = False
    while not results or (asked.minutes and time.time() < until):
        root = Path(tempfile.mkdtemp(prefix="memfs-stress-")).resolve()
        plan = Plan(
            asked.processes, asked.edits, f"{seed}.{len(results)}", asked.roads, asked.kills, until
        )
        try:
            result = rounds.run(root, plan)
        except KeyboardInterrupt:
            shutil.rmtree(root)
            raise
        results.append(result)
        if result.failures:
            failed = True
            for failure in result.failures[:_SHOWN]:
                print(f"✗ round {len(results)}: {failure}", file=sys.stderr)
            more = len(result.failures) - _SHOWN
            print(f"✗ {max(more, 0)} more; everything is kept in {root}", file=sys.stderr)
        else:
            shutil.rmtree(root)
    print(_table(asked.processes, results, time.time() - start))
    if failed:
        again = f"python -m tests.stress {' '.join(words)} --seed {seed}"  # the last one counts
        print(f"again (when each kill comes is the system's): {again}", file=sys.stderr)
    return int(failed)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.stress", description=__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=0, help="repeat rounds so long (without: one round)")
    add("--processes", type=int, default=16, help="workers (16)")
    add("--edits", type=int, default=200, help="steps of each worker in a round (200)")
    add("--kills", type=float, default=0.1, help="share of steps that are killed (0.1)")
    add("--roads", type=_roads, default=dict.fromkeys(ROADS, 1), help="shares: cli=1,python=3")
    add("--seed", default="", help="the lots that are drawn")
    return parser


def _roads(text: str) -> dict[str, int]:
    shares = {name: int(share) for name, share in (part.split("=") for part in text.split(","))}
    if unknown := shares.keys() - ROADS.keys():
        raise argparse.ArgumentTypeError(f"no road {', '.join(unknown)}, but {', '.join(ROADS)}")
    return shares


def _table(processes: int, results: list[Result], seconds: float) -> str:
    noted = [note for result in results for note in result.noted]
    steps = [note for note in noted if note.step.road in ROADS]
    done = Counter(note.step.road for note in noted if note.done)
    unknown = sum(not note.done and not note.refused for note in steps)
    calls: dict[str, list[float]] = {}
    for result in results:
        for what, took in result.calls.items():
            calls.setdefault(what, []).extend(took)
    working = sum(result.seconds for result in results)
    rows = [
        ("processes", f"{processes}, an editor, prompts and readers"),
        ("rounds", f"{len(results)} in {seconds:,.0f} s"),
        ("steps", f"{len(steps):,}, {sum(map(bool, (n.refused for n in steps))):,} refused"),
        ("acknowledged", ", ".join(f"{road} {count:,}" for road, count in done.items())),
        ("edits per second", f"{sum(done[road] for road in ROADS) / working:.1f}"),
        ("journalled edits", f"{sum(result.journalled for result in results):,}"),
        ("killed steps", f"{unknown:,}, {sum(r.overtaken for r in results):,} journalled before"),
        ("killed workers", f"{sum(result.killed_workers for result in results):,}"),
        *((what, f"{len(took):,}, slowest {max(took):.2f} s") for what, took in calls.items()),
        ("failures", f"{sum(len(result.failures) for result in results):,}"),
    ]
    return "\n".join(f"{name:20} {value}" for name, value in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
