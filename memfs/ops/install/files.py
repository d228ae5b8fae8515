"""One settings file: what goes into it, what that makes of it, and the bytes it had before."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from memfs import files
from memfs.core import changes as compare
from memfs.core import fastjson
from memfs.core.errors import StoreError
from memfs.files import atomic, outside
from memfs.hosts import jsonc_edit, owned_file, settings, settings_merge, toml_edit
from memfs.ops.install import commands
from memfs.store import lock, resources

if TYPE_CHECKING:
    from memfs.store.blocks import Place

_HOOKS = "/hooks.json"
_LINE = "/line.json"
_PROMPT = "/prompt.json"
_CHANGED = "changed"  # in place of a digest: what others changed since is not to be lost

Record = dict[str, "str | None"]


@dataclass(frozen=True)
class ShippedEntries:
    """What goes into one settings file: `wanted`, and `unwanted` of ours that is not to be there.

    `text` is what is for a TOML file, if `tools` are to be there, or all of a file that is ours.
    """

    wanted: settings_merge.Json
    unwanted: settings_merge.Json
    text: str
    tools: bool

    @classmethod
    def of(
        cls,
        place: Place,
        host: str,
        names: tuple[str, ...],
        *,
        tools: bool,
        line: bool,
        calls: bool,
    ) -> ShippedEntries:
        """Return what is in shipped files; `calls`: prompt hooks call a tool, start no process."""
        hook = (host, "mcp") if tools else (host,)
        values = {
            "{hook}": commands.hook(*hook),
            "{line}": commands.line(commands.python("line")),
            "{python}": sys.executable,
            "{project}": place.project.top if place.project else "",
        }
        wanted: settings_merge.Json = {}
        unwanted: settings_merge.Json = {}
        plain = ""
        for name in names:
            if (name.endswith(_LINE) and not line) or (name.endswith(_PROMPT) and not calls):
                continue
            text = resources.read_text("hooks", *name.split("/"))
            if owned_file.is_owned_kind(name):
                return cls({}, {}, owned_file.fill_text(text, commands.python(*hook)), tools)
            for mark, value in values.items():
                text = text.replace(f'"{mark}"', fastjson.dumps(value))
            if name.endswith(".toml"):
                plain = text
            else:
                kept = tools or name.endswith((_HOOKS, _LINE))
                found = json.loads(text)
                if name.endswith(_PROMPT):  # in place of the commands of the same events
                    found = {
                        "hooks": {**cast("settings_merge.Json", wanted["hooks"]), **found["hooks"]}
                    }
                (wanted if kept else unwanted).update(found)
        return cls(wanted, unwanted, plain, tools)


@dataclass(frozen=True)
class SettingsEdit:
    """What is to be done to one settings file.

    `record` is what is to be known of it then, if it is wired: see `_keep`. `real` is where it is:
    links out of a project are not followed, those among the user's own settings are.
    """

    path: str
    real: str
    before: str | None
    after: str | None
    record: Record | None
    remove: bool

    @classmethod
    def of(cls, place: Place, path: str, given: ShippedEntries, *, remove: bool) -> SettingsEdit:
        """Work out an edit; nothing is written. Raises `StoreError` for what cannot be kept."""
        top = place.project.top if place.project else None
        inside = top is not None and path.startswith(f"{top}/")
        real = outside.real_path(path, str(top)) if inside else os.path.realpath(path)
        before = _read(path)
        record = _record(place, path)
        pristine = record if record and record["after"] == _digest(before) else None
        change = (
            _toml if path.endswith(".toml") else _whole if owned_file.is_owned_kind(path) else _json
        )
        has, after = change(path, before, given, record, remove=remove)
        if remove and has and pristine:
            after = pristine["before"]
        if not pristine and not has:
            record = {"before": before}
        if record:
            mark = _CHANGED if has and not pristine else _digest(after)
            record = {"path": path, "before": record["before"], "after": mark}
        return cls(path, real, before, after, record, remove)

    def diff(self) -> str:
        return compare.unified(self.before or "", self.after or "", self.path, self.path)

    def check(self) -> None:
        """Raise `StoreError` if the file may not be written: nothing is, then, of any."""
        folder = os.path.dirname(self.real)
        while not os.path.exists(folder):
            folder = os.path.dirname(folder)
        there = [each for each in (self.path, folder) if os.path.exists(each)]
        own = os.access in os.supports_effective_ids
        shut = [each for each in there if not os.access(each, os.W_OK, effective_ids=own)]
        if shut and self.after != self.before:
            raise StoreError(
                f"{self.path} cannot be written: {shut[0]} is read-only",
                "lift that first; what would change: --dry-run",
            )

    def write(self, place: Place) -> None:
        """Write the file, and the note of the bytes it had: that first, when entries go in.

        A kill in between leaves a note that fits nothing.
        """
        if self.after == self.before:
            return
        note = _note(place, self.path)
        if not self.remove:
            _keep(note, self.record)
        _write(place, self.path, self.real, self.before, self.after)
        if self.remove:
            files.remove(note)


def _json(
    path: str, before: str | None, given: ShippedEntries, record: Record | None, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a JSON file has entries of ours, and its text with them, or without.

    What was there before we came stays, though it is empty, and so does what has a comment in it.
    """
    found = settings.parse(before or "", path)
    has = settings_merge.has_entries(found, {**given.unwanted, **given.wanted})
    first = (record or {}).get("before") or ""
    stay: set[settings_merge.Where] = set()
    if remove or given.unwanted:
        stay = jsonc_edit.find_containers(before or "", remarked=True) | jsonc_edit.find_containers(
            first
        )
    made = settings_merge.without_entries(found, given.unwanted, stay)
    if remove:
        made = settings_merge.without_entries(made, given.wanted, stay)
        if has and record:
            made = _bare(made, settings.parse(first, path), given.wanted)
            if not made and record["before"] is None and () not in stay:
                return has, None  # we made the file
    elif given.wanted:
        made = settings_merge.with_entries(made, given.wanted)
    if made == found:
        return has, before
    after = jsonc_edit.set_value(before or "", made)
    _check(after, made, path)
    return has, after


