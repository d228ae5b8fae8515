"""What came with git since a project's user last looked; the texts accepted last, in its place.

A text in git's index is theirs if they accepted it, memfs wrote it here, or they committed it here
on top of one that is theirs. The name in a commit proves nothing.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from memfs import files
from memfs.core import frontmatter, settings
from memfs.core import label as labels
from memfs.core.errors import LockedError, StoreError
from memfs.core.records import block_key
from memfs.files import atomic, logs, outside, signatures, trees
from memfs.store import commits, git, journal, local_folder, lock, store_paths, trust, worktrees
from memfs.store.store_paths import Store
from memfs.store.trust import AcceptedTexts, GitReview

_LONGEST_NAME = 200  # bytes of a path of a copy; while it is written, a part of it has some more
_SHORT = 50  # characters, each of at most four bytes

_CONFLICT = "in conflict"  # in place of an id: nobody accepted that
_LINKED = "160000"  # the mode of a repository in a repository
_MADE = re.compile(r"commit(?: \((?:initial|amend)\))?:")  # in git's log of what was checked out
_ID = re.compile("[0-9a-f]{40,64}")
_PATIENCE = 5.0  # seconds for git; a session waits to start
_WAIT = 2.0  # seconds for another process that looks, too
_LONGEST_LOG = 64 << 20  # bytes
_BEGINNING = 16 << 10  # bytes of a giant
_NO_IDS = ("", "")
_NEVER = GitReview("", "", "", {})  # where nobody looked yet: in a new linked worktree


class _NoGitError(StoreError):
    """There is no git on this machine."""


class Arrival(NamedTuple):
    """A file that others changed, by git's ids: from `before` to `now`, "" for no file."""

    name: str
    before: str
    now: str


@dataclass(frozen=True)
class IncomingChanges:
    """What others changed in a store, and what its user accepted, up to date except for that."""

    arrivals: tuple[Arrival, ...]
    accepted: AcceptedTexts
    looked: GitReview


def find_incoming(store: Store) -> IncomingChanges:
    """Compare a store's files with what its user accepted. Saves nothing.

    Raises `StoreError` where git does not say.
    """
    before = trust.load_review(store)
    known = trust.load_accepted(store) or AcceptedTexts({}, {})
    sign = trust.sign_store(store)
    listed, around = _read_index(store), tracked_around(store)
    end = _accept_commits(store, known, None if before is None else before.reflog)
    here = _hash_files(store, known, listed)
    _accept_own(store, known, here, listed)
    found, unknown = [], []
    for name in sorted({*listed, *here, *known.there}):
        now, staged = here.get(name, ""), listed.get(name, "")
        others = name in around or (bool(staged) and not known.is_accepted(name, staged))
        if now and known.is_accepted(name, now):
            known.there[name] = now
        elif now and others:
            found.append(Arrival(name, known.there.get(name, ""), now))
        elif now:
            unknown.append((name, now))
        elif name in known.there and (others or not staged):
            found.append(Arrival(name, known.there[name], ""))
        else:
            known.there.pop(name, None)  # somebody here removed it, and git still has it
    # A text that git has and that was not added here came with git: a pull may have failed.
    brought = commits.filter_existing(store.root, [now for _, now in unknown]) if listed else set()
    # A text that git wrote through a filter or an encoding is neither in git nor an edit.
    converted = commits.list_filters(store.root, [name for name, _ in unknown if name in listed])
    for name, now in unknown:
        if now in brought or name in converted:
            found.append(Arrival(name, known.there.get(name, ""), now))
        else:
            known.accept(name, now)
    since = before.since if before and before.held else _parse(before.reflog if before else "")[1]
    looked = GitReview(sign, end, since, before.held if before else {})
    return IncomingChanges(tuple(sorted(found)), known, looked)


