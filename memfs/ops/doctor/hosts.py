"""Check assistants and their settings, and find temporary files of runs that were killed."""

import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch

from memfs import files, hosts
from memfs.core.errors import MemfsError, StoreError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_time
from memfs.core.parts import DISTRIBUTION
from memfs.files import logs, outside, trees
from memfs.hosts import own_memory, settings, settings_merge
from memfs.hosts.base import Host
from memfs.hosts.marked_section import TARGETS
from memfs.ops.doctor.finding import Finding, confirm, fail, warn
from memfs.ops.install import commands
from memfs.ops.install.files import ShippedEntries
from memfs.store import host_sessions, sessions
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

_TRANSCRIPTS = 20  # the newest, in which failed hooks are looked for
_LONGEST = 200  # characters of an error
_WEEK = 7 * 24 * 3600  # seconds
_DAY = 24 * 3600  # seconds: a session that began before the install has no hooks


def check_hosts(place: Place, home: str) -> Iterator[Finding]:
    """Check assistants: their versions, our entries in their settings, and our hooks' runs."""
    here = [name for name in hosts.NAMES if settings.is_installed(hosts.get(name), home)]
    first = "claude" if not here else ""  # named if none is installed
    versions = settings.ask_versions(map(hosts.get, here))
    for name in hosts.NAMES:
        host = hosts.get(name)
        if name in here:
            yield check_activity(place, host, versions[name])
        wired = settings.list_hook_files(host, home, place.top)
        try:
            plugged = settings.list_plugin_files(host, home, place.top)
            served = settings.list_server_files(host, home, place.top)
            yield from _check_programs(host, wired, served, place.top)
            for found in wired:
                yield from _check_version(place, host, found, home)
        except MemfsError as error:
            yield fail(error.message, error.hint)
            continue
        for path in filter(outside.leads_nowhere, settings.paths(host, home, place.top)):
            yield warn(
                f"{path} is a link to itself, so {host.TITLE} cannot read the file",
                "remove the link, or replace it with a file",
            )
        for path in plugged:
            yield confirm(f"{host.TITLE} has the memfs plugin, enabled in {path}")
        if wired and plugged:
            yield warn(
                f"{host.TITLE} is wired through the plugin and its settings, so it has every tool "
                "twice",
                f"remove memfs from the settings: memfs uninstall {name} --{wired[0].scope}",
            )
        if wired or plugged:
            yield from _check_trust(host, place)
            yield from check_runs(place, host, home, [*(each.path for each in wired), *plugged])
        if len(wired) > 1:
            commands = (f"memfs uninstall {name} --{found.scope}" for found in wired)
            yield warn(
                f"{host.TITLE} is wired {len(wired)} times, so the memfs hooks run several times",
                f"remove all but one: {' or '.join(commands)}",
            )
        if not (wired or plugged) and (name in here or name == first):
            yield warn(f"{host.TITLE} is not wired to memfs", f"run memfs install {name}")
    for name, line in own_memory.describe_memories(home, place.top, outside.read):
        yield confirm(f"{hosts.get(name).TITLE} {line}")
    for path in list_temp_settings(place, home):
        yield report_temp_file(path)


def _check_programs(
    host: Host, wired: list[settings.WiredFile], served: list[settings.WiredFile], top: str
) -> Iterator[Finding]:
    needed: dict[tuple[str, str], tuple[str, str]] = {}  # (file, program): (purpose, flag)
    for found in [*wired, *served]:
        flag = f" --{found.scope}"
        parsed = settings.parse(found.text, found.path)
        started = [settings_merge.programs(each) for each in settings_merge.commands(parsed)]
        started = started or [settings_merge.list_required(settings_merge.list_words(found.text))]
        words = [word for each in started for word in each]
        needed |= {(found.path, word): ("hook needs", flag) for word in words}
        key = settings.find_project_key(top) if top else None
        servers = settings_merge.servers(parsed, key)
        needed |= {(found.path, word): ("tools need", flag) for word in servers}
    missing = {key: why for key, why in needed.items() if not settings_merge.is_available(key[1])}
    for (path, word), (what, flag) in sorted(missing.items()):
        where, hint = "missing", f"update the settings: memfs install {host.NAME}{flag}"
        if word == commands.PROGRAM:
            where, hint = "not on the PATH", f"install memfs: pipx install {DISTRIBUTION}"
        yield fail(f"{path}: the {what} {word}, which is {where}", hint)
    for path, text in {each.path: each.text for each in [*wired, *served]}.items():
        if ignored := settings.find_ignored(host, text, path):
            yield fail(f"{path}: {ignored}", "remove these parts from the file")
        elif settings.is_switched_off(text, path):
            yield fail(
                f"{path}: {host.TITLE} runs no hooks, because 'disableAllHooks' is on",
                "remove 'disableAllHooks' from the file, or uninstall memfs there",
            )
    for found in wired:
        if not any(path == found.path for path, _ in missing):
            tools = "hooks and tools" if served else "hooks only"
            yield confirm(f"{host.TITLE} is wired to memfs in {found.path} ({tools})")


def _check_version(
    place: Place, host: Host, found: settings.WiredFile, home: str
) -> Iterator[Finding]:
    hint = f"update the settings: memfs install {host.NAME} --{found.scope}"
    entries = dict(host.wiring(found.scope, home, place.top))[found.path]
    shipped = ShippedEntries.load(place, host.NAME, entries, tools=True, line=False, shared=False)
    parsed = settings.parse(found.text, found.path)
    if missing := settings_merge.list_missing_hooks(parsed, shipped.wanted):
        yield warn(f"{found.path} has no memfs hooks for {'; '.join(missing)}", hint)
    owned = settings_merge.is_owned_kind(found.path)
    if owned and not settings_merge.is_same_version(found.text, shipped.text):
        yield warn(f"{found.path}: the plugin is from another version of memfs", hint)
    if settings_merge.calls_tool(parsed):
        yield warn(
            f"{found.path}: the prompt hook calls a tool of the memfs MCP server; prompts sent "
            "before the "
            "server is connected get no memory",
            f"make the hook run a command instead: memfs install {host.NAME} --{found.scope}",
        )


