"""Kills: who dies when. Half of them come while the victim writes."""

import os
import random
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.stress.steps import Step
from tests.stress.world import World

_REQUEST = struct.Struct("<i?d")
_HELD = 0.02  # seconds that a command holds a lock: the kill comes within them
_CHANGES = 9  # files that an edit opens for writing or renames, one with another
_PATIENCE = 5.0  # seconds that a command is waited for to take a lock


class Hunter:
    """Decides in a worker which steps are to be killed, and how.

    A command is killed by its worker. The worker itself is killed by its parent, which alone
    knows for certain whose a process id is, and is asked on the pipe `wishes`; or right before it
    changes a file of the store.
    """

    def __init__(self, world: World, wishes: int, share: float, seed: str) -> None:
        self._locks = [world.lock(tier) for tier in world.stores]
        self._wishes = wishes
        self._share = share
        self._chance = random.Random(seed)
        self._command: tuple[bool, float] | None = None  # (when it holds a lock, delay)
        self._changes = 0  # so many changes of files are left to a worker that is to be killed
        sys.addaudithook(self._watch)

    def before(self, step: Step, usual: float) -> None:
        """Draw the lot for a step that takes `usual` seconds."""
        self._command = None
        if self._chance.random() >= self._share * len(step.parts):  # a patch has more moments
            return
        writing = self._chance.random() < 0.5
        delay = self._chance.uniform(0, 1.2 * usual)
        whom = self._chance.choice(("command", "command", "worker", "all"))
        inside = step.road == "python"  # other roads start a process
        if not inside and whom == "command":
            self._command = writing, self._chance.uniform(0, _HELD) if writing else delay
        elif inside and writing:
            self._changes = self._chance.randint(1, _CHANGES)
        else:
            os.write(self._wishes, _REQUEST.pack(os.getpid(), whom == "all", delay))

    def command(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a command if that is its lot."""
        if self._command is None:
            return
        writing, delay = self._command
        wait = time.monotonic() + _PATIENCE
        while writing and time.monotonic() < wait and process.poll() is None:
            if process.pid in _owners(self._locks):
                break
            time.sleep(0.0005)
        due = time.monotonic() + delay
        while process.poll() is None and time.monotonic() < due:
            time.sleep(0.0005)
        process.kill()

    def _watch(self, event: str, details: tuple[object, ...]) -> None:
        """Count the changes of files in stores, and end this process at the one that is due."""
        if not self._changes or event not in ("open", "os.rename"):
            return
        flags = details[2] if event == "open" else os.O_WRONLY
        changes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        if changes and ".agent-memory" in str(details[0]):
            self._changes -= 1
            if not self._changes:
                os.kill(os.getpid(), signal.SIGKILL)


class Executioner:
    """Fulfils the wishes of workers, in their parent."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, bool]] = []  # (when, process, all of its group)
        self._read, self.wishes = os.pipe()
        os.set_blocking(self._read, False)

    def close(self) -> None:
        os.close(self._read)
        os.close(self.wishes)

    def kill(self, alive: set[int]) -> None:
        """Kill whose time has come, among the processes that were not waited for yet."""
        now = time.monotonic()
        with suppress(BlockingIOError):
            data = os.read(self._read, _REQUEST.size * 100)
            wishes = _REQUEST.iter_unpack(data)
            self._waiting += [(now + delay, pid, group) for pid, group, delay in wishes]
        for due, pid, group in self._waiting:
            if due <= now and pid in alive:
                (os.killpg if group else os.kill)(pid, signal.SIGKILL)
        self._waiting = [each for each in self._waiting if each[0] > now]


def _owners(locks: list[Path]) -> set[int]:
    """Return the processes that locks name: who holds them, or did last."""
    found = set()
    for path in locks:
        words = path.read_text().split() if path.exists() else []
        found |= {int(word) for word in words if word.isdecimal()}
    return found
