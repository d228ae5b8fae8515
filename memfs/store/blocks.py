"""Blocks in their files, tier by tier. Hot path."""

import os

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, Remedy, StoreError
from memfs.store import quarantine, store_paths
from memfs.store.store_paths import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.core.block import Block
    from memfs.core.events import Event

SUFFIX = ".md"
SWITCH = "MEMFS_ENABLED"  # the variable that turns memory off
_OFF = (False, "off")  # 0 is False, too
LARGEST = (
    256 << 10
)  # bytes of a block file: a larger one is shown from its beginning, and not edited
_FEW = 20  # labels that an error names
_BEGINNING = 16 << 10
_FULL_READING = 20_000  # characters of front matter for the full YAML reader, over all blocks


class Place:
    """The stores and the session that labels are resolved in, nearest tier first.

    `unused` is a `local/` that memfs did not make here, "" for none, or once this user has a
    history in another folder. `left_out` says why the project's store is not among them, "" if it
    is or there is none. `unread` collects why blocks of a tier cannot be read while a session is
    served: the other tiers are still served. None: that is an error.
    """

    __slots__ = ("left_out", "project", "session", "unread", "unused", "user")

    def __init__(self, project: Store | None, user: Store | None, session: str = "") -> None:
        self.project = project
        self.user = user
        self.session = session
        self.unused = ""
        self.left_out = ""
        self.unread: list[str] | None = None

    @property
    def home(self) -> Store:
        """The store that keeps recall, indexes and sessions: the project's, else the user's."""
        store = self.project or self.user
        if store is None:
            raise AssertionError("a place must have a store: see `find_place` and `find_serving`")
        return store

    @property
    def top(self) -> str:
        """The folder of the project, "" if there is none."""
        return self.project.top if self.project else ""

    def list_tiers(self) -> list[tuple[str, Store]]:
        """List the tiers that exist here, in the order bare labels resolve."""
        found = []
        if self.project and self.session:
            found.append((labels.SESSION, self.project))
        if self.project:
            found.append((labels.PROJECT, self.project))
        if self.user:
            found.append((labels.USER, self.user))
        return found

    def list_lasting_tiers(self) -> list[tuple[str, Store]]:
        """List the tiers that outlive a session: each has a store of its own."""
        return [(tier, store) for tier, store in self.list_tiers() if tier != labels.SESSION]

    def stores(self) -> list[Store]:
        """Return the stores, each once: session and project tier share one."""
        return [store for _, store in self.list_lasting_tiers()]

    def store(self, tier: str) -> Store:
        """Return the store of a tier; raises `StoreError` saying how to get one."""
        for name, store in self.list_tiers():
            if name == tier:
                return store
        action = "{session}" if tier == labels.SESSION else "{make_store}"
        raise StoreError(f"there is no {tier} tier here", Remedy(action))


def find_place(
    start: str, session: str = "", find_obstacle: "Callable[[], str] | None" = None
) -> Place:
    """Return the place of a directory; raises `StoreError` if no store serves it.

    Moves and makes nothing. A project's store cannot be used while git does not say whether its
    local folder came with it. One that its user does not trust is left out where `find_obstacle`
    says why nobody is known to look.
    """
    place = Place(store_paths.find(start), store_paths.user_store(), session)
    if not place.list_tiers():
        store_paths.require(start)
    if place.project is not None:
        if not _is_clean(place.project):
            place.project = store_paths.make_project(place.project.root)
        usual = f"{place.project.main}/{store_paths.LOCAL}"
        if place.project.local != usual and not files.is_file(place.project.journal):
            place.unused = usual
        obstacle = find_obstacle() if find_obstacle and not place.project.trusted else ""
        if obstacle:
            place.left_out = f"the project's store is not trusted, so it is not used {obstacle}"
            place.project = None
            if place.user is None:
                hint = "ask the user to review and trust the store: memfs trust"
                raise StoreError(place.left_out, hint)
    return place


def find_serving(start: str, session: str) -> Place | None:
    """Return the place of a session's folder, or None: most folders have no store."""
    project = store_paths.find_trusted(start or ".")
    if project and not _can_serve(project):
        project = None
    place = Place(project, store_paths.user_store(), session)
    place.unread = []
    return place if place.list_tiers() and not find_off_switch(place) else None


