"""Targets, and how their cases are run: in a process of their own, which may crash or hang.

A target takes a case, a name and bytes, to the public entry that reads such bytes. What it raises
but `MemfsError` and `OSError` is a finding, and so is more than two seconds of the processor.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from memfs.core.errors import MemfsError
from tests.fuzz import mutate
from tests.fuzz.world import World

CASES = Path(__file__).parent / "cases"
STORED = ("bundles", "config_files", "front_matter", "journal", "recall")
NAMES = (*STORED, "frames", "graphs", "indexes", "messages", "models", "transcripts")
LONGEST = 2.0  # seconds of the processor for a case
PATIENCE = 40.0  # seconds that a process may be silent
_AGAIN = 100  # cases after which all of the project is made as it was
_ROUNDS = 15  # of a case that is kept: most targets take another way each time
_MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it
_FRAME = re.compile(r'File ".*/memfs/([^"]+)", line \d+, in (\S+)')
_RAISED = re.compile(r"^error: a bug in memfs \((\w+)", re.MULTILINE)


class Case(NamedTuple):
    """What a target is given: bytes, and which file they are of."""

    name: str
    data: bytes

    def written(self) -> bytes:
        return self.name.encode() + b"\n" + self.data

    @classmethod
    def read(cls, path: Path) -> Case:
        name, _, data = path.read_bytes().partition(b"\n")
        return cls(name.decode(), data)


class Target(NamedTuple):
    """Valid samples, and what runs a case that was made of one."""

    samples: Sequence[Case]
    run: Callable[[Case], object]


class Finding(NamedTuple):
    """What went wrong: where, which tells it from others, and all of it."""

    where: str
    text: str


class HangError(BaseException):
    """A case took too long."""


def begun(name: str, world: World) -> Target:
    """Return a target by name, ready to run in a world."""
    module = importlib.import_module(f"tests.fuzz.targets.{'stored' if name in STORED else name}")
    found: Target = getattr(module, name if name in STORED else "begin")(world)
    world.settle()
    return found


def tried(target: Target, case: Case, world: World) -> Finding | None:
    """Run one case; return what was wrong."""
    try:
        with _in_time():
            target.run(case)
    except (MemfsError, OSError):
        pass
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return _found(error)
    harm = world.harm()
    return Finding("outside", harm) if harm else None


def _found(error: BaseException) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if f"{os.sep}memfs{os.sep}" in each.filename]
    last = ours[-1] if ours else frames[-1]
    where = f"{type(error).__name__} {Path(last.filename).name}:{last.name}"
    printed = _FRAME.findall(str(error)) if isinstance(error, AssertionError) else ()
    if printed:  # by a command, which says where a bug of ours happened
        raised = _RAISED.findall(str(error))
        where = " ".join([*raised[-1:], ":".join(printed[-1])])
    return Finding(where, "".join(traceback.format_exception(error))[-4000:])


@contextmanager
def _in_time() -> Iterator[None]:
    """Raise `HangError` after so much time of the processor: others may keep it busy, too."""

    def stop(_signal: int, _frame: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def work(name: str, seconds: float, seed: str, top: Path) -> None:
    """Be the process that runs cases, and writes down each before it does, and what it finds."""
    world = World(top / "world")
    target = begun(name, world)
    chance = Random(seed)
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        sample = chance.choice(target.samples)
        case = Case(sample.name, mutate.mutated(sample.data, chance))
        (top / "now").write_bytes(case.written())
        finding = tried(target, case, world)
        count += 1
        (top / "count").write_text(str(count))
        if finding:
            _keep(top, finding, case)
        if finding or count % _AGAIN == 0:
            world.put_back()


def _keep(top: Path, finding: Finding, case: Case) -> None:
    """Keep a finding and its case; of several at one place the smallest."""
    path = top / "found" / hashlib.sha256(finding.where.encode()).hexdigest()[:12]
    path.parent.mkdir(exist_ok=True)
    more = path.with_suffix(".txt")
    if not path.exists() or path.stat().st_size > len(case.written()):
        path.write_bytes(case.written())
        more.write_text(f"{finding.where}\n{finding.text}")


def replay(name: str, top: Path) -> list[str]:
    """Run the cases of a target that are kept; return what was wrong with them."""
    world = World(top / name)
    target = begun(name, world)
    found = []
    for path in sorted((CASES / name).glob("*")):
        case = Case.read(path)
        (top / "now").write_bytes(case.written())
        for _ in range(_ROUNDS):
            finding = tried(target, case, world)
            if finding:
                found.append(f"{name}/{path.name}: {finding.text}")
                world.put_back()
                break
    return found


def fuzz(name: str, seconds: float, seed: str, keep: Path) -> tuple[int, dict[str, str]]:
    """Run a target for some seconds; return how many cases ran, and what was found.

    A process that crashes or hangs is a finding, too: another goes on. Their cases go to `keep`.
    """
    until, total, rounds = time.monotonic() + seconds, 0, 0
    findings: dict[str, str] = {}
    while time.monotonic() < until:
        top = Path(
            tempfile.mkdtemp(prefix="memfs-fuzz-", dir=_MEMORY if os.path.isdir(_MEMORY) else None)
        )
        try:
            words = [name, str(max(1.0, until - time.monotonic())), f"{seed}.{rounds}", str(top)]
            ended = watched([sys.executable, "-m", "tests.fuzz", "--work", *words], top)
            total += _number(top / "count")
            if ended:
                case = Case.read(top / "now") if (top / "now").exists() else Case("none", b"")
                _keep(top, Finding(ended[:60], ended), case)
            for path in sorted((top / "found").glob("*.txt")):
                text = path.read_text()
                findings.setdefault(text.partition("\n")[0], text)
                folder = keep / name
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path.with_suffix(""), folder / path.stem)
                shutil.copy2(path, folder / path.name)
        finally:
            shutil.rmtree(top, ignore_errors=True)
        rounds += 1
    return total, findings


def watched(words: list[str], top: Path) -> str:
    """Run a process; return how it ended, "" if as it should. One that is silent is stopped."""
    with (top / "said").open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        began = time.time()
        while True:
            try:
                code = process.wait(1.0)
                break
            except subprocess.TimeoutExpired:
                now = top / "now"
                last = now.stat().st_mtime if now.exists() else began
                if time.time() - max(last, began) > PATIENCE:
                    process.kill()
                    process.wait()
                    return f"hangs: nothing for {PATIENCE:g} seconds"
            except BaseException:
                process.kill()
                process.wait()
                raise
    tail = (top / "said").read_text(errors="replace")[-1500:]
    if code < 0:
        return f"crash: {signal.Signals(-code).name}\n{tail}"
    return f"exit code {code}\n{tail}" if code else ""


def _number(path: Path) -> int:
    return int(path.read_text() or 0) if path.exists() else 0
