"""A process that does heavy work of the service: one job at a time, at low priority.

Jobs come as lines of JSON on standard input; an empty line means that another one waits, and this
one stops soon. It may be killed at any moment: a repeated job continues where it was.
"""

import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import LockedError, MemfsError, StoppedError
from memfs.ingest import routing, transcript_files
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.transcripts import Tally
from memfs.knowledge.kinds.graph import Graph
from memfs.recall import index_sources
from memfs.recall.open_store import OpenStore
from memfs.search import hnsw, indexer, vector_layout
from memfs.service import throttle
from memfs.service.job_queue import BUSY, LATER
from memfs.store import data_sources, lock, store_paths
from memfs.store.blocks import Place, find_off_switch
from memfs.store.store_paths import Store

_REPORT = 0.2  # seconds between two reports of progress
BATCH = 32 << 20  # bytes of transcripts, after which other jobs have their turn
PATIENCE = 2.0  # seconds to wait for a lock
_OF_LATE = 2 * 86400.0  # seconds: older messages were read before the service could be killed
_CHECK = 2.0  # seconds between two checks whether heavy work may go on


_lines: deque[str] = deque()  # of input, not handled yet
_input = threading.Condition()


def main() -> None:
    """Do jobs until standard input ends."""
    threading.Thread(target=_listen, daemon=True).start()
    with suppress(BrokenPipeError):
        while True:
            with _input:
                while not _lines:
                    _input.wait()
                line = _lines.popleft()
            if line.strip():
                _send({"end": True, "wrong": _run_job(json.loads(line))})
    os._exit(0)  # nobody reads what is left in the buffer


def _listen() -> None:
    for line in sys.stdin:
        with _input:
            _lines.append(line)
            _input.notify()
    os._exit(0)


def _run_job(job: dict[str, object]) -> str:
    try:
        place = _find_place(str(job["project"]), str(job["user"]))
        paths = [str(path) for path in job["paths"]] if isinstance(job["paths"], list) else []
        wait = partial(_wait_for_room, time.monotonic() + throttle.LONGEST)
        everything = bool(job["all"])
        if place is not None and job["finish"]:
            finish_store(place, wait)
        elif place is not None:
            if read_changes(place, paths, wait, everything=everything):
                _send({"published": True})
            if job["sources"] and read_sources(place):
                _send({"published": True})
    except BrokenPipeError:
        raise
    except LockedError:
        return BUSY
    except StoppedError:
        return LATER
    except (MemfsError, OSError) as error:
        return str(error) or type(error).__name__
    return ""


def read_changes(
    place: Place, paths: list[str], wait: Callable[[], object], *, everything: bool
) -> bool:
    """Read changes into the text index; return whether the store had any."""
    tally = Tally()
    ingest_transcripts.drain(place.home, tally, PATIENCE)
    found, _ = transcript_files.identify_files(_list_transcripts(paths), lambda _: None)
    shares = routing.divide(found)[0]
    known = next((s.sessions for s in shares if s.place.home.local == place.home.local), {})
    for number, batch in enumerate(_make_batches(list(known))):
        if number:
            wait()
        with lock.hold_lock(place.home, PATIENCE, lock.INGEST):
            ingest_transcripts.ingest_transcripts(place.home, batch, tally, known=known)
    logs = None if everything else [path for path in sorted(tally.logs) if files.is_file(path)]
    if logs == [] or not index_sources.sources(place, logs):
        return False
    done = index_sources.sync(place, embed=False, wait=PATIENCE, logs=logs, stage=_report_progress)
    if done is None:
        raise LockedError("another process is indexing")
    return True


def read_sources(place: Place) -> bool:
    """Index changed data sources; return if there are any. Raises `StoppedError`."""
    from memfs.recall import source_index  # with what cuts documents

    is_removed = source_index.remove_unused_history(place, PATIENCE)
    sources = data_sources.list_searched(place)
    for source in sources:
        done = source_index.sync(place, source, embed=False, wait=PATIENCE, stage=_report_or_stop)
        if done is None:
            raise LockedError("another process is indexing")
    return is_removed or bool(sources)


