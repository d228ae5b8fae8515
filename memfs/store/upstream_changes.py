"""What others changed in the project's store since this user last looked."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.escaping import flatten_text
from memfs.core.injection_signs import reveal_hidden
from memfs.core.settings import HOLD
from memfs.store import blocks, commits, config, git, incoming_changes, store_paths
from memfs.store.blocks import Place
from memfs.store.commits import Commit
from memfs.store.incoming_changes import Arrival, IncomingChanges
from memfs.store.store_paths import Store

_PATIENCE = 1.5  # seconds for git; a session waits to start
_MOST_NAMED = 5  # with who changed them, and why
_MOST_LISTED = 40  # by their names
_FOLDERS = ("archive", "facts", "static", "prompts")
_LONGEST = 60  # characters of an author's name or a subject


class UpstreamChange(NamedTuple):
    """A file that others changed: `what` is changed, new or removed; `why` the commit's subject.

    `key` is `project:label` of a block, else the path in the store. `before` and `after` are git's
    ids of the texts that were accepted and that came, "" where there is none.
    """

    name: str
    key: str
    what: str
    who: str
    why: str
    before: str
    after: str


class UpstreamReview(NamedTuple):
    """What others changed, and whether it is held back until it was looked at.

    `unknown` says why that cannot be told, "" where it can.
    """

    pulled: list[UpstreamChange]
    held: bool
    unknown: str = ""


NOTHING = UpstreamReview([], held=False)


def review_changes(place: Place, *, note: bool) -> UpstreamReview:
    """Compare the project's store with what this user accepted; `note`: they see it now.

    Where changes are held back, they stay others' until they were looked at, whoever is named in
    the commits. Elsewhere this user's own commits, made on another machine, say nothing.
    """
    store = place.project
    if store is None or not store.trusted:
        return NOTHING
    hold = config.load(place).get("trust.pulled") == HOLD
    try:
        found = incoming_changes.find_incoming(store)
    except StoreError as error:
        return UpstreamReview([], hold, error.message)
    pulled = list(_find_changes(store, found, None if hold else git.get_identity(store.root)))
    if note and not hold:
        with suppress(OSError, StoreError):  # a full disk: it is named again next time
            incoming_changes.accept_seen(store, found)
    return UpstreamReview(pulled, hold and bool(pulled))


def load_texts(store: Store, pulled: Iterable[UpstreamChange]) -> Mapping[str, str]:
    """Read the texts before the changes, by git's ids."""
    return commits.read_blobs(store.root, [each.before for each in pulled])


def _find_changes(store: Store, found: IncomingChanges, me: str | None) -> Iterable[UpstreamChange]:
    """Yield the changes by others than `me`, with their author as far as that is known.

    A change without a commit counts if it was fetched or is being merged, or if changes are
    quarantined (`me` is None); else this user checked out another state.
    """
    if not found.arrivals:
        return
    done = _read_commits(store, found)
    waiting: set[tuple[str, str]] | None = None
    for arrival in found.arrivals:
        name, before, now = arrival
        others = _filter(arrival, done, me)
        if done is not None and not others and me is not None:
            waiting = _find_pending(store, found.arrivals) if waiting is None else waiting
            if done.get(name) or (name, now) not in waiting:
                continue
        what = "removed" if not now else "changed" if before else "new"
        who, why = (others[0].author, others[0].subject) if others else ("somebody", "")
        label = store_paths.parse_label(name)
        key = labels.qualify(labels.PROJECT, label) if label else name
        yield UpstreamChange(name, key, what, who, why, before, now)


def _find_pending(store: Store, arrived: Iterable[Arrival]) -> set[tuple[str, str]]:
    """Return the (path, id) of texts that were fetched, or are about to be a commit.

    And of those that a repository around the store's own has there.
    """
    around = incoming_changes.tracked_around(store)
    found = {(each.name, each.now) for each in arrived if each.name in around}
    for commit in ("FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "@{upstream}"):
        found.update(commits.tree(store.root, commit, ".").items())
    return found


def _filter(arrival: Arrival, done: dict[str, list[Commit]] | None, me: str | None) -> list[Commit]:
    """Return the commits of others than `me` that a text went through since, the newest first."""
    known = arrival.before or None
    touching = (done or {}).get(arrival.name, [])
    later = list(takewhile(lambda each: each.blob != known, touching))
    return [each for each in later or touching[:1] if each.author != me]


def _read_commits(store: Store, found: IncomingChanges) -> dict[str, list[Commit]] | None:
    """Map paths to the commits that touched them since; None: git took too long."""
    try:
        done = commits.list_touching(store.root, ".", since=found.looked.since, seconds=_PATIENCE)
    except TimeoutError:
        return None
    by_name: dict[str, list[Commit]] = {}
    for commit in done:
        by_name.setdefault(commit.path, []).append(commit)
    return by_name


def notice(seen: UpstreamReview) -> str:
    """Describe in one line what others changed; "" if they changed nothing."""
    if seen.unknown:
        effect = (
            "so the project's memory is not used"
            if seen.held
            else "but the project's memory is used anyway"
        )
        return f"memfs: cannot find out what others changed ({seen.unknown}), {effect}"
    if not seen.pulled:
        return ""
    alone = [
        each
        for each in seen.pulled
        if store_paths.parse_label(each.name) or each.name == store_paths.CONFIG
    ]
    shown = [_format_change(each) for each in alone[:_MOST_NAMED]]
    shown += [_format_name(each) for each in alone[_MOST_NAMED:_MOST_LISTED]]
    if len(alone) > len(shown):
        shown.append(f"{len(alone) - len(shown):,} more blocks")
    rest = Counter(each.name.partition("/")[0] for each in seen.pulled if each not in alone)
    shown += [f"{rest.pop(folder)} in {folder}" for folder in _FOLDERS if folder in rest]
    if rest:
        shown.append(f"{rest.total():,} other files")
    if seen.held:
        line = f"memfs: not used until you review the changes (run memfs trust): {'; '.join(shown)}"
    else:
        line = f"memfs: changed by others since you last looked: {'; '.join(shown)} (see memfs log)"
    return reveal_hidden(line)


def _format_change(change: UpstreamChange) -> str:
    what = "" if change.what == "changed" else f"{change.what}, "
    why = f': "{_shorten(change.why)}"' if change.why else ""
    who = _shorten(change.who.partition(" <")[0])
    return f"{_format_name(change)} ({what}{who}{why})"


def _format_name(change: UpstreamChange) -> str:
    label = change.name.removeprefix("blocks/").removesuffix(blocks.SUFFIX)
    if store_paths.parse_label(change.name) not in ("", label):
        label = os.path.basename(change.name)  # another file has that label, or could
    return _shorten(label)


def _shorten(text: str) -> str:
    flat = " ".join(flatten_text(text).replace('"', "'").split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
