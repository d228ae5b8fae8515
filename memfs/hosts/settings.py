"""Our entries in other people's settings files (JSON). Foreign entries are never touched.

An entry is ours if its command runs `memfs_hook.py`. A file that cannot be read back exactly is
refused, not mended.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, cast

from memfs.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "memfs_hook.py"
_OURS = object()

Json = dict[str, object]


def paths(relative: str, home: str, top: str | None) -> dict[str, str]:
    """Return a host's settings files by scope: user, project, local (not committed).

    `relative` is where it keeps them in a home or project folder; `top` is the project, if any.
    """
    found = {"user": f"{home}/{relative}"}
    if top:
        found["project"] = f"{top}/{relative}"
        found["local"] = f"{top}/{relative.removesuffix('.json')}.local.json"
    return found


def wired(
    relative: str, home: str, top: str | None, read: Callable[[str], str | None]
) -> list[tuple[str, str, str]]:
    """List (scope, path, text) of a host's settings files that hold entries of ours."""
    files = [(scope, path, read(path) or "") for scope, path in paths(relative, home, top).items()]
    return [found for found in files if MARK in found[2]]


def parse(text: str, path: str) -> Json:
    """Read a settings file; raises `StoreError` for what could not be written back faithfully."""
    if not text.strip():
        return {}
    try:
        text.encode()
        found = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path} cannot be read back safely: {error}",
            "mend it first; memfs does not rewrite what it cannot read (comments, double keys)",
        ) from error
    if not isinstance(found, dict) or not isinstance(found.get("hooks", {}), dict):
        raise StoreError(f"{path} is not a settings file: a mapping with hooks was expected")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text} is out of range")
    return number


def with_entries(settings: Json, entries: Json) -> Json:
    """Return the settings with our entries, in place of earlier ones of ours."""
    out = without_entries(settings)
    hooks = dict(_mapping(out.get("hooks")))
    for event, groups in _mapping(entries["hooks"]).items():
        if not isinstance(hooks.get(event, []), list):
            raise StoreError(
                f"the settings' hooks for {event} are not a list", "mend them first; see its manual"
            )
        hooks[event] = [*_list(hooks.get(event)), *_list(groups)]
    return {**out, "hooks": hooks}


def without_entries(settings: Json) -> Json:
    """Return the settings without our entries, and without what only held them."""
    if not has_entries(settings):
        return settings
    hooks: Json = {}
    for event, groups in _mapping(settings.get("hooks")).items():
        kept = [_foreign(group) for group in _list(groups)]
        kept = [group for group in kept if group is not _OURS]
        if kept or not _list(groups):
            hooks[event] = kept if isinstance(groups, list) else groups
    out = dict(settings)
    if hooks:
        out["hooks"] = hooks
    else:
        del out["hooks"]
    return out


def has_entries(settings: Json) -> bool:
    """Tell whether an entry of ours is in the settings."""
    return bool(commands(settings))


def commands(settings: Json) -> list[str]:
    """Return the commands of our entries."""
    return [
        str(_mapping(entry).get("command"))
        for groups in _mapping(settings.get("hooks")).values()
        for group in _list(groups)
        for entry in _list(_mapping(group).get("hooks"))
        if _ours(entry)
    ]


def render(settings: Json, like: str) -> str:
    """Write settings in the style of the file they come from: indentation and line ends."""
    indent: int | str = 2
    for line in like.replace("\r", "").split("\n"):
        stripped = line.lstrip(" \t")
        if stripped and stripped != line:
            indent = "\t" if line[0] == "\t" else len(line) - len(stripped)
            break
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    if not text.isascii() and text != text.encode("utf-8", "replace").decode():
        text = json.dumps(settings, indent=indent)  # half a surrogate pair can only be escaped
    text += "" if like and not like.endswith("\n") else "\n"
    return text.replace("\n", "\r\n") if "\r\n" in like else text


def _foreign(group: object) -> object:
    """Return a matcher group without our entries; `_OURS` if nothing else was in it."""
    if not isinstance(group, dict) or not any(_ours(e) for e in _list(group.get("hooks"))):
        return group
    kept = [entry for entry in _list(group["hooks"]) if not _ours(entry)]
    return {**group, "hooks": kept} if kept else _OURS


def _ours(entry: object) -> bool:
    return isinstance(entry, dict) and MARK in str(entry.get("command", ""))


def _unique(pairs: list[tuple[str, object]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [key for key, _ in pairs]
        double = next(key for key in names if names.count(key) > 1)
        raise ValueError(f"the key {double!r} is there twice")
    return found


def _mapping(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