def is_same(one: IncomingChanges, other: IncomingChanges) -> bool:
    """Tell whether two reviews of a store found the same text in every file."""
    found = ((each.arrivals, each.accepted.there) for each in (one, other))
    return next(found) == next(found)


def accept(store: Store) -> None:
    """Accept all changes. Raises `StoreError`."""
    with lock.hold_lock(store, _WAIT, lock.REVIEW):
        _record(store, find_incoming(store), lambda _: True)


def accept_seen(store: Store, seen: IncomingChanges) -> None:
    """Accept the changes that were `seen`; what came since then is not accepted."""
    shown = {(each.name, each.now) for each in seen.arrivals}
    with lock.hold_lock(store, _WAIT, lock.REVIEW):
        found = seen if seen.looked.sign == trust.sign_store(store) else find_incoming(store)
        _record(store, found, lambda each: (each.name, each.now) in shown)


def is_clean(store: Store) -> bool:
    """Tell whether nothing of `local/` came with git; else the store is not trusted any more."""
    main, local = store.main, os.path.basename(store.local)
    sign = worktrees.index_sign(main)
    try:
        came = any(_has_tracked_files(main, local, each) for each in worktrees.repositories(main))
    except _NoGitError:
        return True
    if came:
        trust.revoke_trust(store)
        local_folder.disown_folder(store)
        return False
    if store.trusted:
        with suppress(OSError):  # a full disk, or two at once: it is looked at again next time
            atomic.write_derived(f"{store_paths.trust_folder(store)}/checked", files.encode(sign))
    return True


def _has_tracked_files(main: str, local: str, repository: str) -> bool:
    """Tell whether a repository tracks anything of a local folder. Raises `StoreError`."""
    listed = _list_index(main, repository, local)
    return any(os.path.lexists(f"{main}/{name}") for _, name in listed) or _has_fetched_files(
        main, local, repository
    )


def _has_fetched_files(main: str, local: str, repository: str) -> bool:
    """Tell whether a pull that failed halfway, and wrote no index, left files in it."""
    before = _get_prefix(main, repository)
    tree = commits.tree(repository, "FETCH_HEAD", f"{before}{local}")
    fetched = {name.removeprefix(before): ident for name, ident in tree.items()}
    texts = {name: logs.read_whole(f"{main}/{name}") for name in fetched}
    return any(
        data is not None and commits.blob_id(data, len(fetched[name])) == fetched[name]
        for name, data in texts.items()
    )


def list_held(store: Store) -> Mapping[str, str]:
    """Map paths in a store to the copies that are read instead, "" for none (see `quarantine`)."""
    before = trust.load_review(store) or _NEVER
    if before is _NEVER and not store.trusted:
        return {}  # nothing of it is served
    config = f"{store.root}/{store_paths.CONFIG}"
    if before.sign == trust.sign_store(store):
        return before.held if _is_hold_set(before.held.get(store_paths.CONFIG, config)) else {}
    if not (store_paths.held_before(store) or _is_hold_set(config)):
        return {}
    try:
        with lock.hold_lock(store, _WAIT, lock.REVIEW):
            return _record(store, find_incoming(store), lambda _: False).held
    except (LockedError, OSError):  # a disk that is full, or read-only: it is not noted
        found = find_incoming(store)
        return map_copies(store, found.accepted, _befores(found.arrivals), write=False)


def _record(store: Store, found: IncomingChanges, choose: Callable[[Arrival], bool]) -> GitReview:
    """Save the review, accepting the chosen changes. The caller holds `lock.REVIEW`."""
    for each in found.arrivals:
        if choose(each):
            found.accepted.accept(each.name, each.now)
    left = [each for each in found.arrivals if not choose(each)]
    found.looked.held = map_copies(store, found.accepted, _befores(left), write=True)
    trust.save(store, found.accepted, found.looked)
    store.decision = store_paths.UNDECIDED
    own = found.looked.held.get(store_paths.CONFIG, f"{store.root}/{store_paths.CONFIG}")
    holding = f"{store_paths.trust_folder(store)}/holding"
    if _is_hold_set(own):
        files.make_empty(holding)
    else:
        files.remove(holding)
    return found.looked


