"""Put our hooks and tools into a host's settings, and take them out again."""

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
from memfs.hosts import entries, section, settings
from memfs.store import files, lock, shipped

if TYPE_CHECKING:
    from memfs.store.blocks import Place

_HOOKS = "/hooks.json"
_LINE = "/line.json"
_MARKS = ("# memfs: begin (memfs uninstall takes this out)", "# memfs: end")
_HOT = ("core", "store", "hosts", "context", "search", "memory", "ops", "hook")


@dataclass(frozen=True)
class Wired:
    """What happened to a settings file: created, updated, unchanged or removed, and the diff."""

    host: str
    path: str
    outcome: str
    diff: str


def run(
    place: Place, host: str, scope: str, home: str,
    *, remove: bool = False, dry_run: bool = False, tools: bool = True, line: bool = False,
) -> list[Wired]:  # fmt: skip
    """Write our entries into a host's settings of a scope (or, with `remove`, take them out).

    `scope` is project, local (not committed) or user (below `home`); `tools`: the MCP server too;
    `line`: the status line too, which stays where it is already. A file that is then as memfs once
    wrote it gets the very bytes back that it had before. Raises `StoreError` where there is no
    project, where our hooks run already from elsewhere, and for a file that cannot be read back
    faithfully; nothing is written then.
    """
    found = wiring(place, host, scope, home)
    if not found and not remove:
        raise StoreError(
            f"{hosts.get(host).TITLE} keeps no settings of your own in a project",
            "wire this project for all who work on it, or all your projects with --user",
        )
    if not remove:
        _no_plugin(place, host, home)
    other = "" if remove or not found else elsewhere(place, host, found[0][0], home)
    if other:
        raise StoreError(
            f"{hosts.get(host).TITLE} runs our hooks already, from {other}",
            "once is enough; to move them, take those out first: memfs uninstall [--user]",
        )
    edits = []
    for path, names in found:
        if remove and _shared(place, host, scope, home, path):
            continue
        given = _Shipped.of(place, host, names, tools=tools, line=line or remove)
        edits.append(_Edit.of(place, path, given, remove=remove))
    if not dry_run:
        for edit in edits:
            edit.write(place)
        if not remove:
            _compile()
    return [
        Wired(host, each.path, _outcome(each.before, each.after), each.diff()) for each in edits
    ]


def wiring(place: Place, host: str, scope: str, home: str) -> list[tuple[str, tuple[str, ...]]]:
    """List a host's settings files of a scope, and our shipped files that go into each.

    Raises `StoreError` for a project's where there is none.
    """
    if scope != "user" and place.project is None:
        raise StoreError(
            f"there is no project store here to wire {hosts.get(host).TITLE} to",
            "make one with memfs init, or wire all your projects with --user",
        )
    return hosts.get(host).wiring(scope, home, place.project.top if place.project else "")


def elsewhere(place: Place, host: str, path: str, home: str) -> str:
    """Return another settings file from which the host runs our hooks here, "" if none does."""
    top = place.project.top if place.project else None
    for found in settings.wired(hosts.get(host), home, top, files.read):
        if os.path.realpath(found.path) != os.path.realpath(path):
            return found.path
    return ""


def _no_plugin(place: Place, host: str, home: str) -> None:
    """Raise `StoreError` where the plugin brings the same hooks and tools."""
    top = place.project.top if place.project else None
    for path in settings.plugged(hosts.get(host), home, top, files.read):
        raise StoreError(
            f"{hosts.get(host).TITLE} has the memfs plugin, enabled in {path}",
            "once is enough; to wire it by settings, uninstall that first",
        )


def _shared(place: Place, host: str, scope: str, home: str, path: str) -> bool:
    """Tell whether a file wires another host, too, that runs our hooks in that scope."""
    top = place.project.top if place.project else ""
    for name in hosts.NAMES:
        files_ = [each for each, _ in hosts.get(name).wiring(scope, home, top)]
        if name != host and path in files_ and hosts.HOOK in (files.read(files_[0]) or ""):
            return True
    return False


