"""Add our hooks and tools to a host's settings, and remove them again."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.core.errors import StoreError
from memfs.core.escaping import make_plain
from memfs.files import outside
from memfs.hosts import settings, version
from memfs.ops.install import commands
from memfs.ops.install.files import SettingsEdit, ShippedEntries
from memfs.store import resources

if TYPE_CHECKING:
    from collections.abc import Collection

    from memfs.store.blocks import Place

# The rooms of which a hook may import modules.
HOT_ROOMS = (
    *("core", "secrets", "files", "store", "hosts", "search", "ipc"),
    *("ingest", "recall", "context", "ops", "hook"),
)


@dataclass(frozen=True)
class WiredHost:
    """The outcome for a settings file (created, updated, unchanged or removed), and the diff."""

    host: str
    path: str
    outcome: str
    diff: str


def run(
    place: Place,
    host: str,
    scope: str,
    home: str,
    *,
    remove: bool = False,
    dry_run: bool = False,
    tools: bool = True,
    line: bool = False,
    gone: Collection[str] = (),
) -> list[WiredHost]:
    """Write our entries into a host's settings of a scope, or with `remove` remove them.

    `scope` is project, local (not committed) or user (below `home`); `tools`: the MCP server too;
    `line`: the status line too, which stays if it is there. Entries that another host uses stay,
    unless it is in `gone`. On removal a file that is as memfs wrote it gets its earlier bytes back.
    Raises `StoreError` if there is no project, if our hooks run from elsewhere already, and for a
    file that does not read back as written or may not be written; nothing is written then.
    """
    found = wiring(place, host, scope, home)
    if not found and not remove:
        raise StoreError(
            f"{hosts.get(host).TITLE} keeps no settings of your own in a project",
            "wire this project for all who work on it, or all your projects with --user",
        )
    if not remove:
        _refuse_plugin(place, host, home)
    other = "" if remove or not found else find_elsewhere(place, host, found[0][0], home)
    if other:
        raise StoreError(
            f"{hosts.get(host).TITLE} runs our hooks already, from {other}",
            "once is enough; to move them, take those out first: memfs uninstall [--user]",
        )
    calls = tools and not remove and version.calls_tools(hosts.get(host))
    edits = []
    for path, names in found:
        if (remove or not tools) and _is_shared(place, host, scope, home, path, gone):
            continue
        new = ShippedEntries.load(place, host, names, tools=tools, line=line or remove, calls=calls)
        edits.append(SettingsEdit.plan(place, path, new, remove=remove))
    if not dry_run:
        for edit in edits:
            edit.check()
        for edit in edits:
            edit.write(place)
        if not remove:
            _compile()
    return [
        WiredHost(host, each.path, _name_outcome(each.before, each.after), each.diff())
        for each in edits
    ]


def plugin(place: Place, host: str, home: str) -> list[str]:
    """Have a host install our plugin from this installation; return its replies.

    Raises `StoreError` if its settings run our hooks already, and if the host refuses.
    """
    known = hosts.get(host)
    other = find_elsewhere(place, host, "", home)
    if other:
        raise StoreError(
            f"{known.TITLE} runs our hooks already, from {other}",
            "once is enough; take those out first: memfs uninstall [--user]",
        )
    program = shutil.which(known.COMMAND)
    if not program or not known.PLUGIN_VERB:
        what = "has no plugins of this kind" if program else "is not on the PATH"
        raise StoreError(f"{known.TITLE} {what}", f"wire it by settings: memfs install {host}")
    market = os.path.dirname(resources.path(".claude-plugin"))
    replies = []
    for words in (("marketplace", "add", market), (known.PLUGIN_VERB, f"{hosts.PLUGIN}memfs")):
        done = subprocess.run(  # noqa: S603 - the assistant's own program
            [program, "plugin", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        output = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        if done.returncode:
            raise StoreError(f"{known.TITLE} did not take the plugin: {make_plain(output)}")
        replies.append(output.rpartition("\n")[2])
    return replies


def needs_trust(host: str) -> bool:
    """Return whether a host runs our hooks only once its user trusted them."""
    return hosts.trust_module(host) is not None


def trust(place: Place, host: str) -> int:
    """Have a host trust our hooks; return how many it did not run before.

    Raises `StoreError` if the host does not answer.
    """
    module = hosts.trust_module(host)
    return int(module.trust(place.home.top, commands.list_commands(host))) if module else 0


def wiring(place: Place, host: str, scope: str, home: str) -> list[tuple[str, tuple[str, ...]]]:
    """List a host's settings files of a scope, and our shipped files that go into each.

    Raises `StoreError` for the scope of a project if there is none.
    """
    if scope != "user" and place.project is None:
        raise StoreError(
            f"there is no project store here to wire {hosts.get(host).TITLE} to",
            "make one with memfs init, or wire all your projects with --user",
        )
    return hosts.get(host).wiring(scope, home, place.project.top if place.project else "")


def find_elsewhere(place: Place, host: str, path: str, home: str) -> str:
    """Return another settings file from which the host runs our hooks here, "" if none does."""
    top = place.project.top if place.project else None
    for found in settings.list_hook_files(hosts.get(host), home, top, outside.read):
        if os.path.realpath(found.path) != os.path.realpath(path):
            return found.path
    return ""


def _refuse_plugin(place: Place, host: str, home: str) -> None:
    """Raise `StoreError` if the plugin is enabled, which has the same hooks and tools."""
    top = place.project.top if place.project else None
    for path in settings.list_plugin_files(hosts.get(host), home, top, outside.read):
        raise StoreError(
            f"{hosts.get(host).TITLE} has the memfs plugin, enabled in {path}",
            "once is enough; to wire it by settings, uninstall that first",
        )


def _is_shared(
    place: Place, host: str, scope: str, home: str, path: str, gone: Collection[str]
) -> bool:
    """Return whether a file also wires another host that runs our hooks in that scope."""
    top = place.project.top if place.project else ""
    for name in hosts.NAMES:
        files_ = [each for each, _ in hosts.get(name).wiring(scope, home, top)]
        other = name != host and name not in gone
        if other and path in files_ and hosts.HOOK in (outside.read(files_[0]) or ""):
            return True
    return False


def _name_outcome(before: str | None, after: str | None) -> str:
    if before == after:
        return "unchanged"
    if before is None:
        return "created"
    return "removed" if after is None else "updated"


def _compile() -> None:
    """Byte-compile the modules of hooks: installers like uv do not, and hooks need the time."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(hosts.__file__)))
    compileall.compile_file(f"{package}/__init__.py", quiet=2)
    for room in HOT_ROOMS:
        compileall.compile_dir(f"{package}/{room}", maxlevels=0, quiet=2)
