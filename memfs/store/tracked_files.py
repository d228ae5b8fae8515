"""What git has of files, and which of them differ: bytes are compared here, no filter runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memfs import files
from memfs.core.escaping import make_plain
from memfs.files import logs, trees
from memfs.store import commits, git

LARGEST = 64 << 20  # bytes of a file that is compared; a larger one differs
_UNSAID = ("unspecified", "unset", "")


class TrackedFile(NamedTuple):
    """A file as git has it: its mode, the id of its text, and whether a checkout leaves it out."""

    mode: str
    blob: str
    sparse: bool = False


def read_committed(folder: str, paths: Sequence[str]) -> dict[str, TrackedFile] | None:
    """Return the files of the checked-out commit below `folder`, by name; None outside git."""
    listed = git.run(folder, "ls-tree", "-r", "-z", "HEAD", paths=paths)
    if listed is None:  # there is no commit yet, or git has nothing to say
        return None if git.run(folder, "rev-parse", "--git-dir") is None else {}
    before = git.prefix(folder)
    found = {}
    for line in listed.split("\0")[:-1]:
        entry, _, name = line.partition("\t")
        mode, _, blob = entry.split(" ", 2)
        found[name.removeprefix(before)] = TrackedFile(mode, blob)
    return found


def read_staged(
    folder: str, paths: Sequence[str], index: str = ""
) -> dict[str, TrackedFile] | None:
    """Return the files of an index below `folder`, by name; one in conflict has no blob."""
    listed = git.run(folder, "ls-files", "-z", "-s", "-v", paths=paths, index=index)
    if listed is None:
        return None
    before = git.prefix(folder)
    found = {}
    for line in listed.split("\0")[:-1]:
        entry, _, name = line.partition("\t")
        tag, mode, blob, stage = entry.split(" ", 3)
        text = blob if stage == "0" else ""
        found[name.removeprefix(before)] = TrackedFile(mode, text, tag.upper() == "S")
    return found


def list_differing(
    folder: str, paths: Sequence[str], known: Mapping[str, TrackedFile]
) -> list[str]:
    """List the files below `folder` that differ from `known`: changed, gone, or new.

    What git ignores is not new. A text with CRLF is the one that git has with LF.
    """
    there = {name for path in paths for name in _list_files(folder, path)}
    gone = {name for name, found in known.items() if name not in there and not found.sparse}
    if gone and not all(os.path.lexists(f"{folder}/{name}") for name in gone):
        left_out = read_staged(folder, paths) or {}
        gone = {name for name in gone if name not in left_out or not left_out[name].sparse}
    changed = [
        name
        for name in there
        if name in known and not _has_blob(f"{folder}/{name}", known[name].blob)
    ]
    return sorted([*gone, *changed, *git.filter_unignored(folder, there - known.keys())])


def list_dirty(folder: str, *paths: str) -> set[str] | None:
    """Return the real paths of files below `folder` that differ from HEAD; None outside git."""
    known = read_committed(folder, paths)
    if known is None:
        return None
    real = os.path.realpath(folder)
    return {os.path.join(real, name) for name in list_differing(folder, paths, known)}


def list_filters(folder: str, names: Sequence[str]) -> dict[str, str]:
    """Return the filter or encoding that changes a file's bytes on the way into git, by name.

    memfs runs no filter (git-crypt, LFS) and converts no encoding: git must not get the bytes of
    the file as they are. `unknown` where git does not tell.
    """
    attributes = git.attributes(folder, names, "filter", "working-tree-encoding")
    found = {}
    for name in names:
        for attribute, value in attributes.get(name, {"filter": "unknown"}).items():
            if value not in _UNSAID:
                found[name] = make_plain(f"{attribute}={value}")
    return found


def fix_line_ends(folder: str, name: str, data: bytes) -> bytes:
    """Return a file's bytes for git, with LF line ends where its settings say so."""
    if b"\r\n" not in data or b"\0" in data:
        return data
    attributes = git.attributes(folder, [name], "text", "eol").get(name, {})
    text, eol = attributes.get("text", "unspecified"), attributes.get("eol", "unspecified")
    if text == "unspecified" and eol in _UNSAID:
        autocrlf = (git.run(folder, "config", "--get", "core.autocrlf") or "").strip().lower()
        if autocrlf not in ("true", "yes", "on", "1", "input"):
            return data
    return data if text == "unset" else data.replace(b"\r\n", b"\n")


def _list_files(folder: str, path: str) -> list[str]:
    """List the regular files at or below a path, by name below `folder`."""
    if files.is_file(f"{folder}/{path}"):
        return [path]
    return [f"{path}/{found.name}" for found in trees.walk(f"{folder}/{path}")]


def _has_blob(path: str, blob: str) -> bool:
    """Tell whether git's id is that of a file's bytes, or of these with LF for CRLF."""
    data = logs.read_whole(path) if files.get_size(path) <= LARGEST else None
    return data is not None and commits.is_blob(files.decode(data), blob)