def command(*words: str) -> str:
    """Return the shell command of a hook: this interpreter, without site-packages, on our file."""
    script = shipped.path("hooks", hosts.HOOK)
    found = [sys.executable, "-I", "-S", "-E", script, *filter(None, words)]
    return subprocess.list2cmdline(found) if os.name == "nt" else shlex.join(found)


@dataclass(frozen=True)
class _Shipped:
    """What goes into one settings file: `wanted`, and `unwanted` of ours that is not to be there.

    `section` is what goes into a TOML file, as text.
    """

    wanted: entries.Json
    unwanted: entries.Json
    section: str

    @classmethod
    def of(
        cls, place: Place, host: str, names: tuple[str, ...], *, tools: bool, line: bool
    ) -> _Shipped:
        values = {
            "{hook}": command(host, "mcp" if tools else ""), "{line}": command("line"),
            "{python}": sys.executable,
            "{project}": place.project.top if place.project else "",
        }  # fmt: skip
        made = cls({}, {}, "")
        for name in names:
            if name.endswith(_LINE) and not line:
                continue
            text = shipped.text("hooks", *name.split("/"))
            for mark, value in values.items():
                text = text.replace(f'"{mark}"', fastjson.dumps(value))
            wanted = tools or name.endswith((_HOOKS, _LINE))
            if name.endswith(".toml"):
                made = cls(made.wanted, made.unwanted, text if wanted else "")
            else:
                (made.wanted if wanted else made.unwanted).update(json.loads(text))
        return made


@dataclass(frozen=True)
class _Edit:
    """What is to be done to one settings file; `kept` are the bytes it had before we came.

    `noted`: those are worth a note; what others changed since we came is not what it was.
    """

    path: str
    before: str | None
    after: str | None
    kept: str | None
    noted: bool
    remove: bool

    @classmethod
    def of(cls, place: Place, path: str, given: _Shipped, *, remove: bool) -> _Edit:
        """Work out an edit; nothing is written. Raises `StoreError` for what cannot be kept."""
        before = _read(path)
        record = _record(place, path)
        pristine = record if record and record["after"] == _digest(before) else None
        change = _toml if path.endswith(".toml") else _json
        has, after = change(path, before, given, remove=remove)
        if remove and has and pristine:
            after = pristine["before"]
        kept = pristine["before"] if pristine else before
        return cls(path, before, after, kept, pristine is not None or not has, remove)

    def diff(self) -> str:
        return compare.unified(self.before or "", self.after or "", self.path, self.path)

    def write(self, place: Place) -> None:
        """Write the file, and the note of the bytes it had: that first, when entries go in.

        A kill in between leaves a note that fits nothing.
        """
        if self.after == self.before:
            return
        note = _note(place, self.path)
        if not self.remove:
            if self.noted:
                _keep(note, self.path, self.kept, self.after)
            else:
                files.remove(note)
        _write(place, self.path, self.before, self.after)
        if self.remove:
            files.remove(note)


def _json(
    path: str, before: str | None, given: _Shipped, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a JSON file has entries of ours, and its text with them, or without."""
    found = settings.parse(before or "", path)
    has = entries.has_entries(found, {**given.unwanted, **given.wanted})
    made = entries.without_entries(found, given.unwanted)
    if remove:
        made = entries.without_entries(made, given.wanted)
    elif given.wanted:
        made = entries.with_entries(made, given.wanted)
    if made == found:
        return has, before
    after = settings.render(made, before or "")
    _check(after, made, path)
    return has, after


def _toml(
    path: str, before: str | None, given: _Shipped, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a TOML file has our section, and its text with it, or without."""
    text = before or ""
    settings.parse(text, path)
    has = section.has(text, *_MARKS)
    if not remove and given.section:
        after = section.put(text, given.section, *_MARKS)
        try:
            settings.parse(after, path)
        except StoreError as error:
            raise StoreError(
                f"{path} has another MCP server named {entries.SERVER}",
                "rename it there first, or wire the hooks alone: memfs install --no-mcp",
            ) from error
    else:
        after = section.take(text, *_MARKS)
    return has, before if after == text else after


def _check(text: str, wanted: entries.Json, path: str) -> None:
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
            while not os.listdir(folder):  # at the latest the store, or the home, holds something
                os.rmdir(folder)
                folder = os.path.dirname(folder)
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
