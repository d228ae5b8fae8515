"""A load on a team's server: requests at a fixed rate, whether those before are answered or not.

A request counts from the moment when it is due, so one that waits for a slow server is a slow one.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from benchmarks import team_data
from benchmarks.team_data import BenchProject
from benchmarks.team_program import LoopbackMember
from memfs.team.protocol import PushRequest

MIX = {"push": 40, "me": 40, "recall": 10, "search": 10}  # percent of the requests
_CONNECTIONS = 64
_PUSHED = 5  # messages of a push: what was said since the last one
_FIRST = 1_000_000  # the number of the first session that the load adds


@dataclass(frozen=True)
class LoadTiming:
    """Requests of one kind, or of all: milliseconds, and how many of them failed and how."""

    kind: str
    requests: int
    p50: float
    p95: float
    p99: float
    longest: float
    errors: dict[str, int]


@dataclass
class _Request:
    kind: str
    project: int
    due: float
    body: bytes | None
    seconds: float = 0.0
    error: str = ""


@dataclass
class _LoadRun:
    requests: list[_Request]
    tick: Callable[[int], object]
    lock: threading.Lock = field(default_factory=threading.Lock)
    taken: int = 0

    def get_next(self) -> _Request | None:
        with self.lock:
            if self.taken == len(self.requests):
                return None
            self.taken += 1
            self.tick(1)
            return self.requests[self.taken - 1]


def run(
    ports: Sequence[int],
    tokens: Sequence[str],
    projects: Sequence[BenchProject],
    rate: float,
    seconds: float,
    tick: Callable[[int], object],
) -> list[LoadTiming]:
    """Send `rate` requests a second for some seconds; projects are chosen by their sizes.

    The connections are spread over the servers, as a proxy does.
    """
    planned = _LoadRun(_plan(projects, rate, seconds), tick)
    begin = time.perf_counter() + 0.5
    threads = [
        threading.Thread(target=_send, args=(planned, begin, ports[at % len(ports)], tokens))
        for at in range(_CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent = planned.requests
    kinds = [[each for each in sent if each.kind == kind] for kind in MIX]
    return [
        _summarize(name, group)
        for name, group in (("all", sent), *zip(MIX, kinds, strict=True))
        if group
    ]


def _plan(projects: Sequence[BenchProject], rate: float, seconds: float) -> list[_Request]:
    lot = random.Random(5)  # noqa: S311 - an order, no secret
    count = max(1, round(rate * seconds))
    kinds = lot.choices([*MIX], [*MIX.values()], k=count)
    chosen = lot.choices(projects, [each.size for each in projects], k=count)
    words = {each.number: team_data.make_queries(each, 50) for each in {*chosen}}
    return [
        _Request(
            kind,
            project.number,
            at / rate,
            _make_body(kind, project, lot.choice(words[project.number]), at),
        )
        for at, (kind, project) in enumerate(zip(kinds, chosen, strict=True))
    ]


def _make_body(kind: str, project: BenchProject, query: str, number: int) -> bytes | None:
    match kind:
        case "push":
            session, messages = team_data.make_session(project, _FIRST + number, _PUSHED)
            return msgspec.json.encode(
                PushRequest(project.number, 1000, "bench", [session], messages)
            )
        case "recall":
            return msgspec.json.encode({"projects": [project.number], "prompt": query})
        case "search":
            return msgspec.json.encode({"projects": [project.number], "query": query})
        case _:
            return None


def _send(planned: _LoadRun, begin: float, port: int, tokens: Sequence[str]) -> None:
    member = LoopbackMember(port, tokens)
    while request := planned.get_next():
        due = begin + request.due
        if (early := due - time.perf_counter()) > 0:
            time.sleep(early)
        try:
            method = "POST" if request.body else "GET"
            path = f"/v1/{request.kind}"
            status, _ = member.ask(request.project, method, path, request.body)
            request.error = "" if status < 300 else f"status {status}"
        except OSError as error:
            request.error = type(error).__name__
            member.close()
        request.seconds = time.perf_counter() - due
    member.close()


def _summarize(kind: str, sent: list[_Request]) -> LoadTiming:
    times = sorted(1000 * each.seconds for each in sent)
    p50, p95, p99 = (
        times[min(len(times) - 1, int(len(times) * part))] for part in (0.5, 0.95, 0.99)
    )
    errors: dict[str, int] = {}
    for each in sent:
        if each.error:
            errors[each.error] = errors.get(each.error, 0) + 1
    return LoadTiming(kind, len(sent), p50, p95, p99, times[-1], errors)
