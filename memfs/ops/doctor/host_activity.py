"""Check assistants: their versions, when our hooks ran, and when they should have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from memfs import files, hosts
from memfs.core.formats import format_time
from memfs.hosts.base import Host
from memfs.ops.doctor.finding import Finding
from memfs.store import sessions, store_paths
from memfs.store.blocks import Place

_DAY = 24 * 3600  # seconds: a session that began before the install has no hooks


def check_activity(place: Place, host: Host, version: str) -> Finding:
    """Report the version of a host, and its last hook calls."""
    text = f"{host.TITLE} {version}" if version else f"{host.TITLE}, version unknown"
    found = sessions.last_run(place.home, host.NAME)
    if found is None:
        text += "; no hook of ours ran in it yet"
    else:
        text += f"; our last hook in it: {found[0]} at {format_time(found[1])}, {found[2]:,.0f} ms"
    failed = _find_last_failure(place, host.NAME)
    return Finding("ok", text + (f"; the last that failed: {failed}" if failed else ""))


def check_runs(place: Place, host: Host, home: str, settings: Iterable[str]) -> Iterator[Finding]:
    """Warn if later sessions of a host with our hooks in `settings` ran none in this project."""
    store = place.project
    if store is None or not store_paths.is_trusted(store):
        return
    last = sessions.last_run(store, host.NAME)
    since = last[1] if last else max(map(_get_mtime, settings), default=0.0)
    # The time of a file with the sessions of all projects says nothing of this one.
    transcripts = [
        path
        for path in hosts.reader(host.NAME).list_transcripts(home, store.top)
        if not path.endswith(".db")
    ]
    newest = max(map(_get_mtime, transcripts), default=0.0)
    if since and newest > since + _DAY:
        what = "no hook ever ran" if last is None else f"no hook ran since {format_time(since)}"
        text = (
            f"{host.TITLE} is wired, but {what}; its last session here is of {format_time(newest)}"
        )
        yield Finding(
            "warning", text, "look whether it trusts this folder and runs hooks (most have /hooks)"
        )


def _find_last_failure(place: Place, host: str) -> str:
    """Return the last line about a host in the log of failed hook calls, "" if there is none."""
    lines = (files.read(f"{place.home.local}/hook.log") or "").splitlines()
    return next((line for line in reversed(lines) if line.split(" ")[1:2] == [host]), "")


def _get_mtime(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0
