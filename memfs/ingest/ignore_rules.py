"""Patterns as in `.gitignore`: of a source's configuration, and of the files in its folders."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable

import pathspec

from memfs import files

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
        self._spec = pathspec.GitIgnoreSpec.from_lines(used)

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


def _is_quick(line: str) -> bool:
    parts = line.split("/")
    most = max(len(_STARS.findall(part)) for part in parts)
    return most <= _MOST_STARS >= parts.count("**") and not _ODD_SET.search(line)


def _is_pattern(line: str) -> bool:
    """Tell whether a line can be read as a pattern."""
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
