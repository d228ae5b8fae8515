"""Make the stores of a project and of its user. Files that are not ours are never changed."""

import os
import shlex
import sys
from dataclasses import dataclass

from memfs import files, hosts
from memfs.core import body_edits
from memfs.core import label as labels
from memfs.core.errors import StoreError, UsageError
from memfs.core.records import Origin
from memfs.files import atomic, trees
from memfs.hosts import settings
from memfs.store import (
    blocks,
    clean_texts,
    config,
    git,
    incoming_changes,
    local_folder,
    resources,
    store_paths,
    trust,
    writer,
)
from memfs.store.blocks import Place
from memfs.store.store_paths import CONFIG, NAME, Store
from memfs.store.writer import Change

_CONFIG = """\
memfs: 1
# Settings; memfs doctor checks them.
# max_blocks: 10        # maximum number of pinned blocks
# hooks:
#   recall: auto        # what each prompt recalls: off, auto, or a number of hits
"""
_IGNORE = "/local/\n.*.tmp\n"
_ATTRIBUTES = "blocks/**/*.md merge=memfs\nfacts/*.jsonl merge=union\n"
_PROJECT_BLOCKS = ("persona", "system_rules")
_USER_BLOCKS = ("human",)
_MEMORY = ("blocks", "archive", "facts", "static", "prompts", "local")  # folders of a store


@dataclass(frozen=True)
class InitOutcome:
    """The result of init: the store, the files written, foreign files, and the hosts found.

    `trusted`: hooks use the store. One that existed before needs a review by its user first.
    """

    store: str
    created: tuple[str, ...]
    foreign: tuple[str, ...]
    hosts: tuple[str, ...]
    trusted: bool


def run(start: str, home: str) -> InitOutcome:
    """Make the project store at the git top level of `start` (or in it), and the user tier."""
    try:
        found = store_paths.find(start)
    except StoreError:  # a store without config.yaml: it is written again
        found = None
    top = found.top if found else git.top_level(start) or os.path.abspath(start)
    root = f"{top}/{NAME}"
    created: list[str] = []
    foreign = []  # the files in a folder that is no store of ours yet
    if not store_paths.is_store(root):
        foreign = sorted(each.path for each in trees.walk(root, top_too=False))
    user = Store(store_paths.user_root(), labels.USER)
    _make_store(user, _USER_BLOCKS, created)
    trusted = True
    if os.path.realpath(root) != user.root:
        others = os.path.exists(f"{root}/{CONFIG}") or any(
            os.path.relpath(path, root).split(os.sep)[0] in _MEMORY for path in foreign
        )
        store = found or store_paths.make_project(root)
        _make_store(store, _PROJECT_BLOCKS, created, user)
        git.set_driver(top, driver())
        project = store_paths.find(top) or store_paths.make_project(root)
        # So that no session's start has to look through it (see `clean_texts`).
        scratch = resources.render(config.load(Place(project, user)), labels.WORKING)
        clean_texts.redact_texts({labels.WORKING: scratch})
        if not others:
            incoming_changes.accept(project)
            trust.grant_trust(project)
        trusted = project.trusted
    return InitOutcome(root, tuple(created), tuple(foreign), tuple(list_assistants(home)), trusted)


def make_separate_place(folder: str, session: str) -> Place:
    """Make stores with the default blocks in a folder of their own, and return their place.

    They use neither this user's store nor their configuration.
    """
    os.makedirs(f"{folder}/project/.git")  # the search for the top level ends here
    project = Store(f"{folder}/project/{NAME}", labels.PROJECT)
    user = Store(f"{folder}/user/{NAME}", labels.USER)
    files.make_folder(project.local, private=True)  # it is made here, not found: it needs no token
    _make_store(user, _USER_BLOCKS, [])
    _make_store(project, _PROJECT_BLOCKS, [])
    return Place(project, user, session)


def driver() -> str:
    """Return the command with which git merges blocks (see `memfs merge-driver`)."""
    # -P: without it Python would take a folder `memfs` of the repository for ours.
    words = [sys.executable, "-P", "-m", "memfs", "merge-driver"]
    return f"{shlex.join(words)} %O %A %B"


def list_assistants(home: str) -> list[str]:
    """List the assistants that are installed on this machine."""
    return [name for name in hosts.NAMES if settings.is_installed(hosts.get(name), home)]


def _make_store(
    store: Store, labels_of_tier: tuple[str, ...], created: list[str], user: Store | None = None
) -> None:
    """Write what a store lacks; its blocks are as its configuration and `user` have them."""
    path = f"{store.root}/{CONFIG}"
    if os.path.lexists(path) and not store_paths.is_store(store.root):
        raise StoreError(
            f"{path} was not created by memfs, which needs a file of this name",
            "rename the file, or add the line 'memfs: 1' to share the file with memfs",
        )
    files.make_folder(f"{store.root}/blocks", private=store.private)
    ours = {CONFIG: _CONFIG, ".gitignore": _IGNORE, ".gitattributes": _ATTRIBUTES}
    for name, text in ours.items():
        if not os.path.lexists(missing := f"{store.root}/{name}"):
            atomic.write(missing, text, private=store.private)
            created.append(missing)
    local_folder.make(store)
    project = None if store.tier == labels.USER else store
    place = Place(project, store if store.tier == labels.USER else None)
    changes = []
    for label in labels_of_tier:
        if blocks.resolve_label(place, labels.qualify(store.tier, label)) is None:
            path = blocks.path_of(place, store.tier, label)
            text = _render_block(Place(project, user or place.user), store.tier, label)
            changes.append(Change(store.tier, label, path, None, text, "create", 1))
    if changes:
        with writer.writing(store, place) as store_writer:
            known = {c.label for c in changes if store_writer.get_head(c.tier, c.label)}
            fresh = [change for change in changes if change.label not in known]
            store_writer.commit(fresh, Origin("system", reason="memfs init"))
            created.extend(change.path for change in fresh)


def _render_block(place: Place, tier: str, label: str) -> str:
    configured = config.load(place)
    content = configured.get_default_content(label)
    limit, cap = configured.get_limit(label), configured.get_token_cap(label) or None
    wrong = body_edits.check_limit(label, "", content, limit, cap) or body_edits.check_secret(
        "create", labels.qualify(tier, label), content
    )
    if content and wrong:
        raise UsageError(f"blocks.{label}.default_content: {wrong.message}", wrong.hint)
    return resources.render(configured, label)
