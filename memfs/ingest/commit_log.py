"""Commits: what the history of a project says, kept beside the index that is made of it.

Each file has the commits whose ids begin with the same two digits, so that a new one changes one
small file. One that says nothing to people, of a bot, say, is noted without its text: git is not
asked for it again.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from memfs import files
from memfs.files import atomic
from memfs.files.logs import JsonLog, have_type
from memfs.store import commits, git
from memfs.store.commits import CommitMessage

MOST = 20_000  # commits, the newest
_AT_ONCE = 5000  # that are read and written together
_LONGEST = 8000  # characters of a message
_LONGEST_NAME = 60
_HEAD = "head"  # the file that says up to which commit all was read
_SUFFIX = ".jsonl"
_BOT = re.compile(
    r"\[bot\]|\bbot\b|^(?:dependabot|renovate|greenkeeper|github-actions|pre-commit-ci)\b",
    re.IGNORECASE,
)
# Lines that are for programs, or name a person.
_TRAILER = re.compile(r"^(?:[A-Za-z-]+-[Bb]y|Change-Id|git-svn-id): .*$", re.MULTILINE)
_OWN = re.compile(r"^Memfs-Op: ", re.MULTILINE)  # of commits of memory itself


class LoggedCommit(NamedTuple):
    """A commit of the log; `at` is UTC in ISO 8601 or "", the text without trailers and secrets."""

    id: str
    at: str
    author: str
    text: str


def update(
    top: str, folder: str, stage: Callable[[str, int], Callable[[int], object]] | None = None
) -> None:
    """Bring the log in `folder` in line with the history of what is checked out at `top`.

    Only commits that it does not have are read. `stage` is called as in `index_sources.sync`, and
    may stop it: what was read is kept. It is, too, where git does not answer. The next run goes on.
    """
    head = git.get_head_commit(top)
    if not head or files.read(f"{folder}/{_HEAD}") == head:
        return
    try:
        wanted = commits.list_ids(top, MOST)
        if wanted is not None:
            _read_history(top, folder, wanted, stage)
            atomic.write_derived(f"{folder}/{_HEAD}", head.encode())
    except (TimeoutError, LookupError):  # the next run goes on
        return


def is_current(top: str, folder: str) -> bool:
    """Tell whether the log has all commits of what is checked out at `top`."""
    return (files.read(f"{folder}/{_HEAD}") or "") == git.get_head_commit(top)


def _decode(line: bytes) -> LoggedCommit | None:
    found = LoggedCommit(**json.loads(line))
    return found if have_type(str, *found) else None


_LOG = JsonLog(lambda each: (json.dumps(each._asdict()) + "\n").encode(), _decode)


def read(path: str, start: int = 0) -> Iterator[LoggedCommit]:
    """Yield the commits in a file of the log from byte `start` on, without those that say nothing.

    Damaged lines are left out.
    """
    return (each for each, _ in _LOG.read(path, start) if each and each.text)


def _read_history(
    top: str,
    folder: str,
    wanted: list[str],
    stage: Callable[[str, int], Callable[[int], object]] | None,
) -> None:
    files.make_folder(folder, private=True)
    known = {
        name: {each.id: each for each, _ in _LOG.read(f"{folder}/{name}") if each}
        for name in files.names(folder)
        if name.endswith(_SUFFIX) and name[0] != "."
    }
    there, listed = set().union(*known.values()), set(wanted)
    _write(folder, known, {_name_file(ident) for ident in there - listed}, listed)
    missing = [ident for ident in wanted if ident not in there]
    tick = stage("commits", len(missing)) if stage and missing else None
    for start in range(0, len(missing), _AT_ONCE):
        some = missing[start : start + _AT_ONCE]
        for message in commits.read_messages(top, some):
            known.setdefault(_name_file(message.id), {})[message.id] = _clean(message)
        _write(folder, known, set(map(_name_file, some)), listed)
        if tick:
            tick(len(some))


def _write(
    folder: str, known: dict[str, dict[str, LoggedCommit]], changed: Iterable[str], listed: set[str]
) -> None:
    for name in changed:
        lines = [_LOG.encode(each) for each in known.get(name, {}).values() if each.id in listed]
        atomic.write_derived(f"{folder}/{name}", b"".join(lines))


def _name_file(ident: str) -> str:
    return ident[:2] + _SUFFIX


def _clean(message: CommitMessage) -> LoggedCommit:
    from memfs.core.privacy import excerpt, storable  # with the secret detector

    author = storable(message.author)[:_LONGEST_NAME]
    is_noise = _BOT.search(message.author) or "[bot]" in message.mail or _OWN.search(message.text)
    text = "" if is_noise else _TRAILER.sub("", storable(excerpt(message.text, _LONGEST)))
    return LoggedCommit(message.id, message.at, author, text.strip())
