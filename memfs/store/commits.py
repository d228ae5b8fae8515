"""Commits, the texts they left, and which files differ from those of git. No filter runs."""

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from memfs import files
from memfs.core.escaping import make_plain
from memfs.files import logs, trees
from memfs.store import git

SHORT = 7  # digits of an id, as git shows it
_PATIENCE = 2  # seconds; somebody waits for an edit
_READING = 5  # seconds
_FORMAT = "%x01%H%n%aI%n%an <%ae>%n%cn <%ce>%n%s"  # none of them can have a line end
_MESSAGE = ("%H", "%aI", "%an", "%ae", "%B")


class Commit(NamedTuple):
    """What one commit did to one file.

    `at` is when it was written (UTC, ISO 8601, "" for no date), `author` "Name <mail>". `before`
    and `blob` are git's ids of the texts before (in its first parent) and after, "" for no file.
    `moved_to` is where it moved the file, "" if it did not. Paths are relative to the folder that
    was asked about. `own`: who committed it is its author.
    """

    id: str
    at: str
    author: str
    subject: str
    path: str
    blob: str
    before: str = ""
    moved_to: str = ""
    own: bool = False

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


def list_ids(folder: str, most: int, seconds: float = 60) -> list[str] | None:
    """List the newest commits up to HEAD, at most `most`, without merges; None if git fails.

    Raises `TimeoutError` after `seconds`.
    """
    words = ("rev-list", "--no-merges", f"--max-count={most}", "HEAD")
    try:
        return _ask_git(folder, words, [], b"", time.monotonic() + seconds).decode("ascii").split()
    except LookupError:
        return None


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
    words = ("--no-walk=unsorted", "--stdin", "--encoding=UTF-8", f"--format={form}%x00")
    data = "".join(f"{ident}\n" for ident in small).encode()
    out = _ask_git(folder, ("rev-list", *words), [], data, until) if small else b""
    fields = out.decode("utf-8", "replace").split("\0")
    step = len(_MESSAGE) + 1  # before each stands a line of git's own
    found = (fields[at + 1 : at + step] for at in range(0, len(fields) - step, step))
    return [CommitMessage(ident, _to_utc(at), *more) for ident, at, *more in found]


def list_touching(
    folder: str, path: str, most: int = 0, since: str = "", seconds: float = 20
) -> list[Commit]:
    """List what commits up to HEAD did to `path` (a file or folder below `folder`), newest first.

    At most `most` commits are listed, if it is given, and those after `since` alone (all, if it is
    not known any more). Merges count where they left a text that none of their parents has.
    Outside git the list is empty. Raises `TimeoutError` after `seconds`.
    """
    limit = [f"--max-count={most}"] if most else []
    upto = f"{since}..HEAD" if since else "HEAD"
    until = time.monotonic() + seconds
    try:
        listed = _ask_git(folder, ("rev-list", *limit, upto), [path], b"", until)
        return _diff(folder, [path], listed, until, "-c", "--no-renames")
    except LookupError:
        return list_touching(folder, path, most, "", seconds) if since else []


def list_everywhere(folder: str, path: str, seconds: float = 20) -> list[Commit]:
    """List what commits of all branches did to `path`, compared with each of their parents.

    Raises `TimeoutError`, and `LookupError` where git does not say.
    """
    until = time.monotonic() + seconds
    listed = _ask_git(folder, ("rev-list", "--all"), [path], b"", until)
    return _diff(folder, [path], listed, until, "-m", "--no-renames")


def list_removals(folder: str, since: str = "", seconds: float = 60) -> dict[str, Commit]:
    """Map each file that a commit up to HEAD removed or moved to the last such commit.

    With `since` those after it count. Outside git the map is empty. Raises `TimeoutError`.
    """
    until = time.monotonic() + seconds
    found: list[Commit] = []
    for moves in ("-M", "-M100%"):  # a clone without all texts has moves that changed nothing
        with suppress(LookupError):
            words = ("rev-list", f"{since}..HEAD" if since else "HEAD")
            listed = _ask_git(folder, words, [], b"", until)
            found = _diff(folder, [], listed, until, moves, "--diff-filter=DR")
            break
    return {each.path: each for each in reversed(found)}


def list_written(folder: str, steps: Iterable[tuple[str, str]]) -> list[Commit]:
    """List what commits did to the files below a folder, each compared with another one.

    Each step is (the commit before, the commit). Empty where git does not say.
    """
    revisions = [after if set(before) <= {"0"} else f"{after} {before}" for before, after in steps]
    listed = "".join(f"{line}\n" for line in revisions).encode()
    with suppress(LookupError, TimeoutError):
        return _diff(folder, ["."], listed, time.monotonic() + _READING, "--no-renames")
    return []


def _diff(
    folder: str, paths: list[str], listed: bytes, until: float, *options: str
) -> list[Commit]:
    """List the changes of files in commits that are listed by id. Raises as `_ask_git`."""
    words = ("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff")
    form = ("--no-textconv", f"--format={_FORMAT}")
    out = _ask_git(folder, (*words, *form, *options), paths, listed, until) if listed else b""
    before, found, head = git.prefix(folder), [], [""] * 5
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    for field in fields:
        line = field.lstrip("\n")
        if "\x01" in field:
            head = (field.partition("\x01")[2].split("\n") + [""] * 5)[:5]
        elif line.startswith(":"):
            parents = len(line) - len(line.lstrip(":"))  # a mode and an id of each, then the file's
            *ids, status = line.lstrip(":").split(" ")[parents + 1 :]
            blobs = ["" if set(each) <= {"0"} else each for each in ids]
            path = next(fields, "").removeprefix(before)
            to = next(fields, "").removeprefix(before) if status.startswith("R") else ""
            ident, at, author, committer, subject = head
            own = author == committer
            texts = (blobs[-1], blobs[0], to)
            found.append(Commit(ident, _to_utc(at), author, subject, path, *texts, own))
    return found


def _ask_git(
    folder: str, words: tuple[str, ...], paths: list[str], data: bytes, until: float
) -> bytes:
    """Return what git prints. Raises `TimeoutError` after `until`, `LookupError` if it failed."""
    left = max(0.01, until - time.monotonic())
    done = git.start(folder, *words, paths=paths, data=data, seconds=left)
    if done is not None and done.returncode == git.TOO_LONG:
        raise TimeoutError("git took too long")
    if done is None or done.returncode:
        raise LookupError("git did not answer")
    return done.stdout


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
    """Return the ids, of those whose kind and size git told, that are within the limits."""
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
    """Return the filter or encoding that changes a file's bytes on the way into git, by name."""
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
    if files.is_file(f"{folder}/{path}"):
        return [path]
    return [f"{path}/{found.name}" for found in trees.walk(f"{folder}/{path}")]


def _has_blob(path: str, blob: str) -> bool:
    """Tell whether git's id is that of a file's bytes, or of these with LF for CRLF."""
    data = logs.read_whole(path) if files.get_size(path) <= LARGEST else None
    return data is not None and is_blob(files.decode(data), blob)
