"""Commits: what they say, which touched memory files, who made them, the texts they left.

And which files differ from those of git: bytes are compared here, no filter runs.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from memfs import files
from memfs.core.escaping import make_plain
from memfs.files import logs, trees
from memfs.store import git

SHORT = 7  # digits of an id, as git shows it
_PATIENCE = 2  # seconds; somebody waits for an edit
_WRITERS = "%x01%an <%ae>%x02%cn <%ce>"
_FORMAT = "%x01%H%x02%aI%x02%an <%ae>%x02%s"
_MESSAGE = ("%H", "%aI", "%an", "%ae", "%B")


class Commit(NamedTuple):
    """What one commit did to one file.

    `at` is when it was written (UTC, ISO 8601), `author` "Name <mail>", `path` relative to the
    folder that was asked about, `blob` git's id of the text it left ("" where it removed the file).
    """

    id: str
    at: str
    author: str
    subject: str
    path: str
    blob: str

    @property
    def short(self) -> str:
        """The beginning of the id, as git shows it."""
        return self.id[:SHORT]


class CommitMessage(NamedTuple):
    """What one commit says. `at` is when it was written, "" where that is no date."""

    id: str
    at: str
    author: str
    mail: str
    text: str


class Removal(NamedTuple):
    """The commit that removed a file, or moved it to `moved_to`; paths from the top on."""

    path: str
    moved_to: str
    commit: str
    at: str
    subject: str


def list_ids(folder: str, most: int, seconds: float = 60) -> list[str] | None:
    """List the newest commits up to HEAD, at most `most`, without merges; None if git fails.

    Raises `TimeoutError` after `seconds`.
    """
    words = ("rev-list", "--no-merges", f"--max-count={most}", "HEAD")
    listed = _run_git(folder, words, [], b"", time.monotonic() + seconds)
    return None if listed is None else listed.decode("ascii").split()


def read_messages(folder: str, ids: Sequence[str], seconds: float = 60) -> list[CommitMessage]:
    """Return what commits say, as UTF-8; those with a message of megabytes are left out.

    Raises `TimeoutError` after `seconds`, and `LookupError` where git does not say.
    """
    if not ids:
        return []
    until = time.monotonic() + seconds
    asked = "".join(f"{ident}\n" for ident in ids).encode()
    sizes = _ask_git(folder, ("cat-file", "--batch-check"), [], asked, until)
    small = _filter_by_size(sizes, "commit")
    form = "".join(f"%x00{each}" for each in _MESSAGE)
    words = (
        "rev-list",
        "--no-walk=unsorted",
        "--stdin",
        "--encoding=UTF-8",
        f"--format={form}%x00",
    )
    data = "".join(f"{ident}\n" for ident in small).encode()
    out = _ask_git(folder, words, [], data, until) if small else b""
    fields = out.decode("utf-8", "replace").split("\0")
    step = len(_MESSAGE) + 1  # before each stands a line of git's own
    found = (fields[at + 1 : at + step] for at in range(0, len(fields) - step, step))
    return [
        CommitMessage(ident, _to_utc(at), who, mail, text) for ident, at, who, mail, text in found
    ]


def list_touching(
    folder: str, path: str, most: int = 0, since: str = "", seconds: float = 20
) -> list[Commit]:
    """List what commits up to HEAD did to `path` (a file or folder below `folder`), newest first.

    At most `most` commits are listed, if it is given, and those after `since` alone (all, if it is
    not known any more). Merges count where they left a text that none of their parents has.
    Outside git the list is empty. Raises `TimeoutError` after `seconds`: a long history that
    hardly touched the path takes its time.
    """
    limit = [f"--max-count={most}"] if most else []
    upto = f"{since}..HEAD" if since else "HEAD"
    until = time.monotonic() + seconds
    listed = _run_git(folder, ("rev-list", *limit, upto), [path], b"", until)
    if listed is None:
        return list_touching(folder, path, most, "", seconds) if since else []
    try:
        return list(_diff(folder, path, "-c", listed, until))
    except LookupError:
        return []


def list_everywhere(folder: str, path: str, seconds: float = 20) -> list[Commit]:
    """List what commits of all branches did to `path`, compared with each of their parents.

    Raises `TimeoutError`, and `LookupError` where git does not say.
    """
    until = time.monotonic() + seconds
    listed = _ask_git(folder, ("rev-list", "--all"), [path], b"", until)
    return list(_diff(folder, path, "-m", listed, until))


def _diff(folder: str, path: str, merges: str, listed: bytes, until: float) -> Iterator[Commit]:
    """Yield the changes of `path` in commits listed by id; `merges` is diff-tree's option.

    Raises as `_ask_git`.
    """
    words = (
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-z",
        merges,
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        f"--format={_FORMAT}",
    )
    out = _ask_git(folder, words, [path], listed, until) if listed else b""
    before = git.prefix(folder)
    for commit in _parse(out.decode("utf-8", "surrogateescape")):
        yield commit._replace(path=commit.path.removeprefix(before))


def list_removals(folder: str, since: str = "", seconds: float = 60) -> dict[str, Removal]:
    """Map each file that a commit up to HEAD removed or moved to the last such commit.

    With `since` those after it count. Paths are relative to the top of the working tree. Outside
    git the map is empty. Raises `TimeoutError` after `seconds`.
    """
    until = time.monotonic() + seconds
    listed = _run_git(folder, ("rev-list", f"{since}..HEAD" if since else "HEAD"), [], b"", until)
    if not listed:
        return {}
    words = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--diff-filter=DR", "--no-ext-diff")
    tail = ("--no-textconv", f"--format={_FORMAT}")
    out = _run_git(folder, (*words, "-M", *tail), [], listed, until)
    if out is None:  # a clone without all texts: moves that changed nothing are seen
        out = _run_git(folder, (*words, "-M100%", *tail), [], listed, until) or b""
    found: dict[str, Removal] = {}
    head = ["", "", "", ""]
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    for field in fields:
        start = field.find("\x01")
        if start >= 0:
            head = (field[start + 1 :].split("\x02", 3) + head)[:4]
        elif field.lstrip("\n").startswith(":"):
            path = next(fields, "")
            to = next(fields, "") if field.rpartition(" ")[2].startswith("R") else ""
            found.setdefault(path, Removal(path, to, head[0], _to_utc(head[1]), head[3]))
    return found


def _run_git(
    folder: str, words: tuple[str, ...], paths: list[str], data: bytes, until: float
) -> bytes | None:
    """Run git; return its output, None if it failed. Raises `TimeoutError` after `until`."""
    left = max(0.01, until - time.monotonic())
    done = git.start(folder, *words, paths=paths, data=data, seconds=left)
    if done is not None and done.returncode == git.TOO_LONG:
        raise TimeoutError("git takes too long")
    return None if done is None or done.returncode else done.stdout


def _ask_git(
    folder: str, words: tuple[str, ...], paths: list[str], data: bytes, until: float
) -> bytes:
    """Run git as `_run_git` does; raises `LookupError` if it failed."""
    out = _run_git(folder, words, paths, data, until)
    if out is None:
        raise LookupError("git does not answer")
    return out


def list_written(folder: str, steps: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield (path, blob before, blob after) of the files below a folder that commits changed.

    Each step is (the commit before, the commit); one whose author is not who committed it is left
    out. The blobs are "" where there is no file, the path is relative to the folder.
    """
    revisions = [after if set(before) <= {"0"} else f"{after} {before}" for before, after in steps]
    out = git.run(
        folder,
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        f"--format={_WRITERS}",
        paths=["."],
        data="".join(f"{line}\n" for line in revisions).encode(),
    )
    own, top = False, git.prefix(folder)
    fields = iter((out or "").split("\0"))
    for field in fields:
        if field.startswith("\x01"):
            author, _, committer = field[1:].strip("\n").partition("\x02")
            own = author == committer
        elif field.lstrip("\n").startswith(":"):
            words = field.split(" ")
            before, after = ("" if set(each) <= {"0"} else each for each in words[2:4])
            path = next(fields, "").removeprefix(top)
            if own:
                yield path, before, after


