"""Trust a project's store, after a report of what hooks would inject from it."""

import hashlib
import os
from dataclasses import dataclass

from memfs import files
from memfs.core import changes, encodings, injection_signs
from memfs.core.errors import RejectedError, StoreError
from memfs.core.injection_signs import Sign
from memfs.files import logs, trees
from memfs.store import (
    blocks,
    clock,
    commits,
    config_file,
    enforced_rules,
    facts,
    git,
    incoming_changes,
    local_folder,
    prompts,
    store_paths,
    trust,
    upstream_changes,
)
from memfs.store.blocks import Place
from memfs.store.incoming_changes import IncomingChanges
from memfs.store.store_paths import Store

_MOST_COMMITS = 1000
# What files are used for, by their first folder, in the order in which they are shown.
_PINNED, _NAMED = "in every session", "named in every session, read on demand"
_USES = {
    prompts.FOLDER: "instructions at the top of every session",
    store_paths.CONFIG: "settings; instructions for tools",
    "blocks": _PINNED,
    "archive": "given to matching prompts",
    "facts": "given to matching tasks",
    "static": "given to matching tasks",
}
_UNUSED = "not used"


@dataclass(frozen=True)
class StoreText:
    """A file of a store as it is, by its path there; `use` says what it is used for, in words.

    Bytes that are no UTF-8 are lone surrogates in `text`. `authors` are those of its commits, the
    newest first, `signs` are lines that look as if they were to steer an assistant.
    """

    name: str
    use: str
    text: str
    authors: tuple[str, ...]
    signs: tuple[Sign, ...]


@dataclass(frozen=True)
class ForeignChange:
    """A change by others to a block of a trusted store: `diff` is unified."""

    key: str
    what: str
    author: str
    why: str
    diff: str


@dataclass(frozen=True)
class TrustReport:
    """The report for a person who decides whether to trust a store.

    `texts` are all files that git can have of it, in the order of what they can do; `digest` is the
    SHA-256 of their names and bytes, the same on every machine. `tracked` counts the files of
    `local/` that came with the repository: memfs never commits them. `changed` lists the changes by
    others since the last review, and `rules` are what blocks are to enforce (key, what) that was
    not accepted.
    """

    root: str
    trusted: bool
    texts: tuple[StoreText, ...]
    digest: str
    tracked: int
    problems: tuple[str, ...]
    changed: tuple[ForeignChange, ...]
    rules: tuple[tuple[str, str], ...] = ()
    found: IncomingChanges | None = None


def review_store(place: Place) -> TrustReport:
    """Report on the project's store of a place. Raises `StoreError` if there is none."""
    store = store_paths.without_quarantine(_require_project(place))
    trusted = store.trusted
    found = incoming_changes.find_incoming(store)
    data = _read_files(store)
    return TrustReport(
        store.root,
        trusted,
        tuple(_list_texts(store, data)),
        _compute_digest(data),
        len((git.run(store.root, "ls-files", "-s", "-z", paths=["local"]) or "").split("\0")) - 1,
        tuple(config_file.find_problems(store)),
        tuple(_load_changes(store)) if trusted else (),
        describe_rules(_make_lasting(place)),
        found,
    )


def describe_rules(place: Place) -> tuple[tuple[str, str], ...]:
    """Return (key, what it does) of the blocks that are to be enforced, and are not accepted."""
    return tuple((key, scope.describe()) for key, scope in enforced_rules.list_pending(place))


def accept_rules(place: Place, shown: tuple[tuple[str, str], ...]) -> None:
    """Accept that the blocks of a place that were `shown` are enforced as they were shown."""
    wanted = enforced_rules.list_pending(place)
    seen = [(key, scope) for key, scope in wanted if (key, scope.describe()) in shown]
    enforced_rules.accept(place, seen, clock.now()[:10])


def _make_lasting(place: Place) -> Place:
    """Return the place of what is on the disk: nothing is held back, and no session is served."""
    return Place(store_paths.without_quarantine(_require_project(place)), place.user)


def compute_digest(place: Place) -> str:
    """Return the SHA-256 of the names and bytes of all files of the project's store of a place."""
    return _compute_digest(_read_files(_require_project(place)))


def accept_digest(place: Place, digest: str) -> None:
    """Trust the project's store of a place if its files have a digest.

    Raises `RejectedError` where they have another one.
    """
    report = review_store(place)
    if not digest or report.digest != digest.lower():
        raise RejectedError(
            f"not trusted: the digest of {report.root} is {report.digest}, expected {digest}",
            "review its files with memfs trust, then pass the digest shown there",
        )
    accept(place, report)


