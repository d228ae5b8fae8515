"""Ingest: what was said in sessions becomes recall, and is indexed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfs import files, hosts
from memfs.core.errors import DamagedError, LockedError, MemfsError, NotFoundError
from memfs.core.events import STOP
from memfs.ingest import routing, transcript_files
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.transcripts import Tally
from memfs.recall import embedding_status, index_sources
from memfs.store import blocks, lock, recall, spool

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.core.events import Event
    from memfs.ingest.routing import StoreBatch, UnroutedSession
    from memfs.recall.index_sources import Stage
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store


@dataclass(frozen=True)
class StoreIngest:
    """What a store was given. `problem` says why it was not, `hint` what to do about it."""

    store: Store
    tally: Tally
    problem: str = ""
    hint: str = ""


@dataclass
class MachineIngest:
    """What was made of all transcripts of this machine: in all, by store, and what no store got."""

    total: Tally = field(default_factory=Tally)
    stores: list[StoreIngest] = field(default_factory=list)
    left: list[UnroutedSession] = field(default_factory=list)


def plan(place: Place, paths: list[str], home: str) -> list[str]:
    """List the transcripts to read: those in `paths`, else all that hosts keep for this project.

    Raises `NotFoundError` for a path that does not exist.
    """
    for path in paths:
        if not os.path.exists(path):
            raise NotFoundError(f"there is no file or folder {path}")
    if paths:
        return transcript_files.find(paths)
    return _kept(home, place.home.top)


def run(place: Place, paths: list[str], stage: Stage) -> Tally:
    """Read transcripts, index them, and make vectors of them.

    `stage` is called with the name of what begins and how much of it there is (bytes to read,
    documents; 0: not known), and gives what is told of each step.
    """
    store = place.home
    tally = Tally()
    ingest_transcripts.drain(store, tally)
    try:
        _read(place, paths, tally, stage)
    except DamagedError:  # what is not indexed while it is read is found by what follows
        _read(place, paths, tally, stage)
    index_sources.sync(place, embed=True, stage=stage)
    return tally


def _read(place: Place, paths: list[str], tally: Tally, stage: Stage) -> None:
    with (
        lock.hold_lock(place.home, name=ingest_transcripts.LOCK),
        index_sources.open_feed(place, stage) as index,
    ):
        ingest_transcripts.ingest_transcripts(
            place.home, paths, tally, stage("reading", transcript_files.measure_size(paths)), index
        )


def ingest_everything(home: str, stage: Stage) -> MachineIngest:
    """Read all transcripts that assistants keep on this machine, each session into its store.

    A store that cannot be written does not stop the others.
    """
    done = MachineIngest()
    paths = _kept(home, "")
    done.total.files = len(paths)
    found, others = transcript_files.identify_files(paths, stage("looking", len(paths)))
    for path, reason in others:
        done.total.skip(path, reason)
    each, done.left = routing.divide(found)
    tick = stage(
        "reading", sum(transcript_files.measure_size(list(share.sessions)) for share in each)
    )
    done.stores = [_give(share, tick) for share in each]
    for given in done.stores:
        done.total.add(given.tally)
    places = [
        share.place for share, given in zip(each, done.stores, strict=True) if not given.problem
    ]
    tick = stage("embedding", sum(embedding_status.load_status(place).missing for place in places))
    for place in places:
        index_sources.sync(place, embed=True, stage=_only("embedding", tick))
    return done


def _give(share: StoreBatch, tick: Callable[[int], object]) -> StoreIngest:
    store, tally = share.place.home, Tally()
    try:
        ingest_transcripts.drain(store, tally)
        paths = list(share.sessions)
        with (
            lock.hold_lock(store, lock.WAIT, ingest_transcripts.LOCK),
            index_sources.open_feed(share.place) as index,
        ):
            ingest_transcripts.ingest_transcripts(
                store, paths, tally, tick, index, known=share.sessions
            )
    except MemfsError as error:
        return StoreIngest(store, tally, error.message, error.hint)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return StoreIngest(store, tally, f"{error.strerror or error}{where}")
    return StoreIngest(store, tally)


def _kept(home: str, project: str) -> list[str]:
    """List the transcripts that hosts keep for a project ("": all), each once."""
    found = (
        path for name in hosts.NAMES for path in hosts.reader(name).list_transcripts(home, project)
    )
    return list(dict.fromkeys(found))


def _only(name: str, tick: Callable[[int], object]) -> Stage:
    """Tell of one stage, as a part of what is shown already."""
    return lambda begun, _: tick if begun == name else lambda _: None


def ingest_event(event: Event) -> Tally:
    """Ingest what was said in the session of a hook event, so that words in it can be found.

    Its vectors are made by the next search: they would take longer than all the rest. What could
    not be read or indexed now, the next search or hook does: word is left for it.
    """
    tally = Tally()
    place = blocks.find_answering(event)
    if place is None or not event.transcript:
        return tally
    if not _heard(place, event, tally) or (event.kind == STOP and not _answered(place, event)):
        spool.write_note(place.home, event.host, event.transcript, event.session)
    return tally


def _heard(place: Place, event: Event, tally: Tally) -> bool:
    """Read and index a session; False if somebody else was at it all the time."""
    try:
        ingest_transcripts.drain(place.home, tally)
        with lock.hold_lock(place.home, 2.0, ingest_transcripts.LOCK):
            ingest_transcripts.session(place.home, event.transcript, tally, event.session)
    except LockedError:
        return False
    logs = [path for path in sorted(tally.logs) if files.is_file(path)]
    return not logs or index_sources.sync(place, embed=False, wait=2.0, logs=logs) is not None


def _answered(place: Place, event: Event) -> bool:
    """Tell whether recall has the answer that a turn ends with.

    Claude Code writes it a tenth of a second after it ran the hooks of the turn's end. One that is
    kept in other words (it held a secret, say) counts as not there: it is looked for once more.
    """
    last = recall.read_last(recall.get_path(place.home, event.host, event.session))
    return last is not None and last.role == "assistant" and event.answer.strip() in ("", last.text)
