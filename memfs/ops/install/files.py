"""One settings file: what goes into it, what that makes of it, and the bytes it had before."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.core import changes as compare
from memfs.core import fastjson
from memfs.core.errors import StoreError
from memfs.hosts import entries, jsontext, settings, tomltext, whole
from memfs.store import files, lock, shipped

if TYPE_CHECKING:
    from memfs.store.blocks import Place

_HOOKS = "/hooks.json"
_LINE = "/line.json"


@dataclass(frozen=True)
class Shipped:
    """What goes into one settings file: `wanted`, and `unwanted` of ours that is not to be there.

    `text` is what is for a TOML file, if `tools` are to be there, or all of a file that is ours.
    """

    wanted: entries.Json
    unwanted: entries.Json
    text: str
    tools: bool

    @classmethod
    def of(
        cls, place: Place, host: str, names: tuple[str, ...], *, tools: bool, line: bool
    ) -> Shipped:
        hook = _words(host, "mcp" if tools else "")
        values = {
            "{hook}": _command(hook), "{line}": _command(_words("line")),
            "{python}": sys.executable,
            "{project}": place.project.top if place.project else "",
        }  # fmt: skip
        wanted: entries.Json = {}
        unwanted: entries.Json = {}
        plain = ""
        for name in names:
            if name.endswith(_LINE) and not line:
                continue
            text = shipped.text("hooks", *name.split("/"))
            if whole.is_one(name):  # it starts the hook without a shell
                return cls({}, {}, text.replace('"{hook}"', json.dumps(hook)), tools)
            for mark, value in values.items():
                text = text.replace(f'"{mark}"', fastjson.dumps(value))
            if name.endswith(".toml"):
                plain = text
            else:
                kept = tools or name.endswith((_HOOKS, _LINE))
                (wanted if kept else unwanted).update(json.loads(text))
        return cls(wanted, unwanted, plain, tools)


@dataclass(frozen=True)
class Edit:
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
    def of(cls, place: Place, path: str, given: Shipped, *, remove: bool) -> Edit:
        """Work out an edit; nothing is written. Raises `StoreError` for what cannot be kept."""
        before = _read(path)
        record = _record(place, path)
        pristine = record if record and record["after"] == _digest(before) else None
        change = _toml if path.endswith(".toml") else _whole if whole.is_one(path) else _json
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
    path: str, before: str | None, given: Shipped, *, remove: bool
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
    after = jsontext.changed(before or "", made)
    _check(after, made, path)
    return has, after


def _toml(
    path: str, before: str | None, given: Shipped, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a TOML file has our table, and its text with it, or without."""
    text = before or ""
    settings.parse(text, path)
    if not given.text:
        return False, before
    has = tomltext.has(text, given.text)
    if remove or not given.tools:
        after = tomltext.take(text, given.text)
        settings.parse(after, path)
    else:
        after = tomltext.put(text, given.text)
        try:
            settings.parse(after, path)
        except StoreError as error:
            raise StoreError(
                f"{path} has another MCP server named {entries.SERVER}",
                "rename it there first, or wire the hooks alone: memfs install --no-mcp",
            ) from error
    return has, before if after == text else after


def _whole(
    path: str, before: str | None, given: Shipped, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a file is ours, and its text with what we ship, or none."""
    has = before is not None and whole.ours(before)
    if remove:
        return has, None if has else before
    if before is not None and not has:
        raise StoreError(f"{path} is somebody else's", "rename it or take it out there first")
    return has, given.text


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
            with suppress(OSError):  # it is not empty: others have something in it
                while not os.path.islink(folder):
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


def commands(host: str) -> tuple[str, ...]:
    """Return the commands of our hooks for a host, with its tools and without."""
    return _command(_words(host)), _command(_words(host, "mcp"))


def _words(*words: str) -> list[str]:
    """Return the command of a hook: this interpreter, without site-packages, on our file."""
    script = shipped.path("hooks", hosts.HOOK)
    return [sys.executable, "-I", "-S", "-E", script, *filter(None, words)]


def _command(words: list[str]) -> str:
    """Return a command as a shell reads it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