def _check_trust(host: Host, place: Place) -> Iterator[Finding]:
    module = hosts.trust_module(host.NAME)
    if module is None or not shutil.which(host.COMMAND):
        return
    try:
        found = module.hooks(place.home.top, commands.list_commands(host.NAME))
    except StoreError as error:
        yield warn(error.message, error.hint)
        return
    if skipped := sum(not hook.runs for hook in found):
        yield fail(
            f"{host.TITLE} does not run {skipped} of the memfs hooks: you have not trusted them",
            f"run memfs install {host.NAME} --trust, or trust them with /hooks in {host.TITLE}",
        )


def _report_failed_hooks(host: Host, transcripts: list[str]) -> Iterator[Finding]:
    since = time.time() - _WEEK
    newest = sorted((path for path in transcripts if _get_mtime(path) > since), key=_get_mtime)
    failed: list[tuple[str, str]] = []
    for path in newest[-_TRANSCRIPTS:]:
        with suppress(OSError), logs.open_stream(path) as lines:
            failed += hosts.reader(host.NAME).find_failed_hooks(lines)
    if failed:
        event, error = failed[-1]
        yield warn(
            f"{host.TITLE} recorded {format_count(len(failed), 'failed memfs hook call')} in the "
            f"last week; the latest in {event}: {flatten_text(error)[:_LONGEST]}",
            f"reinstall the hooks with memfs install {host.NAME}, then run memfs doctor",
        )


def check_activity(place: Place, host: Host, version: str) -> Finding:
    """Report the version of a host, and its last hook calls."""
    text = f"{host.TITLE} {version}" if version else f"{host.TITLE}, version unknown"
    if found := sessions.last_run(place.home, host.NAME):
        event, at, spent = found
        text += f"; last memfs hook: {event} at {format_time(at)}, {spent:,.0f} ms"
    else:
        text += "; no memfs hook has run yet"
    lines = (files.read(f"{place.home.local}/hook.log") or "").splitlines()
    about = (line for line in reversed(lines) if line.split(" ")[1:2] == [host.NAME])
    failed = next(about, "")
    return confirm(text + (f"; last failed hook: {failed}" if failed else ""))


def check_runs(place: Place, host: Host, home: str, settings: Iterable[str]) -> Iterator[Finding]:
    """Warn if later sessions of a host with our hooks in `settings` ran none in this project."""
    store = place.project
    if store is None or not store.trusted or host.NAME not in hosts.READERS:
        return
    last = sessions.last_run(store, host.NAME)
    since = last[1] if last else max(map(_get_mtime, settings), default=0.0)
    # The time of a file with the sessions of all projects says nothing of this one.
    transcripts = [
        path
        for path in hosts.reader(host.NAME).list_transcripts(home, store.top)
        if not path.endswith(".db")
    ]
    yield from _report_failed_hooks(host, transcripts)
    newest = max(map(_get_mtime, transcripts), default=0.0)
    if since and newest > since + _DAY:
        what = (
            "no memfs hook has run"
            if last is None
            else f"no memfs hook has run since {format_time(since)}"
        )
        text = (
            f"{host.TITLE} is wired, but {what}; its last session here was at {format_time(newest)}"
        )
        yield warn(
            text,
            f"check that {host.TITLE} trusts this folder and runs hooks (most assistants have a "
            "command /hooks)",
        )


def _get_mtime(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0


_NUMBERED = re.compile(r"\..+\.(\d{1,9})\.tmp", re.DOTALL)


def report_temp_file(path: str) -> Finding:
    """Return the finding of `memfs doctor` for a temporary file."""
    return warn(
        f"{path} is a temporary file left by an interrupted run",
        "move the file to local/backup/: memfs doctor --fix",
    )


def list_temp_files(store: Store) -> list[str]:
    """List the stale temporary files of a store, also in its local folder elsewhere."""
    tops = [store.root] if os.path.dirname(store.local) == store.root else [store.root, store.local]
    paths = [each.path for top in tops for each in trees.walk(top, top_too=False)]
    temporary = (path for path in paths if fnmatch(os.path.basename(path), ".*.tmp"))
    return sorted(filter(_is_stale, temporary))


def list_temp_settings(place: Place, home: str) -> list[str]:
    """List the stale ones beside the files that `memfs install` and `memfs sync` write."""
    top = place.top
    paths = [path for name in hosts.NAMES for path in settings.paths(hosts.get(name), home, top)]
    paths += [os.path.realpath(f"{top}/{each.path}") for each in TARGETS.values() if top]
    found = set()
    for path in paths:
        folder, base = os.path.split(path)
        if not os.path.isdir(folder):
            continue
        for entry in os.listdir(folder):
            each = f"{folder}/{entry}"
            if entry.startswith(f".{base}.") and names_process(entry) and _is_stale(each):
                found.add(each)
    return sorted(found)


def names_process(name: str) -> bool:
    """Return whether a temporary file names its process, so that its writer held no lock."""
    return _NUMBERED.fullmatch(name) is not None


def _is_stale(path: str) -> bool:
    """Return whether a temporary file is a regular one whose writer, if named, is gone."""
    found = _NUMBERED.fullmatch(os.path.basename(path))
    ended = found is None or not host_sessions.alive(int(found[1]))
    return ended and files.is_file(os.path.realpath(path))
