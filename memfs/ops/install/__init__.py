"""Add our hooks and tools to a host's settings, and remove them again."""

import compileall
import os
import shutil
import subprocess
from collections.abc import Callable, Collection
from functools import partial

from memfs import hosts
from memfs.core.errors import StoreError
from memfs.core.escaping import make_plain
from memfs.core.parts import DISTRIBUTION
from memfs.files import outside
from memfs.hosts import settings, settings_merge
from memfs.hosts.base import Entries
from memfs.ops.install import commands, files
from memfs.ops.install.files import SettingsEdit, ShippedEntries
from memfs.store import git, host_folders, resources
from memfs.store.blocks import Place

__all__ = ["SettingsEdit"]

# The rooms of which a hook may import modules.
HOT_ROOMS = (
    *("core", "secrets", "files", "store", "hosts", "search", "ipc"),
    *("ingest", "recall", "context", "ops", "hook"),
)


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
    move: bool = False,
    memory: str = "",
    gone: Collection[str] = (),
    keep: str = "",
    agree: Callable[[list[SettingsEdit]], bool] = lambda _: True,
) -> list[SettingsEdit]:
    """Write our entries into a host's settings of a scope, or with `remove` remove them.

    `scope` is local (in the project, not committed), user (below `home`) or project; `tools`: the
    MCP server too; `line`: the status line too, which stays if it is there; `memory`: what becomes
    of the assistant's own (off, store, or keep, which takes our setting out). Entries for other
    scopes of the project are taken out with `move`. Entries that another host uses stay, unless it
    is in `gone`. On removal a file that is as memfs wrote it gets its earlier bytes back, and those
    whose `tracking` is `keep` are left as they are.

    What a commit takes in names nothing of this machine. `agree` is asked before anything is
    written; without its consent nothing is, and none returned. Raises `StoreError` if there is no
    project, if our hooks run from elsewhere already, and for a file that does not read back as
    written or may not be written; nothing is written then.
    """
    found = wiring(place, host, scope, home)
    _check_memory(host, scope, memory)
    if remove or not tools:
        found = [each for each in found if not _is_shared(place, host, scope, home, each[0], gone)]
    if remove:
        load = partial(ShippedEntries.load, tools=tools, line=True, memory=("off", "store"))
        edits = _plan(place, host, found, load, remove=True)
        edits = [edit for edit in edits if not keep or edit.tracking != keep]
        if not dry_run:
            _write(place, edits)
        return edits
    if not found:
        raise StoreError(
            f"{hosts.get(host).TITLE} does not support personal settings for one project",
            "use --user to wire all your projects, or --project to wire this one for everyone",
        )
    moved = _list_moved(place, host, found[0][0], home, move=move)
    hooks = files.resolve_path(place, found[0][0])
    exclude = files.plan_exclude(host, hooks) if scope == "local" else None
    load = partial(ShippedEntries.load, tools=tools, line=line, memory=(memory,))
    edits = _plan(place, host, found, load, private=bool(exclude))
    planned = [*edits]
    for other in moved:
        planned += run(place, host, other, home, remove=True, dry_run=True)
    planned += [exclude] if exclude else []
    if dry_run:
        return planned
    for edit in edits:
        edit.check()
    if not agree(planned):
        return []
    for other in moved:
        run(place, host, other, home, remove=True)
    if exclude:
        exclude.write(place)
    if moved or exclude:  # they may have changed the same files, and what git makes of them
        edits = _plan(place, host, found, load)
    _write(place, edits)
    _compile()
    return planned


def _check_memory(host: str, scope: str, memory: str) -> None:
    if memory in ("", "keep"):
        return
    if host != "claude":
        raise StoreError(
            f"{hosts.get(host).TITLE} has no setting for its own memory that memfs could change",
            "see how to turn off the memory of an assistant: docs/own-memory.md",
        )
    if memory == "store" and scope != "local":
        raise StoreError(
            "'--own-memory store' can be set only in a project's uncommitted settings",
            f"run memfs install {host} --local --own-memory store",
        )
    if scope == "project":
        raise StoreError(
            "--own-memory cannot be set for everyone in a project",
            f"set the option for yourself: memfs install {host} --local --own-memory {memory}",
        )


