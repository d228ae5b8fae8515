"""Our entries in a host's settings, as values: added, removed, found. Others' never move.

Ours are hooks that run `memfs_hook.py` or `memfs hook`, the MCP server named memfs, and its name
where hosts keep lists of what may be used.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Collection
from typing import cast

from memfs.core.errors import StoreError
from memfs.hosts import HOOK, HOOK_COMMAND, HOOK_TOOL, PLUGIN

SUFFIX = ".js"
_MARK = "// memfs: "
_HOOK = "const HOOK = "

SERVER = "memfs"
_SERVERS = ("mcpServers", "mcp_servers", "mcp")  # the last is opencode's
_NOTHING = object()
# A command of ours alone.
_LINE = re.compile(rf"(?:[^;&|]*{re.escape(HOOK)}['\"]? |{HOOK_COMMAND})line")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")

# What an assistant's own memory is set to, where a person wants that.
OWN_MEMORY = ("autoMemoryEnabled", "autoMemoryDirectory")

Json = dict[str, object]
Where = tuple[str, ...]  # the keys that lead to a value


def with_entries(settings: Json, entries: Json) -> Json:
    """Return the settings with our entries, in place of earlier ones of ours.

    Raises `StoreError` where others have something else in that place.
    """
    return cast("Json", _merge(settings, entries, (), (), put=True))


def without_entries(settings: Json, entries: Json, stay: Collection[Where] = ()) -> Json:
    """Return the settings without our entries, older ones, and containers left empty.

    Values at the key paths in `stay` remain, even if they are empty.
    """
    return cast("Json", _merge(settings, entries, (), stay, put=False))


def has_entries(settings: Json, entries: Json) -> bool:
    """Return whether the settings have entries of ours, these or older ones."""
    return without_entries(settings, entries) != settings


def list_missing_hooks(settings: Json, entries: Json) -> list[str]:
    """List what our hooks in `settings` lack of `entries`: events, and the tools of an event."""
    missing = []
    for event, wanted in _mapping(entries.get("hooks")).items():
        groups = map(_mapping, _list(_mapping(settings.get("hooks")).get(event)))
        ours = [each for each in groups if any(map(_is_ours, (each, *_list(each.get("hooks")))))]
        tools = {tool for each in ours for tool in str(each.get("matcher") or "").split("|")}
        matchers = [str(_mapping(each).get("matcher") or "") for each in _list(wanted)]
        lacks = [tool for each in matchers for tool in each.split("|") if tool not in tools]
        if not ours:
            missing.append(event)
        elif lacks and tools.isdisjoint(("", "*", ".*")):
            missing.append(f"{event} ({', '.join(lacks)})")
    return missing


def may_have_hooks(text: str) -> bool:
    """Return whether a settings file may have hooks of ours; it is not parsed."""
    return HOOK in text or HOOK_COMMAND in text


def commands(settings: Json) -> list[str]:
    """Return the commands of our hooks."""
    found = [entry for entry in _list_hooks(settings) if _is_ours(entry) and not _is_call(entry)]
    return [str(_mapping(entry).get("command")) for entry in found]


def calls_tool(settings: Json) -> bool:
    """Return whether a hook calls a tool of our server, as prompts of earlier versions do."""
    return any(map(_is_call, _list_hooks(settings)))


def programs(command: str) -> list[str]:
    """Return the files that a hook's command needs: its program, and our script."""
    if HOOK_COMMAND in command:
        return HOOK_COMMAND.split()[:1]
    try:
        words = shlex.split(command)
    except ValueError:  # a quote that nothing closes: no shell runs that
        return [command]
    while "exec" in words:  # the last program is the one that is needed
        del words[: words.index("exec") + 1]
    while words and _VARIABLE.match(words[0]):
        del words[0]
    return list_required(words) or [command]


def list_required(words: list[str]) -> list[str]:
    """Return the words of a command that name files it needs."""
    return [words[0], *[word for word in words[1:] if word.endswith(HOOK)]] if words else []


def is_available(program: str) -> bool:
    """Return whether a program or file is on this machine."""
    return os.path.exists(program) if os.path.dirname(program) else bool(shutil.which(program))


def is_plugin_enabled(settings: Json) -> bool:
    """Return whether our plugin is enabled in settings."""
    plugins = {**_mapping(settings.get("enabledPlugins")), **_mapping(settings.get("plugins"))}
    return any(
        name.startswith(PLUGIN) and (on is True or _mapping(on).get("enabled") is True)
        for name, on in plugins.items()
    )


def servers(settings: Json, project: str | None) -> list[str]:
    """Return the programs that are started as our MCP server, everywhere or for a project's key."""
    places = [settings, _mapping(_mapping(settings.get("projects")).get(project or ""))]
    found = [_mapping(each.get(key)).get(SERVER) for each in places for key in _SERVERS]
    return [_list_words(each)[0] for each in found if _is_our_server(each)]