def accept(place: Place, shown: TrustReport | None = None) -> None:
    """Trust the project's store of a place, as it was `shown`, or as it is now.

    Raises `StoreError` if it changed since it was shown.
    """
    store = _require_project(place)
    if shown is None:
        shown = review_store(place)
    if (
        shown.found is None
        or not incoming_changes.is_same(incoming_changes.find_incoming(store), shown.found)
        or _compute_digest(_read_files(store)) != shown.digest
    ):
        raise StoreError(
            f"not trusted: {store.root} changed during the review", "review it again: memfs trust"
        )
    incoming_changes.accept_seen(store, shown.found)
    trust.grant_trust(store)
    accept_rules(_make_lasting(place), shown.rules)


def adopt_local(place: Place, name: str = "") -> str:
    """Use another local folder of the project's store: `name`, or the one there is.

    Returns where the folder is that was used until now, "" if there is none to take. Raises
    `RejectedError` where there are several.
    """
    store = _require_project(place)
    found = local_folder.find_unused(store)
    if not name and found:
        if len(found) > 1 and store_paths.LOCAL not in found:
            raise RejectedError(
                f"{len(found)} local folders are not in use: {', '.join(found)}",
                f"choose a folder: memfs trust --local {found[-1]}",
            )
        name = store_paths.LOCAL if store_paths.LOCAL in found else found[0]
    return local_folder.adopt_folder(store, name.strip("/")) if name else ""


def revoke(place: Place) -> bool:
    """Revoke the trust of the project's store; return whether it was trusted."""
    return trust.revoke_trust(_require_project(place))


def _require_project(place: Place) -> Store:
    if place.project is None:
        raise StoreError(
            "there is no project store here; your own store needs no trust",
            "run memfs trust in a project with a store",
        )
    return place.project


def _read_files(store: Store) -> dict[str, bytes]:
    """Read all files of a store but its local folders and what git keeps, by their paths in it.

    Of a giant, what is behind the part that memfs reads of any such file is left out.
    """
    found = {}
    for each in trees.walk(store.root, top_too=False):
        if not store_paths.is_local(each.name) and each.name.split("/")[0] != ".git":
            is_log = each.name.startswith(f"{facts.FOLDER}/")
            data = (
                logs.read_whole(each.path) if is_log else files.encode(files.read(each.path) or "")
            )
            found[each.name] = data or b""
    return found


def _compute_digest(data: dict[str, bytes]) -> str:
    total = hashlib.sha256()
    for name in sorted(data):
        for part in (files.encode(name), data[name]):
            total.update(hashlib.sha256(part).digest())
    return total.hexdigest()


def _list_texts(store: Store, data: dict[str, bytes]) -> list[StoreText]:
    authors = _load_authors(store)
    named = {
        os.path.relpath(block.path, store.root)
        for block in blocks.load(Place(store, None))
        if not block.pinned
    }
    order = [*_USES.values(), _UNUSED]
    found = []
    for name, bytes_ in data.items():
        text = files.decode(bytes_)
        codec = encodings.codec(text)
        text = encodings.decode(text, codec) if codec else text
        use = _NAMED if name in named else _USES.get(name.split("/")[0], _UNUSED)
        note = f" ({codec[:6].upper()})" if codec else ""
        signs = tuple(injection_signs.find_signs(text))
        found.append(StoreText(name, use + note, text, tuple(authors.get(name, ())), signs))
    place = {use: number for number, use in enumerate([*order[:3], _NAMED, *order[3:]])}
    return sorted(found, key=lambda each: (place[each.use.partition(" (")[0]], each.name))


def _load_authors(store: Store) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for commit in commits.list_touching(store.root, ".", _MOST_COMMITS):
        names = found.setdefault(commit.path, [])
        if commit.author not in names:
            names.append(commit.author)
    return found


def _load_changes(store: Store) -> list[ForeignChange]:
    found = upstream_changes.review_changes(Place(store, None), note=False).pulled
    texts = upstream_changes.load_texts(store, found)
    listed = []
    for each in found:  # the text of the file: that in git may differ (LFS)
        now = files.decode(logs.read_whole(f"{store.root}/{each.name}") or b"")
        diff = changes.format_diff(texts.get(each.before, ""), now, "before", "now")
        listed.append(ForeignChange(each.key, each.what, each.who, each.why, diff))
    return listed