def finish_sources(place: Place, wait: Callable[[], object]) -> None:
    """List the files that are gone; make the vectors of the data sources, graphs of large ones."""
    sources = data_sources.list_searched(place)
    if sources:
        from memfs.recall import gone_files, source_index  # with what cuts documents
    for source in sources:
        wait()
        if source.kind == data_sources.COMMITS:
            with source_index.hold_lock(place.store(source.tier), source.name, PATIENCE):
                is_new = gone_files.update(source)
            if is_new:
                _send({"published": True})
        if source_index.count_missing_vectors(place, source):
            stage = partial(_report_or_stop, least=indexer.BATCH)
            source_index.sync(place, source, embed=True, wait=PATIENCE, stage=stage)
            _send({"published": True})
    others = OpenStore(place).list_sources("hybrid")
    for vectors in filter(None, (engine.vectors for _, engine in others)):
        if vectors.extent.rows >= hnsw.FEWEST:
            with lock.hold_lock(place.home, 0, lock.VECTOR_GRAPH):
                vectors.warm(tick=_report_or_stop("load_graph", 0))
            _send({"published": True})


def finish_store(place: Place, wait: Callable[[], object]) -> None:
    """Make the vectors, their graph and the graph of sessions."""
    with suppress(LockedError):
        if index_sources.rebuild_vectors(place, _report_progress("embedding", 0), wait):
            _send({"published": True})
        served = vector_layout.load_active_extent(place.home.index)
        if served and served.rows >= hnsw.FEWEST:
            OpenStore(place).load_graph(_report_or_stop("load_graph", 0))
            _send({"published": True})
        finish_sources(place, wait)
        wait()
        if Graph(place).update_all(_report_or_stop("flow", 0), wait=PATIENCE):
            _send({"published": True})


def _wait_for_room(until: float) -> None:
    """Wait until heavy work may go on (see `throttle`). Raises `StoppedError` if jobs wait."""
    throttle.wait_for_room(_pause, until)
    _stop_if_others_wait()


def _pause(why: str) -> None:
    _send({"stage": f"waiting: {why}"})
    with _input:
        if not _lines:
            _input.wait(_CHECK)
    _stop_if_others_wait()


def _stop_if_others_wait() -> None:
    if _lines:
        raise StoppedError


def _find_place(project: str, user: str) -> Place | None:
    found = store_paths.find_trusted(os.path.dirname(project)) if project else None
    if project and (found is None or found.root != project):
        return None
    tier = Store(user, labels.USER) if user and store_paths.is_store(user) else None
    place = Place(found, tier) if found or tier else None
    return None if place is None or find_off_switch(place) else place


def _list_transcripts(paths: list[str]) -> list[str]:
    found = [path for path in paths if not os.path.isdir(path)]
    least = time.time() - _OF_LATE
    for top in paths:
        for folder, _, names in os.walk(top):  # yields nothing for a file
            for path in (f"{folder}/{name}" for name in names):
                with suppress(OSError):
                    if transcript_files.is_transcript_name(path) and os.stat(path).st_mtime > least:
                        found.append(path)
    return found


def _make_batches(paths: list[str]) -> list[list[str]]:
    batches: list[list[str]] = []
    size = BATCH
    for path in paths:
        if size >= BATCH:
            batches.append([])
            size = 0
        batches[-1].append(path)
        size += transcript_files.measure_size([path])
    return batches


def _report_progress(name: str, total: int) -> Callable[[int], object]:
    """Return a function that counts finished steps, and reports the progress of a stage."""
    done, reported = 0, 0.0

    def advance(more: int) -> None:
        nonlocal done, reported
        done += more
        if time.monotonic() - reported > _REPORT:
            reported = time.monotonic()
            _send({"stage": name, "done": done, "total": total})

    return advance


def _report_or_stop(name: str, total: int, least: int = 0) -> Callable[[int], object]:
    """Report as `_report_progress`, and stop after `least` steps if a job waits."""
    report, done = _report_progress(name, total), 0

    def advance(more: int) -> None:
        nonlocal done
        report(more)
        done += more
        if done > least:
            _stop_if_others_wait()

    return advance


def _send(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
