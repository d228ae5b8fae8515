"""What others changed in the project's blocks since this user last saw them."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from memfs.core import label as labels
from memfs.core.quoting import flatten_text
from memfs.core.records import block_key
from memfs.core.settings import HOLD
from memfs.store import blocks, commits, config, git, journal, trust
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.store.commits import Commit
    from memfs.store.layout import Store

_PATIENCE = 1.5  # seconds for git; a session waits to start
_MOST_NAMED = 5
_LONGEST = 60  # characters of an author's name or a subject


class Pulled(NamedTuple):
    """A block that others changed: `what` is changed, new or removed; `why` the commit's subject.

    `key` is `project:label`, `before` the text this user knows, `after` the file's, None where
    there is none.
    """

    key: str
    what: str
    who: str
    why: str
    before: str | None
    after: str | None


class Seen(NamedTuple):
    """What others changed, and what takes the place of a file's text where that is held back.

    `held` maps `project:label` to the text that is trusted, None for a block that is not.
    """

    pulled: list[Pulled]
    held: dict[str, str | None]


NOTHING = Seen([], {})


def look(place: Place, *, note: bool) -> Seen:
    """Compare the project's blocks with what this user last saw; `note`: they see them now.

    A change is theirs if memfs or their editor made it here. What came with commits is others',
    unless this user wrote it; where changes are held back, the name in a commit proves nothing.
    """
    store = place.project
    if store is None or not trust.changed(store):
        return NOTHING
    seen = trust.seen(store)
    before, now = seen.texts, trust.texts(store)
    hold = config.load(place).get("trust.pulled") == HOLD
    arrived = _arrived(store, seen.commit)
    me = "" if hold else git.identity(store.root)
    found: list[Pulled] = []
    known = dict(before)
    for key in sorted(key for key in {*now, *before} if now.get(key) != before.get(key)):
        old, new = before.get(key), now.get(key)
        who = _others(store, key, old, new, None if arrived is None else arrived.get(key, []), me)
        if who:
            what = "new" if old is None else "removed" if new is None else "changed"
            found.append(Pulled(key, what, *who, old, new))
        if who is None or not hold:
            known.pop(key, None)
            if new is not None:
                known[key] = new
    if note and known != before:
        commit = seen.commit if found and hold else git.head(store.root)
        with suppress(OSError):  # a full disk: it is named again next time
            trust.save(store, trust.Seen(known, commit))
    return Seen(found, {change.key: change.before for change in found if hold})


def _arrived(store: Store, since: str) -> dict[str, list[Commit]] | None:
    """Map `project:label` to the commits after `since` that touched it; None: git took too long."""
    try:
        done = commits.touching(store.root, "blocks", since=since, seconds=_PATIENCE)
    except TimeoutError:
        return None
    listed = blocks.paths(Place(store, None))
    keys = {os.path.relpath(path, store.root): label for _, label, path in listed}
    found: dict[str, list[Commit]] = {}
    for commit in done:
        gone = commit.path.removeprefix("blocks/").removesuffix(blocks.SUFFIX)
        label = keys.get(commit.path) or labels.normalise(gone)
        found.setdefault(labels.qualified(labels.PROJECT, label), []).append(commit)
    return found


def _others(
    store: Store, key: str, old: str | None, new: str | None, done: list[Commit] | None, me: str
) -> tuple[str, str] | None:
    """Return (who, why) of what others did to a block that was `old`, None if they did nothing.

    `done` are the commits that touched it since, the newest first, None where nobody knows.
    """
    if done is None:
        return "somebody", ""
    if not done:
        return None  # no commit brought it: it was changed here
    text = commits.texts(store.root, [done[0].blob]).get(done[0].blob)
    if new is not None and text is not None and new.replace("\r\n", "\n") == text:
        text = new
    if text in _made_here(store, key, old):
        return None
    later = list(takewhile(lambda c: old is None or not commits.is_blob(old, c.blob), done))
    others = [commit for commit in later or done[:1] if commit.author != me]
    return (others[0].author, others[0].subject) if others else None


def _made_here(store: Store, name: str, old: str | None) -> set[str | None]:
    """Return the texts that a block got from `old` by edits that were made here."""
    reached = {old}
    key = block_key(store.tree, labels.PROJECT, "", name.partition(":")[2])
    for entry in journal.read(store):
        if entry.key == key and entry.before in reached and not journal.is_commit(entry):
            reached.add(entry.after)
    return reached


def notice(seen: Seen) -> str:
    """Tell the person what others changed, in a line; "" if they changed nothing."""
    if not seen.pulled:
        return ""
    from memfs.core.invisible import reveal_hidden

    shown = [_told(change) for change in seen.pulled[:_MOST_NAMED]]
    more = len(seen.pulled) - len(shown)
    if more:
        shown.append(f"{more} more")
    if seen.held:
        told = f"memfs: held back until you have looked (memfs trust): {'; '.join(shown)}"
    else:
        told = f"memfs: changed by others since you last looked: {'; '.join(shown)} (memfs log)"
    return reveal_hidden(told)


def _told(change: Pulled) -> str:
    what = "" if change.what == "changed" else f"{change.what}, "
    why = f": {_short(change.why)}" if change.why else ""
    who = _short(change.who.partition(" <")[0])
    return f"{flatten_text(change.key.partition(':')[2])} ({what}{who}{why})"


def _short(text: str) -> str:
    flat = " ".join(flatten_text(text).split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
