"""Plan and write the edit of a settings file, keep its earlier bytes, and ask git about it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import sys
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from memfs import files
from memfs.core import changes
from memfs.core.errors import StoreError
from memfs.files import atomic, outside
from memfs.hosts import jsonc_edit, own_memory, settings, settings_merge, toml_edit
from memfs.hosts.base import Entries
from memfs.ops.install import commands
from memfs.store import git, journal, lock, resources
from memfs.store.blocks import Place

_HOOKS = "/hooks.json"
_LINE = "/line.json"
_MODULE = '"-P", "-c", "import memfs.__main__", '  # how Python runs us, in the shipped files
_MEMORY = {"/memory_off.json": "off", "/memory_here.json": "store"}
_CHANGED = "changed"  # in place of a digest: others changed it since, which must not be lost

Record = dict[str, "str | None"]


@dataclass(frozen=True)
class ShippedEntries:
    """Our entries for one settings file: those `wanted`, and those to remove (`unwanted`).

    `text` is the table for a TOML file, which needs `tools`, or all of a file that we own.
    """

    wanted: settings_merge.Json
    unwanted: settings_merge.Json
    text: str
    tools: bool

    @classmethod
    def load(
        cls,
        place: Place,
        host: str,
        entries: tuple[Entries, ...],
        *,
        tools: bool,
        line: bool,
        shared: bool,
        memory: Collection[str] = (),
    ) -> ShippedEntries:
        """Load our entries.

        `shared`: they go into a file that git commits, and name nothing of this machine. `memory`
        is what becomes of the assistant's own: off, store (in the project's), or keep; what was set
        for another is unwanted then.
        """
        if shared and "store" in memory:
            raise StoreError(
                f"git tracks the settings of {host} here, but memfs would write a path of this "
                "machine there",
                "stop tracking the settings (git rm --cached), or use --own-memory off",
            )
        hook = (host, "mcp") if tools else (host,)
        top = place.top
        key = settings.find_project_key(top)
        values = {
            "{hook}": commands.hook(*hook, shared=shared),
            "{line}": shlex.join(commands.hook_words("line", shared=shared)),
            "{python}": commands.PROGRAM if shared else sys.executable,
            "{project}": key,
            "{memory}": own_memory.name_folder(top),
        }
        wanted: settings_merge.Json = {}
        unwanted: settings_merge.Json = {}
        toml_text = ""
        for each in entries:
            name = each if isinstance(each, str) else _HOOKS if "hooks" in each else ""
            if name.endswith(_LINE) and not line:
                continue
            kind = next((what for end, what in _MEMORY.items() if name.endswith(end)), "")
            if kind and not any(memory):
                continue
            if isinstance(each, str):
                text = resources.read_text("hooks", *each.split("/"))
            else:
                text = json.dumps(each)
            if settings_merge.is_owned_kind(name):
                words = commands.hook_words(*hook, shared=shared)
                return cls({}, {}, settings_merge.fill_text(text, host, words), tools)
            if shared:
                text = text.replace(_MODULE, "")
            for mark, value in values.items():
                text = text.replace(f'"{mark}"', json.dumps(value))
            if name.endswith(".toml"):
                toml_text = text
            else:
                is_wanted = kind in memory if kind else tools or name.endswith((_HOOKS, _LINE))
                found = json.loads(text)
                (wanted if is_wanted else unwanted).update(found)
                if "projects" in found and top != key:  # where earlier versions wrote it
                    unwanted["projects"] = {
                        **cast("settings_merge.Json", unwanted.get("projects", {})),
                        top: found["projects"][key],
                    }
        return cls(wanted, unwanted, toml_text, tools)


@dataclass(frozen=True)
class SettingsEdit:
    """A planned edit of one file: settings of a host, or git's list of files that it ignores.

    `record` is saved with settings that are wired: the file's path, its text before our edit, and
    the digest of it after. `real` is the real path: links out of a project are not followed, those
    among the user's own settings are. `tracking` says why a commit takes the change in, "" if none
    does.
    """

    host: str
    path: str
    real: str
    before: str | None
    after: str | None
    record: Record | None = None
    remove: bool = False
    tracking: str = ""

    @classmethod
    def plan(
        cls,
        place: Place,
        host: str,
        path: str,
        new: ShippedEntries,
        *,
        remove: bool,
        tracking: str = "",
    ) -> SettingsEdit:
        """Plan an edit; writes nothing. Raises `StoreError` for a file that cannot be preserved."""
        real = resolve_path(place, path)
        before = _read(path)
        record = _load_record(place, path)
        pristine = record if record and record["after"] == journal.digest(before) else None
        change = (
            _edit_toml
            if path.endswith(".toml")
            else _replace_file
            if settings_merge.is_owned_kind(path)
            else _edit_json
        )
        has, after = change(path, before, new, record, remove=remove)
        if remove and has and pristine:
            after = pristine["before"]
        if not pristine and not has:
            record = {"before": before}
        if record:
            mark = _CHANGED if has and not pristine else journal.digest(after)
            memory = _list_memory_keys(path, before, after, new.wanted, record)
            record = {"path": path, "before": record["before"], "after": mark, "memory": memory}
        if before == after:
            tracking = ""
        elif remove and describe_tracking(place, path) == TRACKED:  # else no commit ever had it
            tracking = TRACKED
        return cls(host, path, real, before, after, record, remove, tracking)

    @property
    def outcome(self) -> str:
        """What becomes of the file: created, updated, unchanged or removed."""
        return changes.name_outcome(self.before, self.after)

    @property
    def diff(self) -> str:
        return changes.format_diff(self.before or "", self.after or "", self.path, self.path)

    def check(self) -> None:
        """Raise `StoreError` if the file may not be written; called before any is."""
        folder = os.path.dirname(self.real)
        while not os.path.exists(folder):
            folder = os.path.dirname(folder)
        existing = [each for each in (self.path, folder) if os.path.exists(each)]
        own = os.access in os.supports_effective_ids
        read_only = [each for each in existing if not os.access(each, os.W_OK, effective_ids=own)]
        if read_only and self.after != self.before:
            raise StoreError(
                f"cannot write {self.path}: {read_only[0]} is read-only",
                f"make {read_only[0]} writable; to preview the changes, add --dry-run",
            )

    def write(self, place: Place) -> None:
        """Write the file and the record of its earlier bytes, which is written first.

        A kill in between leaves a record that matches no file. Removal deletes the record last.
        """
        if self.after == self.before:
            return
        note = _get_record_path(place, self.path)
        if self.record and not self.remove:
            files.make_folder(os.path.dirname(note), private=True)
            atomic.write(note, json.dumps(self.record), private=True)
        elif not self.remove:  # the file was wired before, in an unknown way
            files.remove(note)
        with lock.hold_lock(place.home):
            if _read(self.path) != self.before:
                raise StoreError(
                    f"{self.path} was changed by another program in the meantime",
                    "run the command again",
                )
            if self.after is None:
                _remove_file(self.path)
            else:
                files.make_folder(os.path.dirname(self.real))
                atomic.write(self.real, self.after)
        if self.remove:
            files.remove(note)


def resolve_path(place: Place, path: str) -> str:
    """Return the real path of a settings file; no link leads out of the project.

    Raises `StoreError` for a link that does, or that leads to itself.
    """
    if outside.leads_nowhere(path):
        raise StoreError(
            f"{path} is a link to itself", "remove the link, or replace it with a file"
        )
    if _is_in_project(place, path):
        return outside.real_path(path, place.top)
    return os.path.realpath(path)


def _is_in_project(place: Place, path: str) -> bool:
    return place.project is not None and path.startswith(f"{place.project.top}/")


def _edit_json(
    path: str, before: str | None, entries: ShippedEntries, record: Record | None, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a JSON file has entries of ours, and its text with them, or without.

    Containers that the file had before stay even if empty, as do those with a comment in them.
    """
    found = settings.parse(before or "", path)
    users = {*settings_merge.OWN_MEMORY}  # which a user may have set
    hooks = [_leave_out(each, users) for each in (entries.unwanted, entries.wanted)]
    has = any(settings_merge.has_entries(found, each) for each in hooks)
    users -= {*((record or {}).get("memory") or "").split()}
    unwanted, wanted = (_leave_out(each, users) for each in (entries.unwanted, entries.wanted))
    first = (record or {}).get("before") or ""
    stay: set[settings_merge.Where] = set()
    if remove or entries.unwanted:
        stay = jsonc_edit.find_containers(
            before or "", with_comments=True
        ) | jsonc_edit.find_containers(first)
    merged = settings_merge.without_entries(found, unwanted, stay)
    if remove:
        merged = settings_merge.without_entries(merged, wanted, stay)
        if has and record:
            merged = _remove_other_keys(merged, settings.parse(first, path), wanted)
            if not merged and record["before"] is None and () not in stay:
                return has, None  # we made the file
    elif entries.wanted:
        merged = settings_merge.with_entries(merged, entries.wanted)
    if merged == found:
        return has, before
    after = jsonc_edit.set_value(before or "", merged)
    if settings.parse(after, path) != merged:
        raise StoreError(
            f"memfs cannot edit {path} without damaging the file; nothing was changed",
            "edit the file yourself",
        )
    return has, after


