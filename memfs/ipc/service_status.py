"""The service of a user, seen from outside."""

from __future__ import annotations

import json
from dataclasses import dataclass

from memfs.ipc import service_client, spawn

LOG = "service.log"
ASKED = 2.0  # seconds for an answer


@dataclass(frozen=True)
class WorkStatus:
    """What is being done for a store, how far: `stage` reading, indexing, embedding, graph."""

    store: str
    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class ServiceStatus:
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
    work: tuple[WorkStatus, ...]


def load_status() -> ServiceStatus | None:
    """Return how the service is; None if none answers."""
    data = service_client.ask("status", [], wait=ASKED)
    if data is None:
        return None
    said = json.loads(data)
    work = tuple(WorkStatus(**each) for each in said.pop("work"))
    return ServiceStatus(**{**said, "work": work, "stores": tuple(said["stores"])})


def wake_service(folder: str) -> None:
    """Have the service hold the store of a folder, and start it if there is none.

    For a process that lives on, and asks it sooner or later.
    """
    if (
        service_client.ask("hold", [folder], wait=ASKED) is None
        and not service_client.is_listening()
    ):
        spawn.start_service(folder, wait=True)
