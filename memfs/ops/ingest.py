"""Ingest: what was said in sessions becomes recall, and is indexed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.core.errors import LockedError, NotFoundError
from memfs.memory import corpus, intake
from memfs.memory.intake import Tally
from memfs.store import blocks, inbox, lock

if TYPE_CHECKING:
    from memfs.core.events import Event
    from memfs.memory.corpus import Stage
    from memfs.store.blocks import Place


def plan(place: Place, paths: list[str], home: str) -> list[str]:
    """List the transcripts to read: those in `paths`, else all that hosts keep for this project.

    Raises `NotFoundError` for a path that does not exist.
    """
    for path in paths:
        if not os.path.exists(path):
            raise NotFoundError(f"there is no file or folder {path}")
    if paths:
        return intake.find(paths)
    top = place.home.top
    return [path for name in hosts.NAMES for path in hosts.get(name).transcripts(home, top)]


def run(place: Place, paths: list[str], stage: Stage) -> Tally:
    """Read transcripts, index them, and make vectors of them.

    `stage` is called with the name of what begins and how much of it there is (bytes to read,
    documents; 0: not known), and gives what is told of each step.
    """
    store = place.home
    tally = Tally()
    intake.drain(store, tally)
    with lock.hold(store, name=intake.LOCK), corpus.feeding(place) as index:
        intake.transcripts(store, paths, tally, stage("reading", intake.size(paths)), index)
    corpus.sync(place, embed=True, stage=stage)
    return tally


def hear(event: Event) -> Tally:
    """Ingest what was said in the session of a hook event, so that words in it can be found.

    Its vectors are made by the next search: they would take longer than all the rest.
    """
    tally = Tally()
    place = blocks.serving(event.cwd, event.session)
    if place is None or not event.transcript:
        return tally
    store = place.home
    try:
        intake.drain(store, tally)
        with lock.hold(store, 2.0, intake.LOCK):
            intake.session(store, event.transcript, tally, event.session)
    except LockedError:  # somebody ingests right now: leave word, the next one reads it
        inbox.put(store, event.host, event.transcript, event.session)
        return tally
    logs = [path for path in sorted(tally.logs) if os.path.exists(path)]
    if logs and corpus.sync(place, embed=False, wait=2.0, said=logs) is None:
        # The next one looks at its log again.
        inbox.put(store, event.host, event.transcript, event.session)
    return tally
