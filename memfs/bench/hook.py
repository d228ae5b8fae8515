"""What the prompt hook costs, against a bare start of the same interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.bench import plot, project
from memfs.core.records import Identity, Message, Transcript
from memfs.memory import corpus
from memfs.store import blocks, layout, recall, shipped

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCKS, BLOCK_CHARS, MESSAGES = 10, 3900, 10_000
_TEXT = """
cache index token branch retry timeout parser socket schema widget deploy ledger cursor buffer
thread packet router signal vector folder merge commit review queue worker signer invoice
payment session header cookie report metric sample render layout canvas shader
"""
_WORDS = _TEXT.split()


@dataclass(frozen=True)
class Timing:
    """Milliseconds of wall time of a whole process, and the ratio to the floor's median."""

    name: str
    median: float
    p95: float
    ratio: float


def run(rounds: int, tick: Callable[[int], object]) -> list[Timing]:
    """Time the floor and the hook in turns, `rounds` times each, on a store made for it."""
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        env = _environment(folder)
        alone, full = f"{folder}/alone", f"{folder}/full"
        for path in (alone, full):
            _project(path)
            _run([sys.executable, "-m", "memfs", "trust", "--yes"], b"", env, path)
        _recall(full, env)
        bare = [sys.executable, "-I", "-S", "-E", "-c", "pass"]
        hook = [sys.executable, "-I", "-S", "-E", shipped.path("hooks", "memfs_hook.py"), "claude"]
        for path in (alone, full):
            brief = _run(hook, _payload(path, "SessionStart", source="startup"), env, path)
            if b"BLOCK0" not in brief:
                raise RuntimeError(f"the hook does not show the blocks of {path}")
        cases: list[tuple[str, list[str], str]] = [
            ("python -I -S -E -c pass", bare, ""),
            (f"prompt hook, {BLOCKS} blocks", hook, alone),
            (f"prompt hook, {BLOCKS} blocks, {MESSAGES:,} messages", hook, full),
        ]
        times: dict[str, list[float]] = {name: [] for name, _, _ in cases}
        for number in range(rounds + 2):
            for name, command, path in cases:
                stdin = _prompt(path, number) if path else b""
                start = time.perf_counter()
                _run(command, stdin, env, folder)
                spent = time.perf_counter() - start
                if number >= 2:  # the first rounds warm the file cache
                    times[name].append(spent * 1000)
            tick(1)
    return _timings(times)


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


def _run(command: list[str], stdin: bytes, env: dict[str, str], folder: str) -> bytes:
    done = subprocess.run(  # noqa: S603 - our own programs
        command, input=stdin, capture_output=True, env=env, cwd=folder, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[-1]}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def _environment(folder: str) -> dict[str, str]:
    return {"HOME": folder, "MEMFS_HOME": f"{folder}/user", "PATH": os.environ.get("PATH", "")}


def _project(path: str) -> None:
    root = project.make(path).home.root
    os.mkdir(f"{root}/blocks")
    for number in range(BLOCKS):
        line = f"Block {number} keeps facts of about sixty characters on each line.\n"
        body = (line * (BLOCK_CHARS // len(line) + 1))[:BLOCK_CHARS]
        with open(f"{root}/blocks/block{number}.md", "w", encoding="utf-8") as handle:
            handle.write(
                f"---\ndescription: Block {number}, for measuring.\nlimit: 5000\n"
                f"read_only: false\npinned: true\nversion: 1\n---\n{body}\n"
            )


def _recall(path: str, env: dict[str, str]) -> None:
    """Fill recall with messages of 40 words, and index them."""
    place = blocks.Place(layout.find(path), None)
    messages = [
        Message(
            f"m{number}", f"s{number // 100}", "claude", path, "main",
            "2026-05-03T10:00:00Z", "user" if number % 2 else "assistant", _text(number),
        )
        for number in range(MESSAGES)
    ]  # fmt: skip
    log = recall.Log(place.home, "claude", Identity("bench", ""))
    log.replace(None, env["HOME"], Transcript(messages, 0, 0, 0), "")
    corpus.sync(place, embed=False)


def _text(number: int) -> str:
    """Return 40 words that depend on `number`, in a spread of rare and common ones."""
    words = []
    state = number * 2654435761 % (1 << 32)
    for _ in range(40):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        place = (state >> 16) * (state >> 16) * len(_WORDS) >> 32
        suffix = (state >> 8) % 40
        words.append(_WORDS[place] + (str(suffix) if suffix > 20 else ""))
    return " ".join(words)


def _prompt(path: str, number: int) -> bytes:
    words = " ".join(_text(number * 37 + 5).split()[:8])
    return _payload(path, "UserPromptSubmit", prompt=f"please look at {words}")


def _payload(path: str, event: str, **more: str) -> bytes:
    found = {"session_id": "bench-session", "cwd": path, "hook_event_name": event, **more}
    return json.dumps(found).encode()
