"""The state of a place: blocks, recall, archive, index, assistants."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import files, hosts
from memfs.context import paging
from memfs.core import states
from memfs.core.contradictions import find_contradictions
from memfs.files import logs, outside, trees
from memfs.hosts import settings
from memfs.memory import coverage
from memfs.store import (
    archive,
    blocks,
    clock,
    config,
    daemon,
    inbox,
    journal,
    layout,
    recall,
    references,
    sessions,
    tracked,
)
from memfs.store import history as versions

if TYPE_CHECKING:
    from memfs.core.block import Block
    from memfs.store.blocks import Place
    from memfs.store.daemon import Service


@dataclass(frozen=True)
class BlockState:
    """A block with its three states. `sync` is "" outside git."""

    block: Block
    version: int
    content: str
    freshness: str
    sync: str


@dataclass(frozen=True)
class Status:
    """Everything `memfs status` shows. Sizes are bytes.

    `trusted`: hooks use the project's store. `embedding`: how much of the index has vectors of
    which model; `ran`: the hook that ran last in each assistant, its event, when (seconds since
    1970) and for how many milliseconds. `contradictions`: (label, value, other value) of lines of a
    block that say two things of one.
    """

    project: str
    trusted: bool
    user: str
    blocks: tuple[BlockState, ...]
    sessions: int
    messages: int
    recall_bytes: int
    passages: int
    index_bytes: int
    embedding: str
    waiting: int
    wired: tuple[tuple[str, str], ...]
    ran: dict[str, tuple[str, float, float]]
    service: Service | None = None
    contradictions: tuple[tuple[str, str, str], ...] = ()


def run(place: Place, home: str) -> Status:
    """Look at a place. Nothing is written but what was edited outside memfs, to the journal."""
    logs = recall.sources(place.home)
    stores = place.stores()
    states = tuple(_states(place))
    return Status(
        project=place.project.root if place.project else "",
        trusted=place.project is not None and layout.trusted(place.project),
        user=place.user.root if place.user else "",
        blocks=states,
        sessions=len(logs),
        messages=sum(_lines(path) for path in logs),
        recall_bytes=sum(files.size(path) for path in logs),
        passages=sum(len(archive.sources(store)) for store in stores),
        index_bytes=trees.size(place.home.index),
        embedding=coverage.look(place).line(),
        waiting=len(inbox.waiting(place.home)),
        wired=tuple(wired(place, home)),
        ran=_ran(place),
        service=daemon.look(),
        contradictions=tuple(
            (state.block.label, each.one, each.other)
            for state in states
            for each in find_contradictions(state.block.value)
        ),
    )


def wired(place: Place, home: str) -> list[tuple[str, str]]:
    """List (host, settings file) where our hooks are."""
    top = place.project.top if place.project else None
    return [
        (name, found.path)
        for name in hosts.NAMES
        for found in settings.wired(hosts.get(name), home, top, outside.read)
    ]


def _ran(place: Place) -> dict[str, tuple[str, float, float]]:
    """Return the hook that ran last in each assistant, by its name."""
    found = {name: sessions.last_run(place.home, name) for name in hosts.NAMES}
    return {name: run for name, run in found.items() if run}


def _states(place: Place) -> list[BlockState]:
    now, days = clock.now(), config.load(place).number("paging.stale_days")
    last = {(entry.tier, entry.label): entry.op for entry in versions.every(place)}
    dirty = {store.root: tracked.dirty(store.root, "blocks") for store in place.stores()}
    found = []
    for block in blocks.load(place):
        head = versions.head(place, block.tier, block.label)
        changed = dirty[place.store(block.tier).root]
        sync = "" if changed is None else "clean"
        if changed and os.path.realpath(block.path) in changed:
            sync = "dirty"
        behind = head is not None and journal.digest(block.raw) != head.digest
        version = head.version + behind if head else block.version or 1
        operation = last.get((block.tier, block.label), "")
        found.append(
            BlockState(
                block, version, states.content(block.value, operation),
                _freshness(place, block, now, days),
                "" if block.tier == "session" else sync,
            )
        )  # fmt: skip
    return found


def _freshness(place: Place, block: Block, now: str, days: int) -> str:
    read = references.last(place.store(block.tier), block.tier, block.label)
    referenced = max(str(block.meta.get("updated_at") or ""), read)
    gone = block.paged_out > 0 and not paging.parts(block.body)
    return states.freshness(referenced, now, days, paged_out=gone)


def _lines(path: str) -> int:
    with logs.open_stream(path) as handle:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: handle.read(1 << 20), b""))