def _bare(
    made: settings_merge.Json, was: settings_merge.Json, wanted: settings_merge.Json
) -> settings_merge.Json:
    """Return settings without what else we wrote (a version), if they are what they were then."""
    bare = {key: value for key, value in made.items() if key in was or wanted.get(key) != value}
    return bare if bare == was else made


def _toml(
    path: str, before: str | None, given: ShippedEntries, record: Record | None, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a TOML file has our table, and its text with it, or without."""
    text = before or ""
    settings.parse(text, path)
    if not given.text:
        return False, before
    has = toml_edit.has_table(text, given.text)
    if remove or not given.tools:
        after = toml_edit.remove_table(text, given.text)
        settings.parse(after, path)
        if remove and has and record and record["before"] is None and not after.strip():
            return has, None  # we made the file
    else:
        after = toml_edit.put_table(text, given.text)
        _check_toml(path, text, after)
    return has, before if after == text else after


def _check_toml(path: str, text: str, after: str) -> None:
    """Raise `StoreError` if our table cannot stand in somebody's TOML, and say why."""
    try:
        settings.parse(after, path)
    except StoreError as error:
        alone = "or wire the hooks alone: memfs install --no-mcp"
        servers = settings.parse(text, path).get("mcp_servers")
        if isinstance(servers, dict) and settings_merge.SERVER not in servers:
            raise StoreError(
                f"{path}: mcp_servers is written in one line, to which no table can be added",
                f"write it as tables there first ([mcp_servers.NAME]), {alone}",
            ) from error
        raise StoreError(
            f"{path} has another MCP server named {settings_merge.SERVER}",
            f"rename it there first, {alone}",
        ) from error


def _whole(
    path: str, before: str | None, given: ShippedEntries, _record: Record | None, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a file is ours, and its text with what we ship, or none."""
    has = before is not None and owned_file.is_ours(before)
    if remove:
        return has, None if has else before
    if before is not None and not has:
        raise StoreError(f"{path} is somebody else's", "rename it or take it out there first")
    return has, given.text


def _check(text: str, wanted: settings_merge.Json, path: str) -> None:
    if settings.parse(text, path) != wanted:
        raise StoreError(f"{path} would not read back as it was written", "nothing was changed")


def _write(place: Place, path: str, real: str, before: str | None, after: str | None) -> None:
    with lock.hold_lock(place.home):
        if _read(path) != before:
            raise StoreError(f"{path} was changed by somebody else meanwhile", "run it again")
        if after is None:
            os.unlink(path)
            folder = os.path.dirname(path)
            files.sync_folder(os.path.realpath(folder))
            with suppress(OSError):  # it is not empty: others have something in it
                while not os.path.islink(folder):
                    os.rmdir(folder)
                    folder = os.path.dirname(folder)
        else:
            files.make_folder(os.path.dirname(real))
            atomic.write(real, after)


def _record(place: Place, path: str) -> Record | None:
    try:
        found = json.loads(files.read(_note(place, path)) or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) and {"before", "after"} <= found.keys() else None


def _note(place: Place, path: str) -> str:
    """Return where the bytes a settings file had are kept: with the user, who may be anywhere."""
    name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:16]
    return f"{(place.user or place.home).local}/installed/{name}.json"


def _keep(note: str, record: Record | None) -> None:
    """Keep a file's path, its text `before` we came, and the digest of what it was `after`.

    Nothing is kept of a file that was wired already, nobody knows how.
    """
    if record is None:
        files.remove(note)
        return
    files.make_folder(os.path.dirname(note), private=True)
    atomic.write(note, json.dumps(record), private=True)


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(files.encode(text)).hexdigest()


def _read(path: str) -> str | None:
    text, size = outside.beginning(path, files.READ_CAP, 0)
    if text is None and os.path.lexists(path):
        raise StoreError(f"{path} is not a readable file")
    if size > files.READ_CAP:
        raise StoreError(f"{path} has {size:,} bytes; memfs reads {files.READ_CAP:,} at most")
    return text
