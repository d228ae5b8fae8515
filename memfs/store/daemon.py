"""The service of a user, seen from outside."""

from __future__ import annotations

import json
from dataclasses import dataclass

from memfs.store import service, starting

LOG = "service.log"
ASKED = 2.0  # seconds for an answer


@dataclass(frozen=True)
class Work:
    """What is being done for a store, how far: `stage` reading, indexing, embedding, graph."""

    store: str
    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Service:
    """How the service is. `waits`: why heavy work waits (battery, load); `bytes` it has in memory.

    `polling`: the system cannot watch all folders, so some are looked at every now and then.
    """

    process: int
    version: str
    seconds: int
    bytes: int
    stores: tuple[str, ...]
    polling: bool
    waits: str
    work: tuple[Work, ...]


def look() -> Service | None:
    """Return how the service is; None if none answers."""
    data = service.ask("status", [], wait=ASKED)
    if data is None:
        return None
    said = json.loads(data)
    work = tuple(Work(**each) for each in said.pop("work"))
    return Service(**{**said, "work": work, "stores": tuple(said["stores"])})


def wake(folder: str) -> None:
    """Have the service hold the store of a folder, and start it if there is none.

    For a process that lives on, and asks it sooner or later.
    """
    if service.ask("hold", [folder], wait=ASKED) is None and not service.there():
        starting.start(folder, wait=True)
