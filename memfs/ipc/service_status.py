"""The status of a user's service."""

import json
from typing import NamedTuple

from memfs.ipc import client

LOG = "service.log"


class WorkStatus(NamedTuple):
    """The progress of work for a store: `stage` is reading, indexing, embedding or graph."""

    store: str
    stage: str
    done: int = 0
    total: int = 0


class ServiceStatus(NamedTuple):
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

    def build_record(self) -> dict[str, object]:
        return {**self._asdict(), "work": [each._asdict() for each in self.work]}


def load_status() -> ServiceStatus | None:
    """Return the status of the service; None if none answers."""
    data = client.ask("status", [], wait=client.ASKED)
    if data is None:
        return None
    fields = json.loads(data)
    work = tuple(WorkStatus(**each) for each in fields.pop("work"))
    return ServiceStatus(**{**fields, "work": work, "stores": tuple(fields["stores"])})
