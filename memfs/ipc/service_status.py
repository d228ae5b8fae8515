"""The status of a user's service."""

from __future__ import annotations

import json
from dataclasses import dataclass

from memfs.ipc import client

LOG = "service.log"


@dataclass(frozen=True)
class WorkStatus:
    """The progress of work for a store: `stage` is reading, indexing, embedding or graph."""

    store: str
    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class ServiceStatus:
    """The service's status. `waits`: why heavy work waits (battery, load); `bytes`: its memory.

    `processor`: the seconds of processor time in the `seconds` since it began. `polling`: the
    system cannot watch all folders, so some are polled.
    """

    process: int
    version: str
    seconds: int
    processor: float
    bytes: int
    stores: tuple[str, ...]
    polling: bool
    waits: str
    work: tuple[WorkStatus, ...]


def load_status() -> ServiceStatus | None:
    """Return the status of the service; None if none answers."""
    data = client.ask("status", [], wait=client.ASKED)
    if data is None:
        return None
    fields = json.loads(data)
    work = tuple(WorkStatus(**each) for each in fields.pop("work"))
    return ServiceStatus(**{**fields, "work": work, "stores": tuple(fields["stores"])})
