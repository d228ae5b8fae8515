"""Put our hooks into a host's settings, and take them out again."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.core import changes as compare
from memfs.core import fastjson
from memfs.core.errors import StoreError
from memfs.hosts import settings
from memfs.store import files, lock, shipped

if TYPE_CHECKING:
    from memfs.store.blocks import Place

_HOT = ("core", "store", "hosts", "context", "search", "memory", "ops", "hook")


@dataclass(frozen=True)
class Wired:
    """What happened to a settings file: created, updated, unchanged or removed, and the diff."""

    host: str
    path: str
    outcome: str
    diff: str


def run(
    place: Place, host: str, scope: str, home: str, *, remove: bool = False, dry_run: bool = False
) -> Wired:
    """Write our entries into a host's settings of a scope (or, with `remove`, take them out).

    `scope` is project, local (not committed) or user (below `home`). A file that is then as memfs
    once wrote it gets the very bytes back that it had before. Raises `StoreError` where there is
    no project, where our hooks run already from another file, and for a file that cannot be read
    back faithfully; nothing is written then.
    """
    path = path_of(place, host, scope, home)
    other = "" if remove else elsewhere(place, host, path, home)
    if other:
        raise StoreError(
            f"{hosts.get(host).TITLE} runs our hooks already, from {other}",
            "once is enough; to move them, take those out first: memfs uninstall [--user]",
        )
    before = _read(path)
    found = settings.parse(before or "", path)
    record = _record(place, path)
    pristine = record if record and record["after"] == _digest(before) else None
    if not remove:
        wanted = settings.with_entries(found, _entries(host))
        after = before if wanted == found else settings.render(wanted, before or "")
        _check(after or "", wanted, path)
    elif not settings.has_entries(found):
        after = before
    elif pristine:
        after = pristine["before"]
    else:
        after = settings.render(settings.without_entries(found), before or "")
    outcome = _outcome(before, after)
    diff = compare.unified(before or "", after or "", path, path)
    if not dry_run and after != before:
        note = _note(place, path)
        if not remove:  # first the note: a kill in between leaves one that fits nothing
            kept = pristine["before"] if pristine else before
            if pristine or not settings.has_entries(found):
                _keep(note, path, kept, after)
            else:
                files.remove(note)
        _write(place, path, before, after)
        if remove:
            files.remove(note)
        else:
            _compile()
    return Wired(host, path, outcome, diff)


def path_of(place: Place, host: str, scope: str, home: str) -> str:
    """Return a host's settings file; raises `StoreError` for a project's where there is none."""
    if scope != "user" and place.project is None:
        raise StoreError(
            f"there is no project store here to wire {hosts.get(host).TITLE} to",
            "make one with memfs init, or wire all your projects with --user",
        )
    top = place.project.top if place.project else None
    return settings.paths(hosts.get(host).SETTINGS, home, top)[scope]


def elsewhere(place: Place, host: str, path: str, home: str) -> str:
    """Return another settings file from which the host runs our hooks here, "" if none does."""
    top = place.project.top if place.project else None
    for _, other, _ in settings.wired(hosts.get(host).SETTINGS, home, top, files.read):
        if os.path.realpath(other) != os.path.realpath(path):
            return other
    return ""


def command(host: str) -> str:
    """Return the shell command of a hook: this interpreter, without site-packages, on our file."""
    words = [sys.executable, "-I", "-S", "-E", shipped.path("hooks", settings.MARK), host]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _entries(host: str) -> settings.Json:
    text = shipped.text("hooks", hosts.get(host).MANIFEST)
    quoted = fastjson.dumps(command(host))
    found = json.loads(text.replace('"{command}"', quoted))
    if not isinstance(found, dict):
        raise TypeError("a manifest is a mapping")
    return found


def _check(text: str, wanted: settings.Json, path: str) -> None:
    if settings.parse(text, path) != wanted:
        raise StoreError(f"{path} would not read back as it was written", "nothing was changed")


def _write(place: Place, path: str, before: str | None, after: str | None) -> None:
    with lock.hold(place.home):
        if _read(path) != before:
            raise StoreError(f"{path} was changed by somebody else meanwhile", "run it again")
        if after is None:
            files.remove(path)
            folder = os.path.dirname(path)
            files.sync_folder(folder)
            if not os.listdir(folder):
                os.rmdir(folder)
        else:
            files.make_folder(os.path.dirname(path))
            files.write(os.path.realpath(path), after)


def _record(place: Place, path: str) -> dict[str, str | None] | None:
    try:
        found = json.loads(files.read(_note(place, path)) or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) and {"before", "after"} <= found.keys() else None


def _note(place: Place, path: str) -> str:
    """Return where the bytes a settings file had are kept: with the user, who may be anywhere."""
    name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:16]
    return f"{(place.user or place.home).local}/installed/{name}.json"


def _keep(note: str, path: str, original: str | None, after: str | None) -> None:
    files.make_folder(os.path.dirname(note), private=True)
    kept = {"path": path, "before": original, "after": _digest(after)}
    files.write(note, json.dumps(kept), private=True)


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(files.encode(text)).hexdigest()


def _read(path: str) -> str | None:
    text = files.read(path)
    if text is None and os.path.lexists(path):
        raise StoreError(f"{path} is not a readable file")
    return text


def _outcome(before: str | None, after: str | None) -> str:
    if before == after:
        return "unchanged"
    if before is None:
        return "created"
    return "removed" if after is None else "updated"


def _compile() -> None:
    """Byte-compile what hooks import: installers like uv do not, and a hook should not have to."""
    import compileall

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    compileall.compile_file(f"{package}/__init__.py", quiet=2)
    for room in _HOT:
        compileall.compile_dir(f"{package}/{room}", maxlevels=0, quiet=2)
