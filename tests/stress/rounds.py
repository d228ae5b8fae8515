"""One round: a fresh world, everybody at work in it, and what is found afterwards."""

import gc
import os
import select
import signal
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.stress import checks, steps, workers
from tests.stress.kills import Executioner
from tests.stress.roads import Cli
from tests.stress.steps import APPEND, Ledger, Noted, Part, Step, line_of
from tests.stress.workers import BESIDES, Notes, Plan, Role, Round
from tests.stress.world import World

_ENDING = 60.0  # seconds that commands without their worker have to end


@dataclass
class Result:
    """What a round did.

    `overtaken` counts the steps that were killed after they had been journalled. `calls` maps what
    was called besides to the seconds each took.
    """

    noted: list[Noted] = field(default_factory=list)
    killed_workers: int = 0
    journalled: int = 0
    overtaken: int = 0
    seconds: float = 0.0
    calls: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def run(root: Path, plan: Plan) -> Result:
    """Run one round in the empty folder `root`."""
    world = World(root)
    os.environ.clear()
    os.environ.update(world.environment())
    world.make()
    result = Result()
    over, life = os.pipe()  # closed where nobody is left
    executioner = Executioner()
    told = Round(world, plan, life, executioner.wishes, os.getpid())
    _edit_each(told, "ground")
    start = time.monotonic()
    house = _House(told, executioner)
    try:
        house.open(plan.processes)
        house.wait()
    finally:
        house.close()
    os.close(life)
    if not select.select([over], [], [], _ENDING)[0]:
        result.failures.append(f"a command of a killed worker did not end in {_ENDING:g} s")
    os.close(over)
    result.seconds = time.monotonic() - start
    result.killed_workers = house.killed
    executioner.close()
    try:
        _judge(world, told, result)
    except Exception:  # noqa: BLE001 - so broken that it cannot be judged
        result.failures.append(traceback.format_exc())
    result.failures += house.failures
    return result


def _judge(world: World, told: Round, result: Result) -> None:
    """Edit every block once more, and see what ledgers, journals and files say."""
    for note in Notes.read(world):
        if "failure" in note:
            result.failures.append(str(note["failure"]))
        else:
            result.calls.setdefault(str(note["call"]), []).append(float(str(note["seconds"])))
    with open(os.devnull, "wb") as nobody:
        _edit_each(told._replace(life=nobody.fileno()), "closing")
    for path in sorted(world.ledgers.glob("*.ledger")):
        result.noted += steps.read(path)
    found = checks.check(world, result.noted)
    result.failures += [*found.failures, *checks.doctor(world)]
    result.journalled, result.overtaken = found.journalled, found.overtaken


def _edit_each(told: Round, who: str) -> None:
    """Edit every block file once: before all, so that the journal knows it, and after all."""
    path = told.world.ledgers / f"{who}.ledger"
    ledger = Ledger(path)
    road = Cli(told.world, told.life, lambda _: None)
    for number, key in enumerate(told.world.files(), 1):
        tree, _, label = key.partition("|")
        line = line_of(who, number, 0, told.chance(f"{who} {number}"))
        step = Step(who, number, who, tree, (Part(APPEND, label, line),))
        ledger.begin(step)
        ledger.done(road(step), 0.0)


class _House:
    """The processes of a round: started, killed, started again, waited for."""

    def __init__(self, told: Round, executioner: Executioner) -> None:
        self._told = told
        self._executioner = executioner
        self._alive: dict[int, tuple[Role, str]] = {}
        self.killed = 0
        self.failures: list[str] = []

    def open(self, processes: int) -> None:
        for number in range(processes):
            self._start(workers.work, f"w{number:02}")
        for who, role in BESIDES.items():
            self._start(role, who)

    def wait(self) -> None:
        """Wait for the workers, and then for the others."""
        while any(role is workers.work for role, _ in self._alive.values()):
            self._executioner.kill(set(self._alive))
            self._reap()
            time.sleep(0.0005)
        (self._told.world.ledgers / "stop").touch()
        while self._alive:
            self._reap()
            time.sleep(0.01)

    def close(self) -> None:
        """Leave nobody behind, whatever happened."""
        for pid in self._alive:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _start(self, role: Role, who: str) -> None:
        pid = os.fork()
        if pid == 0:
            _be(role, self._told, who)
        with suppress(OSError):  # the child does the same: whoever is first
            os.setpgid(pid, pid)
        self._alive[pid] = role, who

    def _reap(self) -> None:
        for pid, (role, who) in list(self._alive.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            del self._alive[pid]
            code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGKILL:
                self.killed += 1
                self._start(role, who)  # goes on where its ledger ends
            elif code:
                self.failures.append(f"{who} ended with {code}")


def _be(role: Role, told: Round, who: str) -> None:
    """Play a role in a child, and end it."""
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        gc.disable()
        role(told, who)
        status = 0
    except BaseException:  # noqa: BLE001 - it is told, and the child must end here
        Notes(told.world, who).failure(traceback.format_exc())
    finally:
        os._exit(status)