def find_off_switch(place: Place) -> str:
    """Return what says `enabled: false`, the variable or a file; "" where memory is on."""
    if os.environ.get(SWITCH, "").lower() in ("false", "off", "0"):
        return SWITCH
    for store in place.stores():
        path = get_config_path(store)
        text = files.read(path) or ""
        if "enabled" not in text:
            continue
        if read_yaml(text)[0].get("enabled", True) in _OFF:
            return path
    return ""


def get_config_path(store: Store) -> str:
    """Return the configuration to read of a store: changes by others may be quarantined."""
    return quarantine.path_of(store, store_paths.CONFIG)


def _can_serve(store: Store) -> bool:
    try:
        return _is_clean(store)
    except StoreError:  # the start of a session tells of it (`ops.brief`)
        return False


def _is_clean(store: Store) -> bool:
    if store_paths.is_checked(store):
        return True
    from memfs.store import incoming_changes

    return incoming_changes.is_clean(store)


def find_answering(event: "Event") -> Place | None:
    """Return the place that serves an event, or None; set the event's local folder."""
    place = find_serving(event.cwd, event.session)
    if place is not None:
        event.local = place.home.local
    return place


def paths(place: Place) -> list[tuple[str, str, str]]:
    """List (tier, label, path) of every block file, nearest tier first, sorted by label.

    Of several files with one label (`Notes.md`, `notes.md`) that of exactly this name is the block.
    """
    found: list[tuple[str, str, str]] = []
    for tier, store in place.list_tiers():
        folder = store_paths.block_folder(store, tier, place.session)
        listed: list[tuple[str, str]] = []
        try:
            _walk(folder, "", labels.MAX_DEPTH, listed)
        except (files.LinkError, NotADirectoryError, PermissionError) as error:
            if place.unread is None:
                raise
            place.unread.append(f"cannot read {folder}: {error.strerror}")
        if tier == labels.PROJECT:
            known = {path.removeprefix(f"{folder}/"): label for label, path in listed}
            listed = [
                (known.get(name) or label_of(name), path)
                for name, path in quarantine.list_served(store, "blocks", known)
            ]
        found.extend((tier, label, path) for label, path in sorted(listed, key=_rank_file))
    return found


def _rank_file(listed: tuple[str, str]) -> tuple[str, bool, str]:
    label, path = listed
    return label, not path.endswith(f"/{label}{SUFFIX}"), path


def is_block_file(name: str) -> bool:
    """Tell whether a path in the folder of blocks is that of a block, as `paths` lists them."""
    *folders, last = name.split("/")
    hidden = any(part.startswith(".") for part in (*folders, last))
    nested = len(folders) < labels.MAX_DEPTH and not any(each.endswith(SUFFIX) for each in folders)
    copy = labels.is_conflicted_copy(last)
    return last.endswith(SUFFIX) and nested and not (hidden or copy)


def label_of(name: str) -> str:
    """Return the label of a block by its file's path in the folder of blocks."""
    return labels.normalise(name.removesuffix(SUFFIX))


def without_quarantine(place: Place) -> Place:
    """Return the same place without quarantine, for review and repair."""
    found = place.project and store_paths.without_quarantine(place.project)
    return Place(found, place.user, place.session)


def read_texts(place: Place) -> dict[str, str | None]:
    """Map `tier:label` to the text of every block file: all that a quiet prompt needs.

    None stands for a file that cannot be read just now.
    """
    found: dict[str, str | None] = {}
    for tier, label, path in paths(place):
        name = labels.qualify(tier, label)
        try:
            found.setdefault(name, _read_text(path)[0])
        except OSError:
            found.setdefault(name, None)
    return found


def load(place: Place) -> "list[Block]":
    """Read every block, nearest tier first; one that cannot be read is empty and says so."""
    room = _FULL_READING

    def reader(text: str) -> tuple[dict[str, object], str]:
        nonlocal room
        room -= len(text)
        return (
            read_yaml(text)
            if room >= 0
            else ({}, f"more than {_FULL_READING:,} characters of complex YAML in all blocks")
        )

    return [read(tier, label, path, reader) for tier, label, path in paths(place)]


def read(
    tier: str,
    label: str,
    path: str,
    reader: "Callable[[str], tuple[dict[str, object], str]] | None" = None,
) -> "Block":
    """Read one block file that exists; of one that is too large, the beginning."""
    try:
        raw, size = _read_text(path)
    except OSError as error:
        block = make(tier, label, path, "")
        block.problem = f"the file cannot be read ({error.strerror})"
        return block
    return make(tier, label, path, raw, size, reader)