def _leave_out(entries: settings_merge.Json, keys: Collection[str]) -> settings_merge.Json:
    return {key: value for key, value in entries.items() if key not in keys}


def _list_memory_keys(
    path: str, before: str | None, after: str | None, wanted: settings_merge.Json, record: Record
) -> str:
    if not path.endswith(".json"):
        return ""
    old, new = (settings.parse(text or "", path) for text in (before, after))
    known = (record.get("memory") or "").split()
    ours = [key for key in settings_merge.OWN_MEMORY if key in new]
    return " ".join(key for key in ours if key in known or (key in wanted and key not in old))


def _remove_other_keys(
    merged: settings_merge.Json, old: settings_merge.Json, wanted: settings_merge.Json
) -> settings_merge.Json:
    """Remove other keys we wrote (a version), if that gives the settings from before."""
    bare = {key: value for key, value in merged.items() if key in old or wanted.get(key) != value}
    return bare if bare == old else merged


def _edit_toml(
    path: str, before: str | None, entries: ShippedEntries, record: Record | None, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a TOML file has our table, and its text with it, or without."""
    text = before or ""
    settings.parse(text, path)
    if not entries.text:
        return False, before
    has = toml_edit.has_table(text, entries.text)
    if remove or not entries.tools:
        after = toml_edit.remove_table(text, entries.text)
        settings.parse(after, path)
        if remove and has and record and record["before"] is None and not after.strip():
            return has, None  # we made the file
    else:
        after = toml_edit.put_table(text, entries.text)
        _check_toml(path, text, after)
    return has, before if after == text else after


def _check_toml(path: str, text: str, after: str) -> None:
    try:
        settings.parse(after, path)
    except StoreError as error:
        alone = "or use --no-mcp to wire only the hooks"
        servers = settings.parse(text, path).get("mcp_servers")
        if isinstance(servers, dict) and settings_merge.SERVER not in servers:
            raise StoreError(
                f"{path}: 'mcp_servers' is written on one line, so memfs cannot add to it",
                f"write one table for each server ([mcp_servers.NAME]), {alone}",
            ) from error
        raise StoreError(
            f"{path} has another MCP server named {settings_merge.SERVER}",
            f"rename the other server, {alone}",
        ) from error


def _replace_file(
    path: str, before: str | None, entries: ShippedEntries, _record: Record | None, *, remove: bool
) -> tuple[bool, str | None]:
    """Return whether a file is ours, and its text as shipped, or None to remove it."""
    has = before is not None and settings_merge.is_ours(before)
    if remove:
        return has, None if has else before
    if before is not None and not has:
        raise StoreError(f"{path} was not created by memfs", "rename or remove the file first")
    return has, entries.text


def _remove_file(path: str) -> None:
    os.unlink(path)
    folder = os.path.dirname(path)
    files.sync_folder(os.path.realpath(folder))
    with suppress(OSError):  # a folder that is not empty stays
        while not os.path.islink(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _load_record(place: Place, path: str) -> Record | None:
    try:
        found = json.loads(files.read(_get_record_path(place, path)) or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) and {"before", "after"} <= found.keys() else None


def _get_record_path(place: Place, path: str) -> str:
    """Return the path of the record of a settings file, in the user's store if there is one."""
    name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:16]
    return f"{(place.user or place.home).local}/installed/{name}.json"


