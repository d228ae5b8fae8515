"""What came with git since a project's user last looked: the texts that are not theirs.

What git has in its index at a path is theirs if they accepted that text there, if memfs wrote it
here, or if they committed it here on top of one that is theirs. Where a file differs from that, or
git does not know it, an editor on this machine was at work. All else came from others, however it
came: by a pull, a checkout, a merge, a patch. The name in a commit proves nothing.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memfs import files
from memfs.core import label as labels
from memfs.core import settings, yamlmini
from memfs.core.errors import LockedError, StoreError
from memfs.core.records import block_key
from memfs.files import atomic, outside
from memfs.store import commits, git, journal, layout, local_folder, lock, trust
from memfs.store.trust import Accepted, Looked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memfs.store.layout import Store

LOCK = "trust.lock"
_SUFFIX = ".md"  # of a block
_FILE = "100"  # how the mode of a file begins; links and repositories are no memory
_MADE = re.compile(r"commit(?: \((?:initial|amend)\))?:")  # in git's log of what was checked out
_PATIENCE = 5.0  # seconds for git; a session waits to start
_WAIT = 2.0  # seconds for another process that looks, too
_LONGEST_LOG = 64 << 20  # bytes
_NEVER = Looked("", "", "", {})  # where nobody looked yet: in a new linked worktree


class Arrival(NamedTuple):
    """A file that others changed, by git's ids: from `before` to `now`, "" for no file."""

    name: str
    before: str
    now: str


@dataclass(frozen=True)
class Found:
    """What is others' in a store, and what its user accepted, brought up to date but for that."""

    arrivals: tuple[Arrival, ...]
    accepted: Accepted
    looked: Looked


def look(store: Store) -> Found:
    """Compare what git has of a store with what its user accepted; nothing is noted.

    Raises `StoreError` where git does not say.
    """
    before = trust.looked(store) or _NEVER
    known = trust.accepted(store) or Accepted({}, {})
    sign = layout.index_sign(store.root)
    listed = _tracked(store)
    end = _follow(store, known, before.reflog)
    _accept_own(store, known, listed)
    found = []
    for name, ident in listed.items():
        if known.has(name, ident):
            known.there[name] = ident
        else:
            found.append(Arrival(name, known.there.get(name, ""), ident))
    for name in [name for name in known.there if name not in listed]:
        if _is_there(store, name):
            del known.there[name]  # git was told to leave it alone: it is this machine's
        else:
            found.append(Arrival(name, known.there[name], ""))
    since = before.since if before.held else _ids(before.reflog)[1]
    looked = Looked(sign, end, since, before.held)
    return Found(tuple(sorted(found, key=lambda each: each.name)), known, looked)


def accept(store: Store, choose: Callable[[Arrival], bool] = lambda _: True) -> None:
    """Accept what came, as far as it is chosen, and hold back the rest. Raises `StoreError`."""
    with lock.hold(store, _WAIT, LOCK):
        _settle(store, look(store), choose)


def accept_seen(store: Store, seen: Found) -> None:
    """Accept what came as it was `seen`: what came since then is not accepted."""
    shown = {(each.name, each.now) for each in seen.arrivals}
    accept(store, lambda each: (each.name, each.now) in shown)


def is_clean(store: Store) -> bool:
    """Tell whether nothing of `local/` came with git; where it did, the store is trusted no more.

    What is believed in `local/` is what memfs wrote there. Where git does not say, nothing is told
    to have come.
    """
    main = os.path.dirname(store.local)
    sign = layout.index_sign(main)
    try:
        listed = _listed(main, "local") if sign else []
    except StoreError:
        return True
    if any(files.is_file(f"{main}/{name}") for _, name in listed):
        trust.take(store)
        local_folder.disown(store)
        return False
    if layout.trusted(store):
        with suppress(OSError):  # a full disk: it is looked at again next time
            path = f"{layout.trust_folder(store)}/checked"
            atomic.write(path, sign, private=True, durable=False)
    return True


def held(store: Store) -> Mapping[str, str]:
    """Map paths in a store to the copies that are read instead, "" for none (see `held.of`)."""
    before = trust.looked(store) or _NEVER
    if before is _NEVER and not layout.trusted(store):
        return {}  # nothing of it is served
    config = f"{store.root}/{layout.CONFIG}"
    if before.sign == layout.index_sign(store.root):
        return before.held if _is_wanted(before.held.get(layout.CONFIG, config)) else {}
    if not (layout.held_before(store) or _is_wanted(config)):
        return {}
    try:
        with lock.hold(store, _WAIT, LOCK):
            return _settle(store, look(store), lambda _: False).held
    except (LockedError, OSError):  # a disk that is full, or read-only: it is not noted
        return _copies(store, look(store).arrivals, write=False)


def _settle(store: Store, found: Found, choose: Callable[[Arrival], bool]) -> Looked:
    """Note what was found, with what is chosen of it accepted. The caller holds `LOCK`."""
    for each in found.arrivals:
        if choose(each):
            found.accepted.accept(each.name, each.now)
    left = [each for each in found.arrivals if not choose(each)]
    found.looked.held = _copies(store, left, write=True)
    trust.save(store, found.accepted, found.looked)
    own = found.looked.held.get(layout.CONFIG, f"{store.root}/{layout.CONFIG}")
    layout.note_holding(store, holding=_is_wanted(own))
    return found.looked


