"""A process that does heavy work of the service: one job at a time, at low priority.

A job is to read what changed in a store, so that words in it are found, or to finish it: vectors,
their graph, the flow of sessions. Jobs come as lines of JSON on standard input, and what there is
to say goes out the same way. An empty line says that another job waits: what takes long is put off
for it. The process ends with its input. It may be killed at any moment: what it does goes on from
where it was when it is done again.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import LockedError, MemfsError
from memfs.ingest import routing, transcript_files
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.transcripts import Tally
from memfs.knowledge.kinds.graph import Graph
from memfs.recall import index_sources, vector_rebuild
from memfs.recall.index_session import IndexSession
from memfs.search import hnsw, vector_manifest
from memfs.service import throttle
from memfs.service.job_queue import BUSY, LATER
from memfs.store import lock, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.ingest.transcript_files import Sessions

_TOLD = 0.2  # seconds between two words on how far it is
_BATCH = 32 << 20  # bytes of transcripts, after which others have their turn
_PATIENCE = 2.0  # seconds to wait for a lock
_OF_LATE = 2 * 86400.0  # seconds: what was said since the service was killed is younger
_LOOK = 2.0  # seconds between two looks whether there is room for more


class _LaterError(Exception):
    """Other jobs wait."""


_lines: deque[str] = deque()  # that came and were not done yet
_came = threading.Condition()


def main() -> None:
    """Do jobs until standard input ends."""
    threading.Thread(target=_listen, daemon=True).start()
    with suppress(BrokenPipeError):
        while True:
            with _came:
                while not _lines:
                    _came.wait()
                line = _lines.popleft()
            if line.strip():
                _say({"end": True, "wrong": _done(json.loads(line))})
    os._exit(0)  # what is left in the buffer nobody hears


def _listen() -> None:
    for line in sys.stdin:
        with _came:
            _lines.append(line)
            _came.notify()
    os._exit(0)


def _done(job: dict[str, object]) -> str:
    """Do a job; return what was wrong."""
    try:
        place = _place(str(job["project"]), str(job["user"]))
        paths = [str(path) for path in job["paths"]] if isinstance(job["paths"], list) else []
        rest = partial(_rest, time.monotonic() + throttle.LONGEST)
        whole = bool(job["all"])
        if place is not None and job["finish"]:
            _finish(place, rest)
        elif place is not None and _read(place, paths, rest, everything=whole):
            _say({"published": True})
    except BrokenPipeError:
        raise
    except LockedError:
        return BUSY
    except _LaterError:
        return LATER
    except (MemfsError, OSError) as error:
        return str(error) or type(error).__name__
    return ""


def _read(place: Place, paths: list[str], rest: Callable[[], object], *, everything: bool) -> bool:
    """Read what changed, so that words in it are found; tell whether anything of the store did."""
    tally = Tally()
    ingest_transcripts.drain(place.home, tally, _PATIENCE)
    known = _ours(place, _files(paths))
    for number, batch in enumerate(_batches(list(known))):
        if number:
            rest()
        with lock.hold_lock(place.home, _PATIENCE, ingest_transcripts.LOCK):
            ingest_transcripts.ingest_transcripts(place.home, batch, tally, known=known)
    logs = None if everything else [path for path in sorted(tally.logs) if files.is_file(path)]
    if logs == [] or not index_sources.sources(place, logs):
        return False
    done = index_sources.sync(place, embed=False, wait=_PATIENCE, said=logs, stage=_stage)
    if done is None:
        raise LockedError("somebody else indexes")
    return True


def _finish(place: Place, rest: Callable[[], object]) -> None:
    """Make what takes long: vectors and their graph, and the flow of sessions."""
    with suppress(LockedError):
        if vector_rebuild.run(place, _stage("embedding", 0), rest):
            _say({"published": True})
        served = vector_manifest.load_served(place.home.index)
        if served and served.rows >= hnsw.FEWEST:
            IndexSession(place).graph(_stage("graph", 0))
            _say({"published": True})
        rest()
        if Graph(place).update_all(_stage("flow", 0), wait=_PATIENCE):
            _say({"published": True})


def _rest(until: float) -> None:
    """Wait until the machine has room for more (see `throttle`); put off a job if others wait."""
    throttle.wait_for_room(_pause, until)
    if _lines:
        raise _LaterError


def _pause(why: str) -> None:
    _say({"stage": f"waiting: {why}"})
    with _came:
        if not _lines:
            _came.wait(_LOOK)
    if _lines:
        raise _LaterError


def _place(project: str, user: str) -> Place | None:
    """Return the place of a job; None if its store was removed meanwhile, or is not trusted."""
    found = store_paths.find(os.path.dirname(project)) if project else None
    if project and (found is None or found.root != project or not store_paths.is_trusted(found)):
        return None
    tier = Store(user, labels.USER) if user and store_paths.is_store(user) else None
    return Place(found, tier) if found or tier else None


def _ours(place: Place, paths: list[str]) -> Sessions:
    """Return the sessions in transcripts that belong to a store."""
    found, _ = transcript_files.identify_files(paths, lambda _: None)
    for share in routing.divide(found)[0]:
        if share.place.home.local == place.home.local:
            return share.sessions
    return {}


def _files(paths: list[str]) -> list[str]:
    """Return transcripts, and of folders those below them that changed of late."""
    found = [path for path in paths if not os.path.isdir(path)]
    least = time.time() - _OF_LATE
    for top in paths:
        for folder, _, names in os.walk(top):  # of a file: nothing
            for path in (f"{folder}/{name}" for name in names):
                with suppress(OSError):
                    if transcript_files.is_transcript_name(path) and os.stat(path).st_mtime > least:
                        found.append(path)
    return found


def _batches(paths: list[str]) -> list[list[str]]:
    made: list[list[str]] = []
    size = _BATCH
    for path in paths:
        if size >= _BATCH:
            made.append([])
            size = 0
        made[-1].append(path)
        size += transcript_files.measure_size([path])
    return made


def _stage(name: str, total: int) -> Callable[[int], object]:
    """Tell what begins; return what is told of each step."""
    done, told = 0, 0.0

    def tick(more: int) -> None:
        nonlocal done, told
        done += more
        if time.monotonic() - told > _TOLD:
            told = time.monotonic()
            _say({"stage": name, "done": done, "total": total})

    return tick


def _say(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()
