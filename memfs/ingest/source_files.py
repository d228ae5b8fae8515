"""The files of a data source: what is in its folders, and what is left out by its rules.

No link is followed, and nothing is opened but files of rules: `.gitignore` and `.memfsignore`.
"""

from __future__ import annotations

import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from memfs import files
from memfs.files.signatures import Signature
from memfs.store.data_sources import COMMITS, DataSource

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

RULE_FILES = (".memfsignore", ".gitignore")  # the stronger first
_MOST = 256 << 10  # bytes of a file of rules
_MOST_STARS = 3  # of a part of a pattern, and folders that it leaves open: more could take minutes
_STARS = re.compile(r"\*+")
_ODD_SET = re.compile(r"\[[^\]]*(?:\[|--|&&|~~|\|\|)")  # Python may come to read it in another way


class PathRules:
    """Patterns for the paths below `folder`; without it, for names below the top of a source.

    `key` tells them from others.
    """

    def __init__(self, lines: Iterable[str], folder: str = "") -> None:
        used = [line for line in lines if _is_quick(line) and _is_pattern(line)]
        self.key = f"{zlib.crc32(repr(used).encode('utf-8', 'replace')):x}"
        self._start = len(folder) + 1 if folder else 0
        self._spec = _compile(used) if used else None

    def decide(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Tell whether the patterns take a path, None if none of them speaks of it."""
        if not self._spec:
            return None
        return self._spec.check_file(path[self._start :] + "/" * is_folder).include

    def matches(self, path: str, *, is_folder: bool = False) -> bool:
        """Tell whether the patterns take a path."""
        return bool(self.decide(path, is_folder=is_folder))


def read_rules(folder: str) -> list[PathRules]:
    """Return the rules of a folder's files of rules; what `.memfsignore` says comes first."""
    found = []
    for name in RULE_FILES:
        path = f"{folder}/{name}"
        if not os.path.lexists(path):  # as in most folders
            continue
        try:
            text = files.read(path, _MOST) or ""
        except OSError:
            continue
        found.append(PathRules(text.splitlines(), folder))
    return found


def is_ignored(rules: Iterable[PathRules], path: str, *, is_folder: bool) -> bool:
    """Tell what the first rules that speak of a path say of it."""
    for each in rules:
        found = each.decide(path, is_folder=is_folder)
        if found is not None:
            return found
    return False


def rules_above(folder: str) -> list[PathRules]:
    """Return the rules that a repository has above a folder in it, the nearest first."""
    found: list[PathRules] = []
    while not os.path.lexists(f"{folder}/.git"):
        below, folder = folder, os.path.dirname(folder)
        if folder == below:
            return []  # in no repository
        found += read_rules(folder)
    return found


def _compile(lines: list[str]) -> GitIgnoreSpec:
    import pathspec  # 15 ms, which a state without patterns needs not

    return pathspec.GitIgnoreSpec.from_lines(lines)


def _is_quick(line: str) -> bool:
    parts = line.split("/")
    most = max(len(_STARS.findall(part)) for part in parts)
    return most <= _MOST_STARS >= parts.count("**") and not _ODD_SET.search(line)


def _is_pattern(line: str) -> bool:
    try:
        _compile([line])
    except (ValueError, re.error):
        return False
    return True


LARGEST, LARGEST_PDF = 2_000_000, 50_000_000  # bytes
DEEPEST = 32  # levels of folders
PDF = ".pdf"
_SETTLED = 2_000_000_000  # nanoseconds
_UNTOLD = (".git", *RULE_FILES)

HIDDEN = "hidden"
IGNORED = "by .gitignore or .memfsignore"
UNMATCHED = "excluded by the patterns of the source"
LINK = "a link that leads out of the source"
ODD = "not a regular file"
DEEP = f"more than {DEEPEST} folders deep"
LARGE = "larger than 2 MB (a PDF: 50 MB)"


class SourceFile(NamedTuple):
    """A file of a source, its signature, and when it or its mode changed (nanoseconds)."""

    path: str
    signature: Signature
    changed: int


class FolderListing(NamedTuple):
    """What counts in a folder: files, folders, and what is left out by reason.

    It holds as long as the folder was not modified (nanoseconds), under the rules of `key`.
    """

    modified: int
    key: str
    names: list[str]
    below: list[str]
    left: dict[str, int]


class SourceWalk:
    """What is in a source: its `files`, and what is `left` out, by reason; a folder counts once.

    `missing` are paths of the source that do not exist, `unreadable` folders with the reason.
    `stamp` is a text that changes whenever one of these, or a file, does. `listings` are what the
    next walk is given: matching rules takes longer than all else.
    """

    def __init__(self, source: DataSource, known: Mapping[str, FolderListing]) -> None:
        self.files: list[SourceFile] = []
        self.left: Counter[str] = Counter()
        self.missing: list[str] = []
        self.unreadable: dict[str, str] = {}
        self.listings: dict[str, FolderListing] = {}
        self._known = known
        self._is_ruled = source.kind != COMMITS  # a log is in a folder that git ignores
        self._start = len(source.top) + 1
        self._globs = PathRules(source.globs) if source.globs else None
        self._excludes = PathRules(source.excludes)
        for path in source.paths:
            self._add_root(path)
        left = (sorted(self.left.items()), self.missing, sorted(self.unreadable.items()))
        lines = [
            repr(left),
            *(f"{each.path} {each.signature} {each.changed}" for each in self.files),
        ]
        data = "\n".join(lines).encode("utf-8", "surrogateescape")
        self.stamp = blake2b(data, digest_size=16).hexdigest()

    def _add_root(self, path: str) -> None:
        try:
            status = os.lstat(path)
        except OSError:
            self.missing.append(path)
            return
        if status.st_mode & files.KIND != files.FOLDER:
            self._add_file(path, status)
            return
        above = rules_above(path) if self._is_ruled else []
        rules = [each for each in above if each.decide(path, is_folder=True) is None]
        waiting = [(path, rules, DEEPEST)]
        while waiting:
            folder, above, levels = waiting.pop()
            try:
                listing, inner = self._list_folder(folder, path, above, levels)
            except OSError as error:
                self.unreadable[folder] = f"cannot be read ({error.strerror})"
                continue
            self.listings[folder] = listing
            self.left.update(listing.left)
            for name in listing.names:
                try:
                    self._add_file(f"{folder}/{name}", os.lstat(f"{folder}/{name}"))
                except OSError:  # it is gone
                    continue
            waiting += [(f"{folder}/{name}", inner, levels - 1) for name in listing.below[::-1]]

    def _list_folder(
        self, folder: str, root: str, above: list[PathRules], levels: int
    ) -> tuple[FolderListing, list[PathRules]]:
        modified = os.lstat(folder).st_mtime_ns
        rules = [*read_rules(folder), *above]
        key = f"{levels} {'|'.join(each.key for each in rules)}"
        known = self._known.get(folder)
        if known and (known.modified, known.key) == (modified, key):
            return known, rules
        if time.time_ns() - modified < _SETTLED:  # it may change once more within this time
            modified = 0
        listing = FolderListing(modified, key, [], [], {})
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                reason = self._match_entry(entry, root, rules, levels)
                if reason:
                    listing.left[reason] = listing.left.get(reason, 0) + 1
                elif entry.name[0] != "." and not entry.is_symlink():
                    is_folder = entry.is_dir(follow_symlinks=False)
                    (listing.below if is_folder else listing.names).append(entry.name)
        return listing, rules

    def _match_entry(
        self, entry: os.DirEntry[str], root: str, rules: list[PathRules], levels: int
    ) -> str:
        """Return why an entry is left out, "" for one that counts, or that is not worth a word."""
        if entry.name[0] == ".":
            return "" if entry.name in _UNTOLD else HIDDEN
        if entry.is_symlink():
            return "" if files.is_below(os.path.realpath(entry.path), root) else LINK
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_ignored(rules, entry.path, is_folder=is_folder):
            return IGNORED
        name = entry.path[self._start :]
        if self._excludes.matches(name, is_folder=is_folder):
            return UNMATCHED
        if is_folder:
            return DEEP if levels <= 1 else ""
        return UNMATCHED if self._globs and not self._globs.matches(name) else ""

    def _add_file(self, path: str, status: os.stat_result) -> None:
        if status.st_mode & files.KIND != files.FILE:
            self.left[ODD] += 1
        elif status.st_size > (LARGEST_PDF if path.lower().endswith(PDF) else LARGEST):
            self.left[LARGE] += 1
        else:
            self.files.append(SourceFile(path, Signature(status), status.st_ctime_ns))