def _tracked(store: Store) -> dict[str, str]:
    """Map the files that git has in its index to the ids of their texts.

    Of one that is in conflict, the last side's counts: it is others'.
    """
    if not layout.index_sign(store.root):
        return {}  # outside git, or nothing was ever added to it
    return {
        name: head.split(" ")[1]
        for head, name in _listed(store.root, ".")
        if head.startswith(_FILE) and not name.startswith("local/")
    }


def _listed(root: str, below: str) -> list[tuple[str, str]]:
    """List (mode, id and stage; path) of what git has in its index below a store's folder."""
    done = git.start(root, "ls-files", "-s", "-z", paths=[below], seconds=_PATIENCE)
    if done is None or done.returncode:
        raise StoreError(
            f"git does not say what came with it into {root}", f"try: git -C {root} ls-files -s"
        )
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    top = git.prefix(root)
    split = (line.partition("\t") for line in lines)
    return [(head, name.removeprefix(top)) for head, _, name in split if name]


def _is_there(store: Store, name: str) -> bool:
    """Tell whether a file of exactly this name is there: some systems do not tell case apart."""
    folder, base = os.path.split(f"{store.root}/{name}")
    return base in files.names(folder)


def _follow(store: Store, known: Accepted, since: str) -> str:
    """Accept what was committed here since a line of git's log; return its last line now.

    One on top of a text that is others' stays others', as does what somebody else wrote.
    """
    folder = layout.git_dir(store.root)
    text = (outside.read(f"{folder}/logs/HEAD", cap=_LONGEST_LOG) or "") if folder else ""
    lines = text.splitlines()
    if since in lines:
        fresh = lines[len(lines) - lines[::-1].index(since) :]
    else:
        fresh = [] if since else lines  # one that was cleared says nothing
    steps = []
    for line in fresh:
        if _MADE.match(line.partition("\t")[2]):
            steps.append(_ids(line))
    for name, before, now in commits.written_here(store.root, steps) if steps else ():
        if not before or known.has(name, before):
            known.accept(name, now)
    return lines[-1] if lines else ""


def _ids(line: str) -> tuple[str, str]:
    """Return the commits, before and after, that a line of git's log names."""
    words = line.split(" ", 2)
    return (words[0], words[1]) if len(words) > 2 else ("", "")


def _accept_own(store: Store, known: Accepted, listed: Mapping[str, str]) -> None:
    """Accept the blocks that memfs wrote here, on top of texts that are this user's."""
    names = {name for name, ident in listed.items() if not known.has(name, ident)}
    names |= {name for name in known.there if name not in listed}
    keys = {_block_key(store, name): name for name in names if name.endswith(_SUFFIX)}
    if not keys:
        return
    own: dict[str, set[str]] = {name: {"", *known.ids.get(name, ())} for name in keys.values()}
    for entry in journal.read(store):
        name = keys.get(entry.key, "")
        if name and entry.op != "adopt" and _blobs(entry.before, listed) & own[name]:
            own[name] |= _blobs(entry.after, listed)
            if entry.after is None:
                known.accept(name, "")
    for name, ids in own.items():
        if listed.get(name, "") in ids - {""}:
            known.accept(name, listed[name])


def _block_key(store: Store, name: str) -> str:
    label = labels.normalise(name.removeprefix("blocks/").removesuffix(_SUFFIX))
    return block_key(store.tree, labels.PROJECT, "", label)


def _blobs(text: str | None, listed: Mapping[str, str]) -> set[str]:
    """Return git's ids of a text, as long as those of this repository are; "" for no text."""
    length = len(next(iter(listed.values()), "")) or 40
    return {""} if text is None else commits.blob_ids(text, length)


def _copies(store: Store, left: Iterable[Arrival], *, write: bool) -> dict[str, str]:
    """Map what is held back to copies of the texts that were accepted last, "" where none is had.

    They are git's: what it has in its index was a text of its own. A copy never changes, as its
    name has the text's id.
    """
    left = list(left)
    wanted = {each.name: each.before for each in left if each.before}
    texts = commits.texts(store.root, wanted.values()) if wanted else {}
    found = {}
    for each in left:
        path = f"{trust.held_folder(store)}/{each.before[:16]}/{each.name}"
        text = texts.get(each.before)
        if text is not None and write and not files.is_file(path):
            files.make_folder(os.path.dirname(path), private=True)
            atomic.write(path, text, private=True)
        found[each.name] = path if text is not None and files.is_file(path) else ""
    return found


def _is_wanted(own: str) -> bool:
    """Tell whether changes of others are held back; `own` is the project's configuration."""
    if os.environ.get(layout.HOLDING) == settings.HOLD:
        return True
    for path in (own, f"{layout.user_root()}/{layout.CONFIG}"):
        text = (files.read(path) or "") if path else ""
        found = yamlmini.read(text)
        if settings.holds(found) if found is not None else settings.HOLD in text:
            return True
    return False
