"""What recalled texts name that is gone from the project since, or moved.

The service's worker keeps the list for one commit; what is not certain is not said.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memfs import files
from memfs.core import label as labels
from memfs.core.anchors import find_anchors
from memfs.core.errors import UNREADABLE
from memfs.files import atomic, signatures
from memfs.store import blocks, git, worktrees
from memfs.store.project_files import GoneFile, ProjectFiles

if TYPE_CHECKING:
    from memfs.core.brief_layout import Stated
    from memfs.search.prompt_relevance import PromptHit
    from memfs.store.blocks import Place
    from memfs.store.data_sources import DataSource

_NAME = "gone-files.json"
_MOST = 20_000  # files, those that are gone last
_LARGEST = 16 << 20  # bytes
_MOST_NOTES = 2  # of one text
_MOST_SESSIONS = 1000  # that are remembered to be told
_MOST_LINES = 10  # of all blocks and rules
_OTHERS = ("team", "source", "commit")  # kinds of what may be about other projects or the past
_MONTH = 7  # characters of a time
_SAFE = re.compile(r"[\w@.+\-/()\[\]$~]{0,200}")  # the name of a file is anybody's text
_WORD = re.compile(r"[\w@+\-][\w@.+\-]*(?<=\w)")


class GoneFiles:
    """The files of a project that are gone at the commit `head`."""

    def __init__(self, top: str, head: str, sign: str, gone: Sequence[GoneFile]) -> None:
        """`sign` is git's when that commit was checked out (see `worktrees.sign_head`)."""
        self._top, self._sign = top, sign
        self.head, self.gone = head, gone
        self._sessions: dict[str, None] = {}  # the latest ones, the last one last
        self._by_name: dict[str, list[GoneFile]] = {}
        for each in gone:
            if _SAFE.fullmatch(each.moved_to) and _SAFE.fullmatch(each.path):
                self._by_name.setdefault(each.path.rpartition("/")[2], []).append(each)

    def is_current(self) -> bool:
        return worktrees.sign_head(self._top) == self._sign

    def annotate(self, place: Place, hits: Iterable[PromptHit]) -> None:
        """Add to the reasons of hits which files they name are gone, or where these are now."""
        store = place.project
        own = (f"{store.root}/", f"{store.local}/") if store else ()
        for hit in hits if self.gone else ():
            if hit.kind not in _OTHERS and (not hit.source or hit.source.startswith(own)):
                hit.why += self.describe(hit.snippet, hit.at)

    def list_outdated(
        self, session: str, blocks_shown: Mapping[str, str], rules: Callable[[], Iterable[Stated]]
    ) -> list[str]:
        """Return a line for each such file in what a session was shown as it began.

        That are the project's pinned blocks (`tier:label` to file) and `rules`. It is empty from
        the second call for a session on.
        """
        if not self.gone or not session or session in self._sessions:
            return []
        self._sessions[session] = None
        if len(self._sessions) > _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        found = []
        for key, raw in blocks_shown.items():
            tier, _, label = key.partition(":")
            is_own = tier == labels.PROJECT and not labels.problem(label)
            notes = self.describe(raw, "", named=True) if is_own else ()
            if notes and blocks.make(tier, label, "", raw).pinned:
                found += [f"{label}: {note}" for note in notes]
        for rule in rules():
            notes = self.describe(rule.text, rule.at, named=True)
            found += [f"rule of {rule.at[:10]}: {note}" for note in notes]
        return found[:_MOST_LINES]

    def describe(self, text: str, at: str, *, named: bool = False) -> tuple[str, ...]:
        """Return which files of a text are gone or moved; `named` in any case, or if unclear."""
        if self._by_name.keys().isdisjoint(_WORD.findall(text)):
            return ()  # nearly always: anchors take longer
        names = dict.fromkeys(each.name for each in find_anchors(text) if each.kind == "file")
        found = [(name, gone) for name in names if (gone := self._find(name, at))]
        if not found or not self.is_current():
            return ()
        return tuple(
            f"{gone.path if named or len(names) > 1 or name != gone.path else 'file'} "
            + (f"is now {gone.moved_to}" if gone.moved_to else f"was removed in {gone.at[:_MONTH]}")
            for name, gone in found[:_MOST_NOTES]
        )

    def _find(self, name: str, at: str) -> GoneFile | None:
        """Return the file that a text of a time names, if it is gone for certain."""
        parts = name.count("/") + 1
        listed = [
            each
            for each in self._by_name.get(name.rpartition("/")[2], ())
            if each.least <= parts and f"/{each.path}".endswith(f"/{name}")
        ]
        exact = [each for each in listed if each.path == name]
        if len({each.moved_to or each.path for each in exact or listed}) != 1:
            return None  # none, or several that had the name
        found = (exact or listed)[0]
        there = [os.path.lexists(f"{self._top}/{path}") for path in (name, *found[:2]) if path]
        return found if found.at > at and there == [False, False, True][: len(there)] else None


def update(source: DataSource) -> bool:
    """Bring the list of a project's commits up to date, under its lock; return if it changed."""
    sign = worktrees.sign_head(source.top)
    before = load(source)
    if not sign or (before and before.is_current()):
        return False
    head = git.get_head_commit(source.top)
    if not head:
        return False
    since = before.head if before else ""
    if since and git.run(source.top, "rev-list", "--max-count=1", f"{head}..{since}") != "":
        since = ""  # on another branch
    try:
        gone = ProjectFiles(source.top).list_gone(before.gone if before and since else (), since)
    except TimeoutError:  # a very long history: what is removed from now on is known
        gone = []
    record = {"head": head, "sign": sign, "gone": gone[:_MOST]}
    files.make_folder(source.index, private=True)
    atomic.write_derived(f"{source.index}/{_NAME}", json.dumps(record).encode())
    return True


def load(source: DataSource) -> GoneFiles | None:
    """Return the list of a project, None if there is none."""
    top = git.top_level(source.top)
    try:
        found = json.loads(files.read(f"{source.index}/{_NAME}", _LARGEST) or "")
        gone = [
            GoneFile(str(path), str(to), str(at), int(least))
            for path, to, at, least in found["gone"]
        ]
        return GoneFiles(top, str(found["head"]), str(found["sign"]), gone) if top else None
    except (OSError, *UNREADABLE):
        return None


def sign(source: DataSource) -> object:
    """Return what changes with the list of a project."""
    return signatures.sign_file(f"{source.index}/{_NAME}")
