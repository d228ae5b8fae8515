"""The world that faults happen in: a home and a repository, which can be put back as they were."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import pytest

from memfs.core.body_edits import Append, Create, Edit
from memfs.core.records import Origin
from memfs.ops import edit, init
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.faults import harness
from tests.faults.harness import BEFORE, ENOSPC, ERRORS, KILLS, Fault, Methods, Result, Step
from tests.faults.power import ALL, LOSSES

ANY = (*KILLS, *ERRORS)
FAULTS_AND_POWER = pytest.mark.parametrize("kinds", [ANY, LOSSES], ids=["faults", "power"])
SESSION = "s1"
ORIGIN = Origin("agent", "test", SESSION)
Look = TypeVar("Look")
_ENDS = 10  # the first and the last calls of a sequence are always tried
_MIDDLE = 6  # of the others, so many


class World:
    """A folder with `home/` and `repo/`; `save` it once, `restore` it before each fault."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "world"
        self.saved = folder / "saved"
        self.home, self.repo = self.root / "home", self.root / "repo"
        self.home.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "--template=", str(self.repo)], check=True)

    def fill(self) -> None:
        """Make the stores, with a block in each tier."""
        init.run(str(self.repo), str(self.home))
        self.edit(
            Append("human", "Name: Alice"),
            Create("notes", "What is worth noting", "one\ntwo\nthree"),
            Create("session:working", "What is being done", "first"),
        )

    def save(self) -> None:
        shutil.rmtree(self.saved, ignore_errors=True)
        shutil.copytree(self.root, self.saved, symlinks=True)

    def restore(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self.saved, self.root, symlinks=True)

    def place(self) -> Place:
        return blocks.find_place(str(self.repo), SESSION)

    def edit(self, *wanted: Edit) -> None:
        assert isinstance(edit.run(self.place(), list(wanted), ORIGIN), edit.Edited)

    def texts(self) -> dict[str, str | None]:
        return blocks.read_texts(self.place())

    def files(self, suffix: str = "", below: str = "") -> dict[str, bytes]:
        """Map the path of each file (from `root` on) that ends so to its bytes."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted((self.root / below).rglob("*"))
            if path.is_file() and path.name.endswith(suffix) and ".git" not in path.parts
        }

    def temporaries(self) -> list[str]:
        return list(self.files(".tmp"))


class Seen(NamedTuple, Generic[Look]):
    """A fault, and how the world looks without it: after the steps that returned, and one more."""

    fault: Fault
    result: Result
    old: Look
    new: Look


def exercise(
    world: World,
    steps: Sequence[Step],
    look: Callable[[], Look],
    check: Callable[[Seen[Look]], object],
    kinds: Sequence[str] = ANY,
    methods: Methods = (),
) -> int:
    """Run `steps` with every fault of the kinds, checking the world after each; return how many.

    `kinds` are kinds of faults, or the ways of losing power. `look` tells the states apart that
    the world has between steps; it is called where no fault was.
    """
    world.save()
    states = [look()]
    for count in range(1, len(steps) + 1):
        world.restore()
        result = harness.run(str(world.root), steps[:count], None, methods)
        assert result.status == harness.DONE, result.error
        states.append(look())
    tried = 0
    for fault in _plan(result.calls, kinds):
        world.restore()
        result = harness.run(str(world.root), steps, fault, methods)
        assert result.status != harness.CRASHED, f"{fault}: {result.error}"
        old, new = states[result.done], states[min(result.done + 1, len(steps))]
        try:
            check(Seen(fault, result, old, new))
        except BaseException as error:
            error.add_note(f"{fault}, {result.done} steps done, {result.error}")
            error.add_note("\n".join(f"{n} {c}" for n, c in enumerate(result.calls, 1)))
            raise
        tried += 1
    return tried


def _plan(calls: list[str], kinds: Sequence[str]) -> Iterator[Fault]:
    for at in _sample(len(calls)):
        for kind in kinds:
            if kind in LOSSES:
                yield Fault(BEFORE, at, kind)
                if kind == ALL:  # what failed, and was told so, does not come back
                    yield Fault(ENOSPC, at, kind)
            elif _differs(kind, calls[at - 1].split()[0], last=at == len(calls)):
                yield Fault(kind, at)
    for kind in kinds:
        if kind in LOSSES:  # the power goes when all is done
            yield Fault(BEFORE, len(calls) + 1, kind)


def _differs(kind: str, call: str, *, last: bool) -> bool:
    """Tell whether a fault can be, and leaves another disk than the same one at the next call."""
    match kind:
        case harness.HALF:
            return call == "write"
        case harness.FULL:
            return call in harness.GROWING
        case harness.ENOSPC:  # the others need no room
            return call not in ("open", "ftruncate", "unlink", "rmdir")
        case harness.AFTER:  # every change is counted: nothing happens until before the next one
            return last
        case _:
            return True


def _sample(count: int) -> list[int]:
    """Return which of `count` calls are tried: the first, the last, some in the middle."""
    middle = range(_ENDS + 1, count - _ENDS + 1)
    step = max(1, -(-len(middle) // _MIDDLE))
    ends = [at for at in range(1, count + 1) if at not in middle]
    return sorted({*ends, *middle[::step]})
