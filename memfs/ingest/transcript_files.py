"""The files of assistants' transcripts: which they are, and whose sessions are in them."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import BinaryIO, TypeAlias

from memfs import hosts
from memfs.core.records import Identity
from memfs.files import outside
from memfs.hosts.transcript_files import COMPRESSED, list_files

Sessions: TypeAlias = "Mapping[str, list[tuple[str, Identity]]]"

UNKNOWN = "not a transcript of a known assistant"
EMPTY = "empty"
PACKED = "compressed: unpack a copy with zstd -d, then run memfs ingest FILE"
UNREADABLE = "cannot be read"
_HEAD_LINES = 200  # that are looked at to tell whose transcript a file is
_HEAD_BYTES = 4096  # that tell whether it is a file with several sessions
_BUFFER = 32 << 10  # bytes: mostly all that is looked at, once
_LONGEST_HEAD = 64 << 20  # bytes of them


def side_chains(path: str) -> list[str]:
    """List the transcripts of a session's subagents, which Claude Code keeps in a folder beside."""
    folder = f"{path.removesuffix('.jsonl')}/subagents"
    try:
        return sorted(list_files(folder, "", ".jsonl"))
    except ValueError:  # a null byte in a path that a host gave
        return []


def measure_size(paths: list[str]) -> int:
    """Return the total size of the files in bytes."""
    total = 0
    for path in paths:
        with suppress(OSError, ValueError):
            total += os.path.getsize(path)
    return total


def find(paths: list[str]) -> list[str]:
    """List the files, and in folders those that are named like transcripts, oldest first."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in os.walk(path):
                found.extend(
                    f"{folder}/{name}" for name in names if is_transcript_name(f"{folder}/{name}")
                )
        else:
            found.append(path)
    return sorted(dict.fromkeys(found), key=lambda path: (_get_modified_at(path), path))


def is_transcript_name(path: str) -> bool:
    """Tell whether a file is named like a transcript."""
    folder, name = os.path.split(path)
    if name.endswith((".jsonl", COMPRESSED)) or name == ".aider.chat.history.md":
        return True
    if name.endswith(".db") and name.removesuffix(".db") in hosts.COLLECTIONS:
        return True
    if name.endswith(".json"):  # Gemini's, until 2026
        return name.startswith("session-")
    return name.endswith(".md") and folder.endswith("/.specstory/history")


def identify_files(
    paths: list[str], tick: Callable[[int], object]
) -> tuple[dict[str, list[tuple[str, Identity]]], list[tuple[str, str]]]:
    """Return (host, identity) of the sessions by file, and (path, reason) of the other files."""
    found, others = {}, []
    for path in paths:
        tick(1)
        try:
            some = sessions(path, "")
            if some:
                found[path] = some
            else:
                others.append((path, explain(path)))
        except OSError as error:
            others.append((path, error.strerror or UNREADABLE))
    return found, others


def explain(path: str) -> str:
    """Return why a file without a session is skipped. Raises `OSError`."""
    if path.endswith(COMPRESSED):
        return PACKED
    return UNKNOWN if os.path.getsize(path) else EMPTY


def is_transcript(path: str) -> bool:
    """Tell whether a file is a transcript of an assistant that is known."""
    try:
        return bool(sessions(path, ""))
    except OSError:
        return False


def _first_lines(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the first lines of a file in full: a pasted log makes one very long."""
    handle.seek(0)
    left = _LONGEST_HEAD
    for _ in range(_HEAD_LINES):
        line = handle.readline(left)
        left -= len(line)
        if not line:
            return
        yield line


def sessions(path: str, project: str, session: str = "") -> list[tuple[str, Identity]]:
    """List the sessions in a file as (host, identity).

    Where it has many: those of a project, or the one that is named.
    """
    with outside.open_stream(path, _BUFFER) as handle:
        head = handle.read(_HEAD_BYTES)
        for name in hosts.COLLECTIONS:
            found = hosts.collection(name).sessions(path, head, project, session)
            if found:
                return [(name, identity) for identity in found]
        for name in hosts.READERS:
            identity = hosts.reader(name).identify(_first_lines(handle), path)
            if identity:
                return [(name, identity)]
    return []


def _get_modified_at(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0