def get_time(folder: str, commit: str) -> str:
    """Return when a commit was written (UTC, ISO 8601), "" if git does not know it."""
    shown = git.run(folder, "rev-list", "--max-count=1", "--format=%aI", commit) or ""
    return _to_utc(shown.rstrip("\n").rpartition("\n")[2])  # the first line is the id


def read_file(folder: str, commit: str, path: str) -> str | None:
    """Return the text that a file below a folder has in a commit, None if there is none."""
    return git.run(folder, "cat-file", "blob", f"{commit}:{git.prefix(folder)}{path}")


def filter_existing(folder: str, blobs: Sequence[str]) -> set[str]:
    """Return those ids under which git has an object."""
    if not blobs:
        return set()
    request = "\n".join(blobs).encode() + b"\n"
    output = git.run(folder, "cat-file", "--batch-check", data=request) or ""
    return {line.split(" ")[0] for line in output.splitlines() if not line.endswith(" missing")}


def tree(folder: str, commit: str, below: str) -> dict[str, str]:
    """Map the files that a commit has below a path in a folder to the ids of their texts."""
    found = read_committed(folder, [below], commit) or {}
    return {name: each.blob for name, each in found.items()}


def read_blobs(folder: str, blobs: Iterable[str]) -> dict[str, str]:
    """Return the texts that git has under these ids; those it does not have are left out.

    So are those larger than any file of a store, and those above the limit of all together: a small
    packed object may be a very large text.
    """
    request = "".join(f"{blob}\n" for blob in dict.fromkeys(blobs) if blob).encode()
    sizes = git.start(folder, "cat-file", "--batch-check", data=request) if request else None
    available = _filter_by_size(sizes.stdout if sizes else b"", "blob")
    if not available:
        return {}
    done = git.start(folder, "cat-file", "--batch", data="\n".join(available).encode() + b"\n")
    data = done.stdout if done else b""  # what came before a failure counts
    found: dict[str, str] = {}
    position = 0
    for blob in available:
        end = data.find(b"\n", position)
        words = data[position:end].split()
        position = end + 1
        if len(words) == 3 and words[1] == b"blob":
            size = int(words[2])
            found[blob] = data[position : position + size].decode("utf-8", "surrogateescape")
            position += size + 1
    return found