def _read_index(store: Store) -> dict[str, str]:
    """Map the files in git's index to the ids of their texts; `_CONFLICT` for a conflict."""
    found = {}
    for repository in worktrees.repositories(store.root)[:1]:
        for head, name in _list_index(store.root, repository):
            mode, ident, stage = head.split(" ")
            if mode != _LINKED and not store_paths.is_local(name):
                found[name] = ident if stage == "0" else _CONFLICT
    return found


def tracked_around(store: Store) -> set[str]:
    """Return the files of a store that git has in repositories around the store's own."""
    around = worktrees.repositories(store.root)[1:]
    return {name for each in around for _, name in _list_index(store.root, each)}


def _hash_files(store: Store, known: AcceptedTexts, listed: Mapping[str, str]) -> dict[str, str]:
    """Map the files on the disk to the ids of their texts."""
    length = next((len(ident) for ident in listed.values() if ident != _CONFLICT), 40)
    found = {}
    for each in trees.walk(store.root, top_too=False):
        if store_paths.is_local(each.name) or each.name.split("/")[0] == ".git":
            continue
        try:
            text = _read_text(each.path)
        except OSError:  # it may not be read, and reaches nobody till then
            found[each.name] = known.there.get(each.name, "")
            continue
        ids = commits.blob_ids(text, length)
        matching = [ident for ident in ids if known.is_accepted(each.name, ident)]
        matching += [ident for ident in ids if listed.get(each.name) == ident]
        found[each.name] = matching[0] if matching else commits.blob_id(files.encode(text), length)
    return found


def _read_text(path: str) -> str:
    """Read a file's text; of one above the limit, its beginning and its signature.

    Raises `OSError` for one that may not be read.
    """
    text, size = files.beginning(path, files.READ_CAP, _BEGINNING)
    if size <= files.READ_CAP:
        return text or ""
    status = files.status(path)
    return f"{text}\n{signatures.sign_exactly(status) if status else size}"


def _list_index(root: str, repository: str, below: str = "") -> list[tuple[str, str]]:
    """List (mode, id and stage; path) of a repository's index entries in a store's folder.

    With `below`, only those below that path of the store. Raises `StoreError`.
    """
    if not worktrees.index_sign_of(repository):
        return []  # nothing was ever added to it
    before = _get_prefix(root, repository)
    paths = [f"{before}{below}" or "."]
    done = git.start(repository, "ls-files", "-s", "-z", paths=paths, seconds=_PATIENCE)
    if done is None or done.returncode:
        raise (_NoGitError if done is None else StoreError)(
            f"git cannot list the files that it tracks in {root}",
            f"see why: git -C {repository} ls-files -s",
        )
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    split = (line.partition("\t") for line in lines)
    return [
        (head, name.removeprefix(before))
        for head, _, name in split
        if name and name.startswith(before)
    ]


def _get_prefix(root: str, repository: str) -> str:
    within = os.path.relpath(root, repository)
    return "" if within == os.curdir else within.replace(os.sep, "/") + "/"


def _accept_commits(store: Store, known: AcceptedTexts, since: str | None) -> str:
    """Accept what was committed here since a line of git's log; return its last line now.

    A commit on top of a text of others is not accepted, nor is a text of another author. `since`
    None: there was no review yet, and all of that log came with the repository.
    """
    folder = worktrees.git_dir(store.root)
    text = (outside.read(f"{folder}/logs/HEAD", cap=_LONGEST_LOG) or "") if folder else ""
    lines = text.splitlines()
    if since in lines:
        fresh = lines[len(lines) - lines[::-1].index(since) :]
    else:
        fresh = lines if since == "" else []  # one that was cleared says nothing
    steps = []
    for line in fresh:
        if _MADE.match(line.partition("\t")[2]) and _parse(line) != _NO_IDS:
            steps.append(_parse(line))
    for each in commits.list_written(store.root, steps) if steps else ():
        if each.own and (not each.before or known.is_accepted(each.path, each.before)):
            known.accept(each.path, each.blob)
    return lines[-1] if lines else ""