def _merge(
    found: object, entries: object, where: Where, stay: Collection[Where], *, put: bool
) -> object:
    """Return `found` with our entries replaced by `entries`, or removed (not `put`).

    `where` is the key path. A value that becomes empty is `_NOTHING`, unless its path is in `stay`.
    """
    made = entries if put else _NOTHING
    if where[-1:] == (SERVER,) and where[-2] in _SERVERS:
        ours, what = _is_our_server(found), f"MCP server named {SERVER}"
        if put and ours:
            return {**_mapping(found), **_mapping(entries)}  # with keys that a user added
        return _merge_single(found, made, what, "with --no-mcp", ours=ours)
    if where == ("statusLine",):
        ours = _LINE.fullmatch(str(_mapping(found).get("command"))) is not None
        return _merge_single(found, made, "status line", "without --status-line", ours=ours)
    if len(where) == 1 and where[0] in OWN_MEMORY:
        what = f"value of {where[0]} ({found!r})"
        return _merge_single(found, made, what, "without --own-memory", ours=found == entries)
    if found is _NOTHING:
        return made
    if where == ("$schema",):  # added by opencode or its user
        return found
    if isinstance(found, dict) and isinstance(entries, dict):
        merged: Json = {}
        for key in [*found, *(key for key in entries if key not in found)]:
            value = found.get(key, _NOTHING)
            if key in entries:
                value = _merge(value, entries[key], (*where, key), stay, put=put)
            elif where == ("hooks",) and isinstance(value, list):  # an event of older versions
                value = _merge_list(value, [], [], stays=(*where, key) in stay)
            if value is not _NOTHING:
                merged[key] = value
        return _NOTHING if found and not merged and where and where not in stay else merged
    if isinstance(found, list) and isinstance(entries, list):
        return _merge_list(found, entries, entries if put else [], stays=where in stay)
    if put and found != entries:
        name = f"the hooks for {where[-1]}" if where[:1] == ("hooks",) else ".".join(where)
        kind = "list" if isinstance(entries, list) else "mapping"
        known = isinstance(entries, list | dict)
        wrong = f"{name} are not a {kind}" if known else f"{name} is {found!r}, not {entries!r}"
        raise StoreError(
            f"in the settings, {wrong}", "fix the settings as the assistant's manual describes"
        )
    return found


def _merge_list(
    found: list[object], ours: list[object], added: list[object], *, stays: bool
) -> object:
    """Return a list with our items replaced by `added`, at the place of the first."""
    merged: list[object] = []
    at = -1
    for item in found:
        rest = _drop_ours(item, ours)
        if rest is not item and at < 0:
            at = len(merged) + (rest is not _NOTHING)
        if rest is not _NOTHING:
            merged.append(rest)
    at = len(merged) if at < 0 else at
    merged[at:at] = added
    return _NOTHING if found and not merged and not stays else merged


def _drop_ours(item: object, ours: list[object]) -> object:
    """Return an item of a list without our entries; `_NOTHING` if nothing is left."""
    if isinstance(item, str):
        return _NOTHING if item in ours else item
    if _is_ours(item):  # Cursor's have no groups
        return _NOTHING
    if not isinstance(item, dict) or not any(_is_ours(entry) for entry in _list(item.get("hooks"))):
        return item
    rest = [entry for entry in _list(item["hooks"]) if not _is_ours(entry)]
    return {**item, "hooks": rest} if rest else _NOTHING


def _merge_single(found: object, entry: object, what: str, how: str, *, ours: bool) -> object:
    """Return the value of a key that has one owner. Raises `StoreError` for another's."""
    if found is _NOTHING or ours:
        return entry
    if entry is _NOTHING:
        return found
    raise StoreError(
        f"the settings already have another {what}",
        f"rename or remove the existing entry, or install {how}",
    )


def _list_hooks(settings: Json) -> list[object]:
    """Return all hooks, ours and others'."""
    return [
        entry
        for groups in _mapping(settings.get("hooks")).values()
        for group in _list(groups)
        for entry in (group, *_list(_mapping(group).get("hooks")))
    ]


def _is_ours(entry: object) -> bool:
    command = str(_mapping(entry).get("command", ""))
    return _is_call(entry) or HOOK in command or HOOK_COMMAND in command


def _is_call(entry: object) -> bool:
    """Return whether a hook calls our server's tool for hooks."""
    return isinstance(entry, dict) and (entry.get("server"), entry.get("tool")) == (
        SERVER,
        HOOK_TOOL,
    )


def _is_our_server(entry: object) -> bool:
    words = _list_words(entry)
    at = words.index("mcp") if "mcp" in words else 0
    return SERVER in " ".join(words[:at]) and words[at + 1 : at + 2] in ([], ["--folder"])


def _list_words(entry: object) -> list[str]:
    """Return the program and arguments of a server; opencode has them in one list."""
    command = _mapping(entry).get("command")
    found = command if isinstance(command, list) else [command, *_list(_mapping(entry).get("args"))]
    return [str(word) for word in found]


def _mapping(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def is_owned_kind(path: str) -> bool:
    """Return whether a settings file is of this kind."""
    return path.endswith(SUFFIX)


def is_ours(text: str) -> bool:
    """Return whether memfs wrote a file, in any version."""
    return text.startswith(_MARK)


def fill_text(template: str, host: str, hook: list[str]) -> str:
    """Return a file of ours, with its host and the words of the hook's command in it."""
    return template.replace("{host}", host).replace('"{hook}"', json.dumps(hook))


def is_same_version(text: str, other: str) -> bool:
    """Return whether two files of ours differ in nothing but the words of the hook's command."""
    lines = ([line for line in each.splitlines() if _HOOK not in line] for each in (text, other))
    return next(lines) == next(lines)


def list_words(text: str) -> list[str]:
    """Return the words of the hook command in a file of ours; none if it is not found."""
    for line in text.splitlines():
        if line.startswith(_HOOK):
            try:
                found = json.loads(line.removeprefix(_HOOK))
            except ValueError:
                return []
            return [str(word) for word in found] if isinstance(found, list) else []
    return []
