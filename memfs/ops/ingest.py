"""Ingest: read the transcripts of sessions into recall, and index them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from memfs import files, hosts
from memfs.core import os_errors
from memfs.core.errors import DamagedError, LockedError, MemfsError, NotFoundError
from memfs.core.events import STOP, Event
from memfs.core.records import Identity
from memfs.ingest import routing, transcript_files
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.routing import StoreBatch, UnroutedSession
from memfs.ingest.transcript_files import Sessions
from memfs.ingest.transcripts import Tally
from memfs.recall import index_sources, model_config
from memfs.recall.index_sources import Stage
from memfs.store import blocks, data_sources, lock, recall, spool
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

_UNPLACED = "the session has no project folder, and you have no store of your own: run memfs init"


@dataclass(frozen=True)
class StoreIngest:
    """The tally of a store. `problem` says why its ingest failed, `hint` what to do about it."""

    store: Store
    tally: Tally
    problem: str = ""
    hint: str = ""


@dataclass
class MachineIngest:
    """The ingest of all transcripts of a machine: in total, by store, and sessions of no store."""

    total: Tally = field(default_factory=Tally)
    stores: list[StoreIngest] = field(default_factory=list)
    left: list[UnroutedSession] = field(default_factory=list)


@dataclass
class IngestPlan:
    """The transcripts to read: files that somebody named, or `own` sessions of a project.

    `unplaced` are sessions, by file, that name no folder. `others` are files with the reasons why
    they are no transcripts.
    """

    paths: list[str]
    own: Sessions | None = None
    unplaced: dict[str, list[tuple[str, Identity]]] = field(default_factory=dict)
    others: list[tuple[str, str]] = field(default_factory=list)


def plan(place: Place, paths: list[str], home: str) -> IngestPlan:
    """List the transcripts to read: those in `paths`, else all of the hosts for this project.

    Whose a session is, the folder decides that it was begun in. Raises `NotFoundError` for a path
    that does not exist.
    """
    for path in paths:
        if not os.path.exists(path):
            raise NotFoundError(f"there is no file or folder {path}")
    if paths:
        return IngestPlan(transcript_files.find(paths))
    listed = _list_transcripts(home, place.home.top)
    found, others = transcript_files.identify_files(listed, lambda _: None)
    batches, _ = routing.divide(found)
    own = [batch.sessions for batch in batches if batch.place.home.local == place.home.local]
    unplaced = {
        path: [one for one in some if not one[1].project]
        for path, some in found.items()
        if place.project and any(not identity.project for _, identity in some)
    }
    sessions = own[0] if own else {}
    return IngestPlan(list(sessions), sessions, unplaced, others)


def run(place: Place, planned: IngestPlan, stage: Stage, tally: Tally | None = None) -> Tally:
    """Read transcripts, index them, and compute their vectors; count in `tally` what is done.

    With all sessions of a project its commits are read, too. Sessions that name no folder go into
    the user's store. `stage` is called with the name of a stage and its size (bytes to read,
    documents; 0: not known), and returns the callback for progress.
    """
    store = place.home
    tally = Tally() if tally is None else tally
    ingest_transcripts.drain(store, tally)
    try:
        _read(place, planned, tally, stage)
    except DamagedError:  # the sync below indexes what this leaves out
        _read(place, planned, tally, stage)
    index_sources.sync(place, embed=True, stage=stage)
    if planned.own is not None:
        from memfs.recall import source_index  # with what cuts documents

        source_index.remove_unused_history(place)
        source = data_sources.find_history(place)
        state = source and source_index.sync(place, source, embed=True, stage=stage)
        tally.commits = state.chunks if state else 0
    for path, reason in planned.others:
        tally.files += 1
        tally.skip(path, reason)
    if planned.unplaced:
        _read_unplaced(place, planned.unplaced, tally)
    return tally


def _read_unplaced(
    place: Place, sessions: dict[str, list[tuple[str, Identity]]], tally: Tally
) -> None:
    if place.user is None:
        for path in sessions:
            tally.skip(path, _UNPLACED)
        return
    batch = routing.StoreBatch(Place(None, place.user), sessions)
    done = _ingest_batch(batch, lambda _: None, tally)
    if done.problem:
        for path in sessions:
            tally.skip(path, done.problem)
    else:
        tally.files += len(sessions)
        tally.unplaced = list(sessions)
        index_sources.sync(batch.place, embed=True)


def _read(place: Place, planned: IngestPlan, tally: Tally, stage: Stage) -> None:
    size = transcript_files.measure_size(planned.paths)
    with (
        lock.hold_lock(place.home, name=lock.INGEST),
        index_sources.open_feed(place, stage) as index,
    ):
        ingest_transcripts.ingest_transcripts(
            place.home, planned.paths, tally, stage("reading", size), index, known=planned.own
        )


def ingest_everything(home: str, stage: Stage, done: MachineIngest | None = None) -> MachineIngest:
    """Read all transcripts of assistants on this machine, each session into its store.

    `done` is filled meanwhile.
    A store that cannot be written does not stop the others.
    """
    done = MachineIngest() if done is None else done
    batches, done.left = plan_everything(home, stage, done.total)
    tick = stage(
        "reading", sum(transcript_files.measure_size(list(batch.sessions)) for batch in batches)
    )
    done.stores = [_ingest_batch(batch, tick, done.total) for batch in batches]
    places = [
        batch.place
        for batch, result in zip(batches, done.stores, strict=True)
        if not result.problem
    ]
    tick = stage("embedding", sum(model_config.load_status(place).missing for place in places))
    for place in places:
        only = lambda name, _: tick if name == "embedding" else lambda _: None  # noqa: E731
        index_sources.sync(place, embed=True, stage=only)
    return done


def plan_everything(
    home: str, stage: Stage = lambda *_: lambda _: None, tally: Tally | None = None
) -> tuple[list[StoreBatch], list[UnroutedSession]]:
    """Return the transcripts of this machine by store, and the sessions that have none.

    `tally` counts the files, and those that are no transcripts.
    """
    paths = _list_transcripts(home, "")
    found, others = transcript_files.identify_files(paths, stage("looking", len(paths)))
    if tally is not None:
        tally.files = len(paths)
        for path, reason in others:
            tally.skip(path, reason)
    return routing.divide(found)


def _ingest_batch(batch: StoreBatch, tick: Callable[[int], object], total: Tally) -> StoreIngest:
    store, tally = batch.place.home, Tally()
    try:
        ingest_transcripts.drain(store, tally)
        paths = list(batch.sessions)
        with (
            lock.hold_lock(store, lock.WAIT, lock.INGEST),
            index_sources.open_feed(batch.place) as index,
        ):
            ingest_transcripts.ingest_transcripts(
                store, paths, tally, tick, index, known=batch.sessions
            )
    except (MemfsError, OSError) as error:
        told = error if isinstance(error, MemfsError) else os_errors.describe_refusal(error)
        return StoreIngest(store, tally, told.message, told.hint)
    finally:
        total.add(tally)
    return StoreIngest(store, tally)


def _list_transcripts(home: str, project: str) -> list[str]:
    found = (hosts.reader(name).list_transcripts(home, project) for name in hosts.READERS)
    return list(dict.fromkeys(path for paths in found for path in paths))


def ingest_event(event: Event) -> Tally:
    """Ingest the session of a hook event, so that a search by words finds it.

    Its vectors are left to the next search: they would take longer than the rest. A session that
    cannot be read or indexed now is queued for the next search or hook.
    """
    tally = Tally()
    place = blocks.find_answering(event)
    if place is None or not event.transcript:
        return tally
    if not _ingest(place, event, tally) or (event.kind == STOP and not _has_answer(place, event)):
        spool.write_note(place.home, event.host, event.transcript, event.session)
    return tally


def _ingest(place: Place, event: Event, tally: Tally) -> bool:
    """Read and index a session; False if another process held the lock."""
    try:
        ingest_transcripts.drain(place.home, tally)
        with lock.hold_lock(place.home, 2.0, lock.INGEST):
            ingest_transcripts.session(place.home, event.transcript, tally, event.session)
    except LockedError:
        return False
    logs = [path for path in sorted(tally.logs) if files.is_file(path)]
    return not logs or index_sources.sync(place, embed=False, wait=2.0, logs=logs) is not None


def _has_answer(place: Place, event: Event) -> bool:
    """Return whether recall has the answer that a turn ends with.

    Claude Code writes it a tenth of a second after the hooks of the turn's end. An answer that is
    stored in another form (redacted, say) counts as missing: it is read once more.
    """
    last = recall.read_last(recall.get_path(place.home, event.host, event.session))
    return last is not None and last.role == "assistant" and event.answer.strip() in ("", last.text)