def _parse(line: str) -> tuple[str, str]:
    """Return the commits, before and after, that a line of git's log names."""
    words = line.split(" ", 2)
    known = len(words) > 2 and all(map(_ID.fullmatch, words[:2]))
    return (words[0], words[1]) if known else _NO_IDS


def _accept_own(
    store: Store, known: AcceptedTexts, here: Mapping[str, str], listed: Mapping[str, str]
) -> None:
    """Accept the blocks that memfs wrote here, on top of texts that are this user's."""
    names = {name for name, ident in here.items() if not known.is_accepted(name, ident)}
    names |= {name for name in known.there if name not in here}
    keys = {
        block_key(store.tree, labels.PROJECT, "", store_paths.parse_label(name)): name
        for name in names
        if store_paths.parse_label(name)
    }
    if not keys:
        return
    length = next((len(ident) for ident in listed.values() if ident != _CONFLICT), 40)
    own: dict[str, set[str]] = {name: {"", *known.ids.get(name, ())} for name in keys.values()}
    for entry in journal.read(store):
        name = keys.get(entry.key, "")
        if name and entry.op != "adopt" and _get_blob_ids(entry.before, length) & own[name]:
            own[name] |= _get_blob_ids(entry.after, length)
            if entry.after is None:
                known.accept(name, "")
    for name, ids in own.items():
        for ident in {here.get(name, ""), listed.get(name, "")} & (ids - {""}):
            known.accept(name, ident)


def _befores(arrivals: Iterable[Arrival]) -> dict[str, str]:
    return {each.name: each.before for each in arrivals}


def _get_blob_ids(text: str | None, length: int) -> set[str]:
    """Return git's ids of a text, of `length` digits; "" for no text."""
    return {""} if text is None else commits.blob_ids(text, length)


def _is_hold_set(own: str) -> bool:
    """Tell whether changes of others are quarantined; `own` is the project's configuration."""
    if os.environ.get(store_paths.HOLDING) == settings.HOLD:
        return True
    for path in (own, f"{store_paths.user_root()}/{store_paths.CONFIG}"):
        text = (files.read(path) or "") if path else ""
        found = frontmatter.read(text)
        if settings.holds_changes(found) if found is not None else settings.HOLD in text:
            return True
    return False


def map_copies(
    store: Store, known: AcceptedTexts, left: Mapping[str, str], *, write: bool
) -> dict[str, str]:
    """Map each quarantined file to a copy of the text accepted last, "" where there is none.

    `left` maps quarantined files to git's id of the text before, "" for a new file. The texts are
    read from git: most accepted texts were committed. A copy never changes: its name has the id.
    """
    candidates = {
        name: [before, *reversed(known.ids.get(name, ()))] if before else []
        for name, before in left.items()
    }
    texts = commits.read_blobs(store.root, [ident for ids in candidates.values() for ident in ids])
    found = {}
    for name, ids in candidates.items():
        ident = next((i for i in ids if i in texts and commits.is_blob(texts[i], i)), "")
        path = f"{store_paths.user_root()}/local/held/{ident}/{_short(name)}" if ident else ""
        if ident and write and not files.is_file(path):
            files.make_folder(os.path.dirname(path), private=True)
            atomic.write(path, texts[ident], private=True)
        found[name] = path if ident and files.is_file(path) else ""
    return found


def _short(name: str) -> str:
    """Shorten a path so that it can be written below any folder: keep the end of its last part."""
    return name if len(os.fsencode(name)) <= _LONGEST_NAME else name.rpartition("/")[2][-_SHORT:]
