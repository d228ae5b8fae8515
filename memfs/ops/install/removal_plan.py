"""Plan the removal of all that memfs set up on this machine, for a project and its user."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from memfs import files, hosts
from memfs.core.errors import StoreError
from memfs.files import trees
from memfs.ops import install, service, sync
from memfs.ops.install.files import TRACKED, describe
from memfs.store import git, inventory, local_folder, remote_store, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.sync import githook

# What memfs makes in a store beside local/. The file by which a store is found goes last: what is
# interrupted can be run again.
_NAMES = (*remote_store.MEMORY, ".gitignore", ".gitattributes", store_paths.CONFIG)


@dataclass(frozen=True)
class RemovalStep:
    """One thing to remove: its name for people, and what removes it."""

    name: str
    run: Callable[[], object]


@dataclass
class RemovalPlan:
    """What is to be removed in order: the `wiring`, then what holds people's words (`memory`).

    `left` names what stays, and why or how to remove it.
    """

    wiring: list[RemovalStep] = field(default_factory=list)
    memory: list[RemovalStep] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def add(self, name: str, run: Callable[[], object], committed: bool, command: str) -> None:
        """Plan a step; what is committed stays, with the command that removes it."""
        if committed:
            self.left.append(f"{name} (committed; to remove it for everyone: {command})")
        else:
            self.wiring.append(RemovalStep(name, run))


def plan(place: Place, home: str) -> RemovalPlan:
    """Plan the removal. Files that git has in commits are left, and so are those memfs cannot read.

    Nothing is written.
    """
    planned = RemovalPlan()
    for scope in ("project", "local", "user") if place.project else ("user",):
        for number, host in enumerate(hosts.NAMES):
            _plan_host(place, host, scope, home, hosts.NAMES[:number], planned)
    for host in hosts.NAMES:
        for path in install.list_plugged(place, host, home):
            title = hosts.get(host).TITLE
            planned.left.append(f"{path} enables the memfs plugin: uninstall the plugin in {title}")
    if place.project:
        _plan_project(place, place.project, planned)
    if service.load_status():
        planned.wiring.append(RemovalStep("the service", service.stop))
    for store in place.stores():
        found = inventory.indexes(store)
        planned.wiring += [RemovalStep(each, partial(_remove, each)) for each in found]
    for store in place.stores():
        _plan_store(store, planned)
    for other in local_folder.list_projects() if place.user else ():
        if other != place.top:
            planned.left.append(
                f"{other} also has a store: first run memfs uninstall --everything there"
            )
    return planned


def _plan_host(
    place: Place, host: str, scope: str, home: str, gone: tuple[str, ...], planned: RemovalPlan
) -> None:
    remove = partial(install.run, place, host, scope, home, remove=True, gone=gone)
    try:
        found = [each for each in remove(dry_run=True) if each.outcome != "unchanged"]
    except StoreError as error:
        planned.left.append(error.message)
        return
    for committed in (True, False):
        paths = [each.path for each in found if (each.tracking == TRACKED) == committed]
        name = f"the memfs entries for {hosts.get(host).TITLE} in {', '.join(paths)}"
        how = f"memfs uninstall {host} --{scope}"
        if paths:
            planned.add(name, partial(remove, keep=TRACKED), committed, how)


def _plan_project(place: Place, store: Store, planned: RemovalPlan) -> None:
    for section in sync.run(place, remove=True, write=False):
        if section.outcome != "unchanged":
            target = section.target.name
            planned.add(
                f"the memfs section in {section.real}",
                partial(sync.run, place, [target], remove=True),
                describe(section.real) == TRACKED,
                f"memfs sync {target} --remove",
            )
    if hooks := githook.list_installed(place):
        planned.add(
            f"the memfs lines in {', '.join(hooks)}",
            partial(githook.run, place, remove=True),
            any(describe(path) == TRACKED for path in hooks),
            "memfs sync --no-git-hook",
        )
    if git.get_driver(store.top):
        name = f"the memfs merge driver in git's configuration of {store.top}"
        planned.wiring.append(RemovalStep(name, partial(git.set_driver, store.top, "")))


def _plan_store(store: Store, planned: RemovalPlan) -> None:
    names = [path for name in _NAMES if os.path.lexists(path := f"{store.root}/{name}")]
    if names and _is_committed(store):
        planned.left.append(
            f"{store.root} is committed; to remove the store for everyone: git rm -r"
        )
        names = []
    paths = [*([store.local] if os.path.lexists(store.local) else []), *names]
    if not paths:
        return
    for path in sorted({f"{store.root}/{name}" for name in os.listdir(store.root)} - {*paths}):
        if names:
            planned.left.append(f"{path} was not created by memfs on this machine")
    name = store.root if names else store.local
    if store.main != store.root and names:
        name = f"{store.root}, {store.local}"
    what = "your own memory for all projects" if store.private else "this project's memory"
    planned.memory.append(RemovalStep(f"{name}: {what}", partial(_remove_store, store, paths)))


def _is_committed(store: Store) -> bool:
    """Return whether git has files of a store; where git does not answer, it may have."""
    if git.top_level(store.root) is None:
        return False
    listed = git.run(store.root, "ls-files", "-s", paths=["."])
    return listed is None or bool(listed)


def _remove_store(store: Store, paths: list[str]) -> None:
    """Remove the parts of a store, and its folder if nothing else is in it."""
    if store.private:
        service.stop()  # a session that ran meanwhile may have started it
    elif store.local in paths:
        local_folder.disown_folder(store)
    for path in paths:
        _remove(path)
    with suppress(OSError):  # it stays with what else is in it
        os.rmdir(store.root)


def _remove(path: str) -> None:
    """Remove a file, a link, or a folder with all that is in it; it may be gone already."""
    if files.is_folder(path):
        trees.remove_whole(path)
    else:
        files.remove(path)
