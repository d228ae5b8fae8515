"""The files that hosts keep: which of them are transcripts of a project."""

import os
from collections.abc import Iterable, Iterator
from typing import Protocol

from memfs.core.records import Identity, Transcript

BEFORE = 256 << 10
_HEAD = 256 << 10  # bytes that are searched for the folder of a session
_KEY = b'"cwd":"'  # as all of them write it
COMPRESSED = ".jsonl.zst"  # the end of the names of Codex's compressed rollouts


class Collection(Protocol):
    """Reads files that hold several sessions, such as a database."""

    def sessions(self, path: str, head: bytes, project: str, session: str = "") -> list[Identity]:
        """List the sessions in a file, each with a `mark`, those of a project ("": all).

        With `session`, only it and its subagents.

        Returns none for a file of another program, by its first bytes. Raises `OSError`.
        """

    def read_session(self, path: str, identity: Identity) -> Transcript:
        """Read the messages of one session, whole. Raises `OSError`."""


def list_files(root: str, prefix: str, suffix: str) -> Iterator[str]:
    """Yield the files below a folder whose names begin and end so."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith(prefix) and name.endswith(suffix):
                yield f"{folder}/{name}"


def list_folders(root: str) -> list[str]:
    """List the folders in a folder; none are in one that is not there."""
    try:
        return [entry.path for entry in os.scandir(root) if entry.is_dir()]
    except OSError:
        return []


def list_roots(*folders: str | None) -> list[str]:
    """Return the named folders; of several spellings of one, the first."""
    found: dict[str, str] = {}
    for folder in folders:
        if folder:
            found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def sort_by_age(paths: Iterable[str]) -> list[str]:
    """Sort files by mtime; missing ones are left out."""
    return [
        path for _, path in sorted((os.path.getmtime(p), p) for p in paths if os.path.isfile(p))
    ]


def is_inside(path: str, project: str) -> bool:
    """Return whether a path is a folder or below it ("": any), without reading the disk."""
    return not project or path == project or path.startswith((f"{project}/", f"{project}\\"))


def mentions_project(path: str, project: str) -> bool:
    """Return whether a transcript's beginning names a project or a folder below it.

    True for a transcript that names no folder, and for project "".
    """
    if not project:
        return True
    try:
        with open(path, "rb") as handle:
            head = handle.read(_HEAD)
    except OSError:
        return True  # listed, so that reading it reports the error
    needle = project.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "surrogateescape")
    ends = (b'"', b"/", b"\\")
    return _KEY not in head or any(_KEY + needle + end in head for end in ends)
