"""The status of a user's service, and a request to hold a store."""

from __future__ import annotations

import json
from typing import NamedTuple

from memfs.ipc import client

LOG = "service.log"
ASKED = 2.0  # seconds for an answer


class WorkStatus(NamedTuple):
    """The progress of work for a store: `stage` is reading, indexing, embedding or graph."""

    store: str
    stage: str
    done: int = 0
    total: int = 0


class ServiceStatus(NamedTuple):
    """The service's status. `waits`: why heavy work waits (battery, load); `bytes`: its memory.

    `polling`: the system cannot watch all folders, so some are polled.
    """

    process: int
    version: str
    seconds: int
    bytes: int
    stores: tuple[str, ...]
    polling: bool
    waits: str
    work: tuple[WorkStatus, ...]

    def build_record(self) -> dict[str, object]:
        """Return the status as a value for JSON."""
        return {**self._asdict(), "work": [each._asdict() for each in self.work]}


def load_status() -> ServiceStatus | None:
    """Return the status of the service; None if none answers."""
    data = client.ask("status", [], wait=ASKED)
    if data is None:
        return None
    fields = json.loads(data)
    work = tuple(WorkStatus(**each) for each in fields.pop("work"))
    return ServiceStatus(**{**fields, "work": work, "stores": tuple(fields["stores"])})


def wake_service(folder: str) -> None:
    """Have the service hold the store of a folder, and start it if there is none.

    For a process that does not end soon, and will ask it.
    """
    if client.ask("hold", [folder], wait=ASKED) is None and not client.is_listening():
        client.start_service(folder, wait=True)
