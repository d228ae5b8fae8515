"""What git makes of a settings file: whether a commit takes it in, and how to keep it out."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from memfs import files
from memfs.core import changes
from memfs.files import atomic, outside
from memfs.store import git

TRACKED = "tracked by git"
UNTRACKED = "not ignored by git"
_SPECIAL = re.compile(r"([\\*?\[ ])")  # in a pattern of git


class GitExclude(NamedTuple):
    """An edit of `.git/info/exclude`, which nobody else sees: a line for one file."""

    path: str
    before: str
    after: str

    def diff(self) -> str:
        return changes.format_diff(self.before, self.after, self.path, self.path)

    def write(self) -> None:
        files.make_folder(os.path.dirname(self.path))
        atomic.write(self.path, self.after)


def describe(path: str) -> str:
    """Return why a commit takes a file in: `TRACKED` or `UNTRACKED`; "" if none does."""
    folder, name = os.path.split(path)
    if git.run(folder, "ls-files", "-s", paths=[name]):
        return TRACKED
    done = git.start(folder, "check-ignore", "-q", paths=[name])
    return "" if done is None or done.returncode == 0 else UNTRACKED


def plan_exclude(path: str) -> GitExclude | None:
    """Plan the line that keeps a file out of commits; None where none is needed, or helps."""
    folder, name = os.path.split(path)
    if describe(path) != UNTRACKED or git.foreign_part(folder):
        return None
    common = (git.run(folder, "rev-parse", "--git-common-dir") or "").rstrip("\n")
    if not common:
        return None
    exclude = os.path.join(str(git.top_level(folder)), common, "info/exclude")
    text, size = outside.beginning(exclude, files.READ_CAP, 0)
    before = text or ""
    line = "/" + _SPECIAL.sub(r"\\\1", git.prefix(folder) + name)
    if os.path.islink(exclude) or size > files.READ_CAP or "\n" in line:
        return None
    if line in before.split("\n"):  # a .gitignore takes it in again
        return None
    gap = "" if not before or before.endswith("\n") else "\n"
    return GitExclude(exclude, before, f"{before}{gap}{line}\n")