def _filter_by_size(sizes: bytes, wanted: str) -> list[str]:
    """Return the ids, of those whose kind and size git told, that are within the limits.

    The limits are those of each, and of all together.
    """
    found, left = [], git.LARGEST_OUTPUT
    for line in sizes.decode().splitlines():
        ident, kind, size = (*line.split(" "), "")[:3]
        cost = int(size) + len(line) + 2 if kind == wanted else left + 1
        if int(size or 0) <= files.READ_CAP and cost <= left:
            found.append(ident)
            left -= cost
    return found


def blob_id(data: bytes, length: int) -> str:
    """Return git's id of a text, of 40 or 64 digits."""
    make = hashlib.sha256 if length == 64 else hashlib.sha1
    return make(b"blob %d\0" % len(data) + data).hexdigest()


def blob_ids(text: str, length: int) -> set[str]:
    """Return git's ids of a text, of 40 or 64 digits; `core.autocrlf` may change line ends."""
    return {blob_id(files.encode(form), length) for form in {text, text.replace("\r\n", "\n")}}


def is_blob(text: str, blob: str) -> bool:
    """Tell whether git's id is that of a text."""
    return blob in blob_ids(text, len(blob))


def source(path: str, text: str | None) -> Commit | None:
    """Return the commit that a file's text is from, None if there is none or git is too slow."""
    folder, name = os.path.split(path)
    try:
        found = list_touching(folder, name, 1, seconds=_PATIENCE)
    except TimeoutError:
        return None
    for commit in found:
        if not commit.blob if text is None else is_blob(text, commit.blob):
            return commit
    return None


def _parse(out: str) -> Iterator[Commit]:
    head = ["", "", "", ""]
    fields = iter(out.split("\0"))
    for field in fields:
        start = field.find("\x01")
        if start >= 0:
            parts = field[start + 1 :].split("\x02", 3)
            head = parts if len(parts) == 4 else ["", "", "", ""]
            continue
        line = field.lstrip("\n")
        if not line.startswith(":"):
            continue
        parents = len(line) - len(line.lstrip(":"))
        words = line.lstrip(":").split(" ")
        blob = words[2 * parents + 1] if len(words) > 2 * parents + 1 else ""
        path = next(fields, "")
        yield Commit(
            head[0], _to_utc(head[1]), head[2], head[3], path, "" if set(blob) <= {"0"} else blob
        )


def _to_utc(text: str) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):  # a commit may claim any date
        return ""


LARGEST = 64 << 20  # bytes of a file that is compared; a larger one differs
_UNSAID = ("unspecified", "unset", "")


class TrackedFile(NamedTuple):
    """A file as git has it: its mode, the id of its text, and whether a checkout leaves it out."""

    mode: str
    blob: str
    sparse: bool = False


def read_committed(
    folder: str, paths: Sequence[str], commit: str = "HEAD"
) -> dict[str, TrackedFile] | None:
    """Return the files of a commit below `folder`, by name; None outside git."""
    listed = git.run(folder, "ls-tree", "-r", "-z", commit, paths=paths)
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
    return data is not None and is_blob(files.decode(data), blob)
