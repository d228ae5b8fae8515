"""Runs steps in a forked child in which the n-th change to the disk kills the process or fails.

The functions of `os` that change files are replaced in the child, and so is `open` for writing,
whose handles then write through them. A call counts if its file is in the world.
"""

from __future__ import annotations

import errno
import gc
import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from memfs.core.errors import MemfsError
from tests.faults import wrapped
from tests.faults.power import Disk

# How a fault shows. The first three kill the process: just before the call, in the middle of a
# write, just after the call. FULL is a disk that stays full from that call on.
BEFORE, HALF, AFTER = "before", "half", "after"
ENOSPC, EIO, FULL = "ENOSPC", "EIO", "full"
KILLS = (BEFORE, HALF, AFTER)
ERRORS = (ENOSPC, EIO, FULL)

DONE, FAILED, KILLED, CRASHED = 0, 71, 72, 73
Step = Callable[[], object]
Methods = Sequence[tuple[type, str]]
GROWING = ("create", "write", "mkdir")  # what takes room on a disk


class Fault(NamedTuple):
    """What happens at the n-th call (from 1).

    `loss`: the power goes where the process ends, in this way (see `power`).
    """

    kind: str
    at: int
    loss: str = ""


class Result(NamedTuple):
    """How a child ended; `done` steps returned, `calls` are "name path" of every counted call."""

    status: int
    done: int
    calls: list[str]
    error: str


def run(
    world: str, steps: Sequence[Step], fault: Fault | None = None, methods: Methods = ()
) -> Result:
    """Run `steps` in a child, with a fault in one of the files below the folder `world`.

    `methods` are (class, name) of what changes files without Python, and counts as a call too.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        gc.disable()  # it would touch, and so copy, all memory of the parent
        _child(Injector(world, fault, writer), steps, methods)
    os.close(writer)
    with open(reader, "rb") as handle:
        lines = handle.read().decode("utf-8", "surrogateescape").split("\0")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    calls = [line[1:] for line in lines if line.startswith("C")]
    error = "".join(line[1:] for line in lines if line.startswith("E"))
    return Result(status, lines.count("S"), calls, error)


def _child(injector: Injector, steps: Sequence[Step], methods: Methods) -> NoReturn:
    status = CRASHED
    try:
        injector.install(methods)
        for step in steps:
            step()
            injector.say("S")
        status = DONE
        injector.lose_power()
    except (OSError, MemfsError) as error:
        clear = isinstance(error, MemfsError) or bool(error.filename)
        status = FAILED if clear else CRASHED
        injector.say(f"E{error!r}" if clear else f"Enames no file: {traceback.format_exc()}")
        injector.lose_power()
    except BaseException:  # noqa: BLE001 - the child ends here, whatever happens
        injector.say(f"E{traceback.format_exc()}")
    finally:
        os._exit(status)


class Injector:
    """Counts the calls of one child, and lets one of them go wrong."""

    def __init__(self, world: str, fault: Fault | None, report: int) -> None:
        self.world = os.path.realpath(world)
        self.fault = fault
        self.disk = Disk(self.world) if fault and fault.loss else None
        self._report = report
        self._count = 0
        self._write = os.write
        self._restore: Callable[[], None]

    def say(self, line: str) -> None:
        self._write(self._report, line.encode("utf-8", "surrogateescape") + b"\0")

    def install(self, methods: Methods) -> None:
        """Replace the functions, in this process, for good."""
        for owner, name in methods:
            setattr(owner, name, self._counted(f"{owner.__name__}.{name}", getattr(owner, name)))
        self._restore = wrapped.install(self)

    def holds(self, path: str) -> bool:
        return path.startswith(self.world + os.sep)

    def point(self, name: str, path: str, real: Callable[[], Any], half: Step | None = None) -> Any:
        """Make one counted call; `half` does half of it."""
        self._count += 1
        self.say(f"C{name} {path}")
        fault = self.fault
        if fault is None or self._count < fault.at:
            return real()
        if self._count > fault.at:
            if fault.kind == FULL and name in GROWING:
                raise _error(errno.ENOSPC, name, path)
            return real()
        if fault.kind == HALF and half:
            half()
        if fault.kind in (BEFORE, HALF):
            self._end()
        if fault.kind in (ENOSPC, EIO) or (fault.kind == FULL and name in GROWING):
            raise _error(errno.EIO if fault.kind == EIO else errno.ENOSPC, name, path)
        found = real()
        if fault.kind == AFTER:
            self._end()
        return found

    def _counted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **more: self.point(name, name, lambda: method(*given, **more))

    def lose_power(self) -> None:
        """With a power cut, leave only what is sure to be on the disk."""
        if self.disk and self.fault:
            self._restore()
            self.disk.settle(self.fault.loss)

    def _end(self) -> NoReturn:
        self.lose_power()
        os._exit(KILLED)


def _error(number: int, name: str, path: str) -> OSError:
    """Return the error as the system gives it: calls on a handle do not know their file."""
    if name in ("write", "fsync", "ftruncate"):
        return OSError(number, os.strerror(number))
    return OSError(number, os.strerror(number), path)
