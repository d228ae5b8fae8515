"""Our entries in a host's settings, as values: in, out, found again. Foreign ones never move.

Ours are hooks that run `memfs_hook.py`, the MCP server named memfs, and its name where hosts keep
lists of what may be used.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING, cast

from memfs.core.errors import StoreError
from memfs.hosts import HOOK, HOOK_TOOL, PLUGIN

if TYPE_CHECKING:
    from collections.abc import Collection

SERVER = "memfs"
_SERVERS = ("mcpServers", "mcp_servers", "mcp")  # the last is opencode's
_NOTHING = object()
_LINE = re.compile(rf"[^;&|]*{re.escape(HOOK)}['\"]? line")  # and nothing of theirs beside it
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")

Json = dict[str, object]
Where = tuple[str, ...]  # the keys that lead to a value


def with_entries(settings: Json, entries: Json) -> Json:
    """Return the settings with our entries, in place of earlier ones of ours.

    Raises `StoreError` where others have something else in that place.
    """
    return cast("Json", _joined(settings, entries, (), (), put=True))


def without_entries(settings: Json, entries: Json, stay: Collection[Where] = ()) -> Json:
    """Return the settings without our entries and older ones of ours, and what only held them.

    What is at places that `stay` does so, also when it is empty then.
    """
    return cast("Json", _joined(settings, entries, (), stay, put=False))


def has_entries(settings: Json, entries: Json) -> bool:
    """Tell whether entries of ours are in the settings, these or older ones."""
    return without_entries(settings, entries) != settings


def commands(settings: Json) -> list[str]:
    """Return the commands of our hooks."""
    found = [entry for entry in _hooks(settings) if _ours(entry) and not _calls(entry)]
    return [str(_mapping(entry).get("command")) for entry in found]


def calls_tool(settings: Json) -> bool:
    """Tell whether a hook of ours is a call of a tool, for which no process is started."""
    return any(map(_calls, _hooks(settings)))


def programs(command: str) -> list[str]:
    """Return what the command of a hook needs to be there: its program, and our script."""
    try:
        words = shlex.split(command) if os.name != "nt" else command.replace('"', "").split()
    except ValueError:  # a quote that nothing closes: no shell runs that
        return [command]
    while "exec" in words:  # what is started last is what needs to be there
        del words[: words.index("exec") + 1]
    while words and _VARIABLE.match(words[0]):
        del words[0]
    return list_needed(words) or [command]


def list_needed(words: list[str]) -> list[str]:
    """Return of the words of a command what it needs to be there."""
    return [words[0], *[word for word in words[1:] if word.endswith(HOOK)]] if words else []


def is_available(program: str) -> bool:
    """Tell whether what a command needs is on this machine."""
    return os.path.exists(program) if os.path.dirname(program) else bool(shutil.which(program))


def is_plugin_enabled(settings: Json) -> bool:
    """Tell whether our plugin is enabled in settings."""
    said = {**_mapping(settings.get("enabledPlugins")), **_mapping(settings.get("plugins"))}
    return any(
        name.startswith(PLUGIN) and (on is True or _mapping(on).get("enabled") is True)
        for name, on in said.items()
    )


def servers(settings: Json, top: str | None) -> list[str]:
    """Return the programs that are started as our MCP server for the project `top`."""
    places = [settings, _mapping(_mapping(settings.get("projects")).get(top or ""))]
    found = [_mapping(each.get(key)).get(SERVER) for each in places for key in _SERVERS]
    return [_words(each)[0] for each in found if _our_server(each)]


def _joined(
    found: object, entries: object, where: Where, stay: Collection[Where], *, put: bool
) -> object:
    """Return `found` with what is ours replaced by `entries`, or taken out (not `put`).

    `where` are the keys that lead here. What becomes empty is `_NOTHING`, unless it is to `stay`.
    """
    if where[-1:] == (SERVER,) and where[-2] in _SERVERS:
        ours, what = _our_server(found), f"MCP server named {SERVER}"
        if put and ours:
            return {**_mapping(found), **_mapping(entries)}  # with what their user added
        return _whole(found, entries if put else _NOTHING, what, ours=ours)
    if where == ("statusLine",):
        ours = _LINE.fullmatch(str(_mapping(found).get("command"))) is not None
        return _whole(found, entries if put else _NOTHING, "status line", ours=ours)
    if found is _NOTHING:
        return entries if put else _NOTHING
    if where == ("$schema",):  # what opencode adds by itself, or what its user put there
        return found
    if isinstance(found, dict) and isinstance(entries, dict):
        kept: Json = {}
        for key in [*found, *(key for key in entries if key not in found)]:
            value = found.get(key, _NOTHING)
            if key in entries:
                value = _joined(value, entries[key], (*where, key), stay, put=put)
            elif where == ("hooks",) and isinstance(value, list):  # an event of older versions
                value = _joined_list(value, [], [], stays=(*where, key) in stay)
            if value is not _NOTHING:
                kept[key] = value
        return _NOTHING if found and not kept and where and where not in stay else kept
    if isinstance(found, list) and isinstance(entries, list):
        return _joined_list(found, entries, entries if put else [], stays=where in stay)
    if put and found != entries:
        name = f"hooks for {where[-1]}" if where[:1] == ("hooks",) else ".".join(where)
        kind = "list" if isinstance(entries, list) else "mapping"
        known = isinstance(entries, list | dict)
        wrong = f"{name} are not a {kind}" if known else f"{name} is {found!r}, not {entries!r}"
        raise StoreError(f"the settings' {wrong}", "mend them first; see its manual")
    return found


def _joined_list(
    found: list[object], ours: list[object], added: list[object], *, stays: bool
) -> object:
    """Return a list with what is ours in it replaced where it first stood."""
    kept: list[object] = []
    at = -1
    for item in found:
        rest = _foreign(item, ours)
        if rest is not item and at < 0:
            at = len(kept) + (rest is not _NOTHING)
        if rest is not _NOTHING:
            kept.append(rest)
    at = len(kept) if at < 0 else at
    kept[at:at] = added
    return _NOTHING if found and not kept and not stays else kept


def _foreign(item: object, ours: list[object]) -> object:
    """Return an item of a list without what is ours in it; `_NOTHING` if that was all."""
    if isinstance(item, str):
        return _NOTHING if item in ours else item
    if _ours(item):  # Cursor's have no groups
        return _NOTHING
    if not isinstance(item, dict) or not any(_ours(entry) for entry in _list(item.get("hooks"))):
        return item
    kept = [entry for entry in _list(item["hooks"]) if not _ours(entry)]
    return {**item, "hooks": kept} if kept else _NOTHING


def _whole(found: object, wanted: object, what: str, *, ours: bool) -> object:
    """Return what is to stand where there can be only one."""
    if found is _NOTHING or ours:
        return wanted
    if wanted is _NOTHING:
        return found
    raise StoreError(
        f"the settings have another {what}",
        "rename it or take it out there first, or leave ours out",
    )


def _hooks(settings: Json) -> list[object]:
    """Return all hooks, whoever's they are."""
    return [
        entry
        for groups in _mapping(settings.get("hooks")).values()
        for group in _list(groups)
        for entry in (group, *_list(_mapping(group).get("hooks")))
    ]


def _ours(entry: object) -> bool:
    return _calls(entry) or (isinstance(entry, dict) and HOOK in str(entry.get("command", "")))


def _calls(entry: object) -> bool:
    """Tell whether a hook calls the tool of our server that answers hooks."""
    return isinstance(entry, dict) and (entry.get("server"), entry.get("tool")) == (
        SERVER,
        HOOK_TOOL,
    )


def _our_server(entry: object) -> bool:
    words = _words(entry)
    at = words.index("mcp") if "mcp" in words else 0
    return SERVER in " ".join(words[:at]) and words[at + 1 : at + 2] in ([], ["--folder"])


def _words(entry: object) -> list[str]:
    """Return what starts a server: a program and its arguments, or, for opencode, all in one."""
    command = _mapping(entry).get("command")
    found = command if isinstance(command, list) else [command, *_list(_mapping(entry).get("args"))]
    return [str(word) for word in found]


def _mapping(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