def _read(path: str) -> str | None:
    text, size = outside.beginning(path, files.READ_CAP, 0)
    if text is None and os.path.lexists(path):
        raise StoreError(f"{path} is not a readable file", f"check the file: ls -ld {path}")
    if size > files.READ_CAP:
        raise StoreError(f"{path} has {size:,} bytes, the limit is {files.READ_CAP:,}")
    return text


TRACKED = "tracked by git"
UNTRACKED = "not ignored by git"
_SPECIAL = re.compile(r"([\\*?\[ ])")  # in a pattern of git


def describe_tracking(place: Place, path: str) -> str:
    """Return why a commit takes a settings file in; "" if none does, as for files of the user."""
    return describe(resolve_path(place, path)) if _is_in_project(place, path) else ""


def describe(path: str) -> str:
    """Return why a commit takes a file in: `TRACKED` or `UNTRACKED`; "" if none does."""
    folder, name = os.path.split(path)
    if git.run(folder, "ls-files", "-s", paths=[name]):
        return TRACKED
    done = git.start(folder, "check-ignore", "-q", paths=[name])
    return "" if done is None or done.returncode == 0 else UNTRACKED


def plan_exclude(host: str, path: str) -> SettingsEdit | None:
    """Plan the line that keeps a file out of commits, in `.git/info/exclude` of this clone alone.

    None where none is needed, or helps.
    """
    folder, name = os.path.split(path)
    if describe(path) != UNTRACKED or git.foreign_part(folder):
        return None
    common = (git.run(folder, "rev-parse", "--git-common-dir") or "").rstrip("\n")
    if not common:
        return None
    exclude = os.path.join(str(git.top_level(folder)), common, "info/exclude")
    text, size = outside.beginning(exclude, files.READ_CAP, 0)
    before = text or ""
    line = "/" + _SPECIAL.sub(r"\\\1", git.prefix(folder) + name)
    if os.path.islink(exclude) or size > files.READ_CAP or "\n" in line:
        return None
    if line in before.split("\n"):  # a .gitignore takes it in again
        return None
    gap = "" if not before or before.endswith("\n") else "\n"
    return SettingsEdit(host, exclude, exclude, text, f"{before}{gap}{line}\n")