def plugin(place: Place, host: str, home: str) -> list[str]:
    """Have a host install our plugin from this installation; return its replies.

    Raises `StoreError` if its settings run our hooks already, and if the host refuses.
    """
    known = hosts.get(host)
    for other in list_wired(place, host, home):
        raise StoreError(
            f"{known.TITLE} already runs the memfs hooks from {other.path}",
            f"remove these hooks first: memfs uninstall {host} --{other.scope}",
        )
    program = shutil.which(known.COMMAND)
    if not program or not known.PLUGIN_VERB:
        what = "cannot install the memfs plugin" if program else "is not on the PATH"
        raise StoreError(
            f"{known.TITLE} {what}",
            f"wire the assistant through its settings: memfs install {host}",
        )
    market = os.path.dirname(resources.path(".claude-plugin"))
    replies = []
    for words in (("marketplace", "add", market), (known.PLUGIN_VERB, f"{hosts.PLUGIN}memfs")):
        done = subprocess.run(  # noqa: S603 - the assistant's own program
            [program, "plugin", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        output = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        if done.returncode:
            raise StoreError(f"{known.TITLE} did not install the plugin: {make_plain(output)}")
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


def wiring(place: Place, host: str, scope: str, home: str) -> list[tuple[str, tuple[Entries, ...]]]:
    """List a host's settings files of a scope, and what of ours goes into each.

    Raises `StoreError` for the scope of a project if there is none.
    """
    if scope != "user" and place.project is None:
        raise StoreError(
            f"there is no project store here to wire {hosts.get(host).TITLE} to",
            "create a store with memfs init, or wire all your projects with --user",
        )
    return hosts.get(host).wiring(scope, home, place.top)


def select_scope(place: Place, host: str, home: str) -> str:
    """Return the scope in which a host is wired already, else that of settings no commit has.

    They are the user's in the project where a host has such, else those of all projects.
    """
    for found in list_wired(place, host, home):
        return found.scope
    return "local" if hosts.get(host).wiring("local", home, place.top) else "user"


def list_wired(place: Place, host: str, home: str) -> list[settings.WiredFile]:
    """List the settings files from which a host runs our hooks here."""
    return settings.list_hook_files(hosts.get(host), home, place.top)


def list_plugged(place: Place, host: str, home: str) -> list[str]:
    """List the settings files that enable our plugin, which has the same hooks and tools."""
    return settings.list_plugin_files(hosts.get(host), home, place.top)


def _write(place: Place, edits: list[SettingsEdit]) -> None:
    for edit in edits:
        edit.check()
    for edit in edits:
        edit.write(place)
    if place.user:
        host_folders.save_folders(place.user, hosts.list_folder_variables())


def _list_moved(place: Place, host: str, path: str, home: str, *, move: bool) -> list[str]:
    """List the scopes whose entries are taken out for those in the settings file `path`.

    Raises `StoreError` if the plugin is enabled, or if hooks elsewhere are not to be moved.
    """
    title = hosts.get(host).TITLE
    for plugged in list_plugged(place, host, home):
        raise StoreError(
            f"{title} already has the memfs plugin, enabled in {plugged}",
            f"uninstall the plugin in {title}, then run the command again",
        )
    moved = []
    for found in list_wired(place, host, home):
        if os.path.realpath(found.path) == os.path.realpath(path):
            continue
        if not move or found.scope == "user":  # other projects need that
            raise StoreError(
                f"{title} already runs the memfs hooks from {found.path}",
                f"remove these hooks first: memfs uninstall {host} --{found.scope}",
            )
        moved.append(found.scope)
    return moved


def _plan(
    place: Place,
    host: str,
    found: list[tuple[str, tuple[Entries, ...]]],
    load: Callable[..., ShippedEntries],
    *,
    remove: bool = False,
    private: bool = False,
) -> list[SettingsEdit]:
    """Plan the edits of settings files; `private`: git is kept from taking them in."""
    edits = []
    for path, names in found:
        tracking = "" if remove or private else files.describe_tracking(place, path)
        if tracking and not shutil.which(commands.PROGRAM):
            refused, hint = git.find_refusal(os.path.dirname(path))
            if refused:
                raise StoreError(f"cannot tell whether git tracks {path}: {refused}", hint)
            own = "--local" if hosts.get(host).wiring("local", "", "") else "--user"
            raise StoreError(
                f"memfs is not on the PATH; hooks in {path} need it there, because the file is "
                f"{tracking}",
                f"install memfs (pipx install {DISTRIBUTION}), or wire the assistant only for "
                f"yourself: memfs install {host} {own}",
            )
        text = "" if remove else outside.read(path) or ""
        if ignored := settings.find_ignored(hosts.get(host), text, path):
            raise StoreError(
                f"{path}: {ignored}",
                "remove these parts from the file yourself, then run the command again",
            )
        new = load(place, host, names, shared=bool(tracking))
        edits.append(SettingsEdit.plan(place, host, path, new, remove=remove, tracking=tracking))
    return edits


def _is_shared(
    place: Place, host: str, scope: str, home: str, path: str, gone: Collection[str]
) -> bool:
    """Return whether a file also wires another host that runs our hooks in that scope."""
    for name in set(hosts.NAMES) - {host, *gone}:
        paths = [each for each, _ in hosts.get(name).wiring(scope, home, place.top)]
        if path in paths and settings_merge.may_have_hooks(outside.read(paths[0]) or ""):
            return True
    return False


def _compile() -> None:
    """Byte-compile the modules of hooks: installers like uv do not, and hooks need the time."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(hosts.__file__)))
    compileall.compile_file(f"{package}/__init__.py", quiet=2)
    for room in HOT_ROOMS:
        compileall.compile_dir(f"{package}/{room}", maxlevels=0, quiet=2)