def read_whole_block(path: str) -> str | None:
    """Return all of a block file, None if there is none; raises `StoreError` for a large one."""
    text, size = files.beginning(path, LARGEST, 0)
    if size > LARGEST:
        raise StoreError(
            f"{path} is too large to edit: {size:,} bytes, the limit is {LARGEST:,}",
            "shorten the file in an editor, or move it out of blocks/",
        )
    return text


def make(
    tier: str,
    label: str,
    path: str,
    raw: str,
    size: int = 0,
    reader: "Callable[[str], tuple[dict[str, object], str]] | None" = None,
) -> "Block":
    """Make the block of a text; its class is imported at the first call."""
    from memfs.core.block import Block

    return Block(tier, label, path, raw, reader or read_yaml, size)


def resolve_label(place: Place, text: str) -> tuple[str, str, str] | None:
    """Resolve what was typed to (tier, label, path) of an existing block, or None."""
    tier, label = labels.parse(text)
    for found_tier, found, path in paths(place):
        if found == label and tier in (None, found_tier):
            return found_tier, found, path
    return None


def get(place: Place, text: str) -> "Block":
    """Return one block; raises `NotFoundError` naming the closest labels."""
    found = resolve_label(place, text)
    if found is None:
        raise missing(place, text)
    tier, label, path = found
    return read(tier, label, path)


def missing(place: Place, text: str) -> NotFoundError:
    """Return the error for a label that does not exist here."""
    import difflib

    known = sorted({label for _, label, _ in paths(place)})
    tier, name = labels.parse(text)
    close = difflib.get_close_matches(name, known, 1, 0.7)
    hint = Remedy("create the block with {create}, or {list}")
    if known and len(known) <= _FEW:
        hint = Remedy(
            "use one of {names}, or create the block with {create}", names=", ".join(known)
        )
    if close:
        hint = Remedy("did you mean '{near}'? {list}", near=close[0])
    elif not place.session and (tier == labels.SESSION or name == labels.WORKING):
        hint = Remedy("{that_session}")
    return NotFoundError(f"there is no block '{text}'", hint)


def path_of(place: Place, tier: str, label: str) -> str:
    """Return the path of a block, existing or not. Raises `LinkError` for links in it."""
    path = f"{store_paths.block_folder(place.store(tier), tier, place.session)}/{label}{SUFFIX}"
    files.check_path(path)
    return path


def read_yaml(text: str) -> tuple[dict[str, object], str]:
    """Read a YAML mapping: (keys, problem or ""); the full reader is imported if it is needed."""
    from memfs.core import frontmatter  # a quiet prompt needs none

    found = frontmatter.read(text)
    if found is not None:
        return found, ""
    try:
        from memfs.core import yaml_edit
    except ImportError:  # a hook without site-packages: the block is shown all the same
        return {}, "the front matter needs ruamel.yaml, which is not installed"
    return yaml_edit.read(text)


def front_matter(head: str) -> dict[str, object]:
    """Parse the front matter of a file that is no block; {} if it cannot be parsed."""
    from memfs.core import frontmatter  # a quiet prompt needs none

    return read_yaml(frontmatter.strip_fences(head))[0]


def _read_text(path: str) -> tuple[str, int]:
    """Read a block file: (text, 0); of one too large (its beginning and a note, its size)."""
    text, size = files.beginning(path, LARGEST, _BEGINNING)
    if size <= LARGEST:
        return text or "", 0
    return f"{text}\n[its file has {size:,} bytes; this is the beginning]\n", size


def _walk(folder: str, prefix: str, depth: int, found: list[tuple[str, str]]) -> None:
    """List (label, path) of the block files in a folder: not links, nor other repositories."""
    try:
        entries = files.entries(folder)
    except FileNotFoundError:
        return
    except (files.LinkError, NotADirectoryError, PermissionError):
        if not prefix:
            raise
        return  # one topic of many: `memfs doctor` names it
    if (prefix and (".git", True) in entries) or (".git", False) in entries:
        return  # a submodule: what is in it changes without a commit of this repository
    for name, is_folder in entries:
        if name.startswith("."):
            continue
        if not is_folder:
            if name.endswith(SUFFIX) and not labels.is_conflicted_copy(name):
                label = prefix + labels.normalise(name[: -len(SUFFIX)])
                found.append((label, f"{folder}/{name}"))
        elif depth > 1 and not name.endswith(SUFFIX):
            _walk(f"{folder}/{name}", f"{prefix}{labels.normalise(name)}/", depth - 1, found)
