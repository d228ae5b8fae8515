"""The files of a project: those there are, those its history removed, and their earlier texts."""

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from memfs import files
from memfs.store import commits, git
from memfs.store.commits import Commit

_VERSIONS = 60  # of one file that are looked at
_LARGEST = 1 << 20  # bytes of a file that is searched for a name
_MOVES = 20  # of one file that are followed


class GoneFile(NamedTuple):
    """A file that is gone since `at` (UTC, ISO 8601); `moved_to` is where it is now, or "".

    So many parts at the end of its path as `least` no file has that is there.
    """

    path: str
    moved_to: str
    at: str
    least: int


class ProjectFiles:
    """What git has of the working tree that `folder` is in; names are relative to its top.

    Everything is read when it is first asked for, and once.
    """

    def __init__(self, folder: str) -> None:
        self.top = git.top_level(folder) or os.path.realpath(folder)
        self.prefix = git.prefix(folder)
        self._earlier: dict[str, list[tuple[str, str, str]]] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tracked files, sorted."""
        return tuple(sorted({entry.partition("\t")[2] for entry in self._index}))

    @property
    def is_sparse(self) -> bool:
        """Whether the working tree has a part of the tracked files alone."""
        return any(entry.startswith("S ") for entry in self._index)

    @cached_property
    def _index(self) -> list[str]:
        listed = git.run(self.top, "ls-files", "-s", "-t", "-z") or ""
        return [entry for entry in listed.split("\0") if entry]

    @cached_property
    def removals(self) -> Mapping[str, Commit]:
        """Files that are gone, with the commit that did it. Raises `TimeoutError`."""
        known = frozenset(self.names)
        found = commits.list_removals(self.top)
        return {path: removal for path, removal in found.items() if path not in known}

    @property
    def is_shallow(self) -> bool:
        """Whether the clone has a part of the history alone."""
        return (git.run(self.top, "rev-parse", "--is-shallow-repository") or "").startswith("true")

    def has(self, path: str, near: str = "") -> bool:
        """Tell whether a path is that of a file or folder, from the top or from any folder on.

        One without its ending, with another case, that git does not track, or that is in a
        submodule or behind a link is there, too: what is not known to be gone is not gone. `near`
        is the folder of the text.
        """
        if self._is_end(path):
            return True
        return any(
            each.lower() in self._ends
            or os.path.lexists(f"{self.top}/{each}")
            or self._leads_elsewhere(each)
            for each in self.list_places(path, near)
        )

    def _is_end(self, path: str) -> bool:
        low = path.lower()
        return low in self._ends or posixpath.splitext(low)[0] in self._ends

    def _leads_elsewhere(self, path: str) -> bool:
        parents = (path[:at] for at, letter in enumerate(path) if letter == "/")
        return any(each in self._all or os.path.islink(f"{self.top}/{each}") for each in parents)

    def list_places(self, path: str, near: str = "") -> list[str]:
        """List where a path may be meant: from the top, from the text's folder, from ours."""
        tries = (posixpath.normpath(f"{each}{path}") for each in ("", near, self.prefix))
        return [each for each in dict.fromkeys(tries) if not each.startswith(("..", "/"))]

    def find_removal(self, path: str, near: str = "") -> Commit | None:
        """Return the last removal of a path that is gone: a file, or all files of a folder."""
        for each in self.list_places(path, near):
            if each in self.removals:
                return self._follow(self.removals[each])
        ended = self._removed_ends.get(path, [])
        if "/" not in path and sum(each.moved_to not in self.removals for each in ended) > 1:
            return None
        if ended:
            return self._follow(max(ended, key=lambda removal: removal.at))
        return self._find_removed_folder(path)

    def list_gone(self, known: Iterable[GoneFile], since: str) -> list[GoneFile]:
        """List the files that are gone: those that commits after `since` removed, and `known` ones.

        Left out are those that git does not track, but are there, may be, or are ignored. Raises
        `TimeoutError`.
        """
        found = {
            each.path: Commit("", each.at, "", "", each.path, "", moved_to=each.moved_to)
            for each in known
        }
        self.removals = {
            path: removal
            for path, removal in (found | commits.list_removals(self.top, since)).items()
            if path not in self._all
        }
        gone = []
        for path in git.filter_unignored(self.top, self.removals):
            if os.path.lexists(f"{self.top}/{path}") or self._leads_elsewhere(path):
                continue
            removal, parts = self._follow(self.removals[path]), path.split("/")
            ends = enumerate(("/".join(parts[-count:]) for count in range(1, len(parts) + 1)), 1)
            least = next((count for count, end in ends if not self._is_end(end)), 0)
            if least:
                gone.append(GoneFile(path, removal.moved_to, removal.at, least))
        return sorted(gone, key=lambda each: each.at, reverse=True)

    def list_named(self, name: str) -> list[str]:
        """List the tracked files with this last part of their path."""
        return self._by_name.get(name, [])

    def read(self, name: str) -> str:
        """Return the text of a file in the working tree, "" for none."""
        try:
            return files.read(f"{self.top}/{name}", _LARGEST) or ""
        except OSError:
            return ""

    def list_earlier_texts(self, name: str) -> list[tuple[str, str, str]]:
        """Return (text, commit, time) of a file's earlier versions, newest first."""
        if name not in self._earlier:
            try:
                found = commits.list_touching(self.top, name, _VERSIONS)
            except TimeoutError:
                found = []
            texts = commits.read_blobs(self.top, [each.blob for each in found])
            self._earlier[name] = [
                (texts[each.blob], each.id, each.at) for each in found if each.blob in texts
            ]
        return self._earlier[name]

    def find_words(self, words: Iterable[str]) -> set[str]:
        """Return those words that stand in a tracked file, whatever is around them."""
        left = {word.encode() for word in words}
        found: set[str] = set()
        for name in self.names:
            if not left:
                break
            data = (
                files.encode(self.read(name)) if not name.endswith((".md", ".mdx", ".rst")) else b""
            )
            hit = {word for word in left if word in data}
            found |= {word.decode() for word in hit}
            left -= hit
        return found

    @cached_property
    def _ends(self) -> frozenset[str]:
        """All ends of paths, in lower case: of files, with and without ending, and of folders."""
        found: set[str] = set()
        for name in self.names:
            low = name.lower()
            parts = low.split("/")
            stem = posixpath.splitext(low)[0].split("/")
            for at in range(len(parts)):
                found.add("/".join(parts[at:]))
                found.add("/".join(stem[at:]))
                found.update("/".join(parts[at:upto]) for upto in range(at + 1, len(parts)))
        return frozenset(found)

    @cached_property
    def _removed_ends(self) -> Mapping[str, list[Commit]]:
        found: dict[str, list[Commit]] = defaultdict(list)
        for path, removal in self.removals.items():
            parts = path.split("/")
            for at in range(1, len(parts)):
                found["/".join(parts[at:])].append(removal)
        return found

    @cached_property
    def _removed_folders(self) -> Mapping[str, list[Commit]]:
        """What was in each folder, which is named from the top or from any folder on."""
        found: dict[str, list[Commit]] = defaultdict(list)
        for path, removal in self.removals.items():
            parts = path.split("/")[:-1]
            for at in range(len(parts)):
                for upto in range(at + 1, len(parts) + 1):
                    found["/".join(parts[at:upto])].append(removal)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name in self.names:
            found[posixpath.basename(name)].append(name)
        return found

    def _find_removed_folder(self, path: str) -> Commit | None:
        inside = self._removed_folders.get(path, [])
        inside = [each for each in inside if each.path.startswith(f"{path}/")] or inside
        if not inside:
            return None
        last = max(inside, key=lambda removal: removal.at)
        return last._replace(path=path, moved_to=self._find_moved_folder(path, inside))

    def _find_moved_folder(self, path: str, inside: list[Commit]) -> str:
        """Return the one folder where what was in another is now, in the same order; or ""."""
        found = set()
        for removal in inside:
            rest = removal.path.rpartition(f"{path}/")[2]
            to = self._follow(removal).moved_to
            found.add(to.removesuffix(f"/{rest}") if to.endswith(f"/{rest}") else "")
        return found.pop() if len(found) == 1 else ""

    def _follow(self, removal: Commit) -> Commit:
        """Return a removal with the place where its file is now."""
        to = removal.moved_to
        for _ in range(_MOVES):
            if not to or to in self._all:
                break
            to = self.removals[to].moved_to if to in self.removals else ""
        return removal._replace(moved_to=to if to in self._all else "")

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self.names)
