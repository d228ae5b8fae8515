"""The remote of the user's own store: its address, what was synced with it, and git's side of that.

The repository is in `local/sync`. It has commits alone: no file is checked out of it, so nothing
that is pulled becomes a file, a link or a program before its name and kind were looked at.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, field
from subprocess import CompletedProcess

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import UNREADABLE, RejectedError, StoreError, UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_time
from memfs.files import atomic, trees
from memfs.store import blocks, commits, git
from memfs.store.store_paths import Store

_FOLDER = "sync"  # in `local/`
_MAIN, _SEEN = "refs/heads/main", "refs/remotes/main"
_ADDRESS = re.compile(r"(https|ssh)://[^\s/?#-][^\s/?#]*/\S+|([\w.+-]+@)?\w[\w.-]*:(?!:|//)\S+")
_PART = "[0-9A-Za-z][0-9A-Za-z_-]{0,150}"
_FILE = "[0-9A-Za-z_][0-9A-Za-z_.-]{0,200}"
_SYNCED = re.compile(
    rf"(?:blocks|static|archive)(?:/{_PART}){{0,2}}/{_FILE}\.md|prompts/{_FILE}\.md"
    rf"|facts/{_PART}\.jsonl|recall/{_PART}/{_FILE}\.(?:jsonl|forgotten)"
)
MEMORY = ("blocks", "archive", "facts", "static", "prompts")  # folders of a store that are synced
RECALL = "recall"  # if it is asked for, from `local/`
_TOGETHER = 500  # texts that git is asked for at a time


@dataclass
class SyncState:
    """What is known of the last sync. `remote` is an address without a password.

    `commit` is the last one of the remote whose files are all here; `pending` is made of it and
    what was here, and may have been pushed. `files` are the times (in nanoseconds) of the files
    that were here then, by name: what is missing of them was deleted here.
    """

    remote: str
    sessions: bool = False
    commit: str = ""
    pending: str = ""
    at: str = ""
    files: dict[str, int] = field(default_factory=dict)


def get_folder(store: Store) -> str:
    """Return the folder of the repository."""
    return f"{store.local}/{_FOLDER}"


def load_state(store: Store) -> SyncState | None:
    """Load the state; None if there is no remote."""
    try:
        state = SyncState(**json.loads(files.read(f"{get_folder(store)}/state.json") or ""))
        return state if isinstance(state.files, dict) and isinstance(state.remote, str) else None
    except UNREADABLE:
        return None


def save_state(store: Store, state: SyncState) -> None:
    """Save the state, durably. The caller holds the lock of the sync."""
    path = f"{get_folder(store)}/state.json"
    atomic.write(path, json.dumps(asdict(state)), private=True, locked=True)


def remove(store: Store) -> bool:
    """Forget the remote, which stays as it is; tell whether there was one."""
    known = files.remove(f"{get_folder(store)}/state.json")
    if files.is_folder(get_folder(store)):
        trees.remove_whole(get_folder(store))
    return known


def make_repository(store: Store) -> str:
    """Make the repository if there is none; return its folder."""
    folder = get_folder(store)
    files.make_folder(folder, private=True)
    if not files.is_file(f"{folder}/.git/HEAD") and not git.make(folder):
        raise StoreError("git is not on the PATH", "install git")
    return folder


def parse_address(text: str) -> str:
    """Return the address of a remote as git takes it; of a folder, its real path.

    Raises `RejectedError` for one with a password, and `UsageError` for what is no address.
    """
    from memfs.secrets import find_secrets  # heavy, and `memfs status` has no need of it

    if re.match(r"[a-z+]+://[^/@]*:[^/@]*@", text) or find_secrets(text):
        raise RejectedError(
            "the address holds a password, and memfs stores none",
            "leave it out, and let a credential helper of git or an SSH key answer for it",
        )
    if _ADDRESS.fullmatch(text):
        return text
    path = os.path.expanduser(text.removeprefix("file://"))
    if "/" not in path or "::" in path or "://" in path or not text.isprintable():
        raise UsageError(
            f"{flatten_text(text)!r} is no address of a repository",
            "give https://HOST/PATH, ssh://HOST/PATH, USER@HOST:PATH, or a folder",
        )
    folder = os.path.realpath(path)
    if not os.path.isdir(os.path.dirname(folder)):
        raise UsageError(f"there is no folder {os.path.dirname(folder)}")
    return folder


def fetch(store: Store, url: str) -> str:
    """Fetch what the remote has; return its commit, "" for an empty one. Raises `StoreError`."""
    folder = make_repository(store)
    if _is_missing(url):
        return ""
    listed = _ask(folder, url, "ls-remote", "--heads").stdout.decode("utf-8", "replace")
    heads = dict(line.split("\t")[::-1] for line in listed.splitlines() if line.count("\t") == 1)
    head = heads.get(_MAIN, "")
    if heads and not head:
        names = ", ".join(name.removeprefix("refs/heads/") for name in sorted(heads)[:3])
        raise StoreError(
            f"{url} has no branch main, but others: {flatten_text(names)}",
            "name an empty repository, or one that memfs sync user made",
        )
    if head and head != _read_reference(folder):
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
        _ask(folder, url, *words, "--no-recurse-submodules", references=[f"+{_MAIN}:{_SEEN}"])
        head = _read_reference(folder)
    return head


def push(store: Store, url: str, commit: str, seen: str) -> bool:
    """Push a commit upon the one that was seen; False if the remote has another one by now.

    Raises `StoreError` where it refuses.
    """
    folder = get_folder(store)
    git.run(folder, "update-ref", _MAIN, commit)
    if _is_missing(url):
        files.make_folder(url, private=True)
        git.make(url, bare=True)
    try:
        words = ("push", "--quiet", "--no-recurse-submodules")
        _ask(folder, url, *words, references=[f"{commit}:{_MAIN}"])
    except StoreError as error:
        if fetch(store, url) not in (seen, commit):
            return False
        hint = "what came in is here, nothing is lost: mend that, and run memfs sync user again"
        raise StoreError(f"nothing was sent: {error.message}", hint) from None
    git.run(folder, "update-ref", _SEEN, commit)
    return True


def _is_missing(url: str) -> bool:
    """Tell whether a remote is a folder that the first push makes a repository."""
    if not url.startswith("/"):
        return False
    return not os.path.lexists(url) or (files.is_folder(url) and not files.entries(url))


def _ask(
    folder: str, url: str, *words: str, references: list[str] | None = None
) -> CompletedProcess[bytes]:
    done = git.ask_remote(folder, url, *words, references=references or ())
    if done.returncode:
        from memfs.secrets import redact  # likewise

        lines = done.stderr.decode("utf-8", "replace").splitlines()
        said = [line for line in lines if line.strip() and not line.startswith("hint:")]
        why = re.sub(r"//[^/@\s]*@", "//", redact(flatten_text("; ".join(said[:3]))))
        raise StoreError(
            f"git cannot {words[0]} with {url}: {why or 'it gave no reason'}",
            f"try it with git alone: git ls-remote {url}; git asks for no password here",
        )
    return done


def _read_reference(folder: str) -> str:
    return (git.run(folder, "rev-parse", "--verify", "--quiet", _SEEN) or "").strip()


def is_before(folder: str, commit: str, head: str) -> bool:
    """Tell whether a commit is a known one, and `head` or before it."""
    found = git.run(folder, "rev-list", "--max-count=1", commit, f"^{head}") if head else None
    return bool(commit) and found == ""


def read_tree(folder: str, commit: str) -> tuple[dict[str, str], list[str]]:
    """Return the files of memory in a commit, by name with git's id, and the names of all else."""
    listed = git.run(folder, "ls-tree", "-r", "-z", commit) if commit else ""
    if listed is None:
        raise StoreError(
            f"{folder} lacks a part of the commit {commit[: commits.SHORT]}",
            "fetch it anew: memfs sync user --remove, then again with --remote",
        )
    found, others = {}, []
    for line in listed.split("\0")[:-1]:
        entry, _, name = line.partition("\t")
        mode, _, blob = entry.split(" ", 2)
        if mode.startswith("100") and is_synced(name):
            found[name] = blob
        else:
            others.append(name)
    return found, others


def read_texts(folder: str, blobs: list[str]) -> dict[str, bytes]:
    """Return the texts of these ids; one of more than 64 MB is left out."""
    found: dict[str, bytes] = {}
    for at in range(0, len(blobs), _TOGETHER):
        some = commits.read_blobs(folder, blobs[at : at + _TOGETHER])
        found |= {blob: files.encode(text) for blob, text in some.items()}
    for blob in blobs:
        if blob not in found:  # it is larger than most
            text = git.run(folder, "cat-file", "blob", blob)
            found |= {} if text is None else {blob: files.encode(text)}
    return found


def is_synced(name: str) -> bool:
    """Tell whether a name is one that memfs gives a file of memory: nothing else is synced."""
    if not _SYNCED.fullmatch(name):
        return False
    kind, _, rest = name.partition("/")
    if kind == "blocks":
        return blocks.is_block_file(rest) and not labels.problem(rest.removesuffix(blocks.SUFFIX))
    return kind != "static" or not labels.problem(rest.removesuffix(".md"))


def get_path(store: Store, name: str) -> str:
    """Return where a file of memory is here."""
    return f"{store.local if name.startswith(f'{RECALL}/') else store.root}/{name}"


def list_files(store: Store, *, sessions: bool) -> tuple[dict[str, int], dict[str, str]]:
    """Return the files of memory here with their times, and the others with why they stay here.

    Raises `StoreError` for a folder that cannot be read: its files would count as deleted.
    """
    found: dict[str, int] = {}
    others: dict[str, str] = {}

    def leave_out(path: str, why: object) -> None:
        if "cannot be read" in str(why):
            raise StoreError(f"{path} {why}", "nothing was synced: see what is there")
        others[os.path.relpath(path, store.root)] = str(why)

    for folder in (*MEMORY, RECALL) if sessions else MEMORY:
        above = store.local if folder == RECALL else store.root
        for path, inner in trees.walk(f"{above}/{folder}", left_out=leave_out):
            name = f"{folder}/{inner}"
            status = files.status(path)
            if status is None or os.path.basename(name).startswith("."):
                continue
            if not is_synced(name):
                if folder != RECALL:
                    others[name] = "memfs gives no file such a name"
            elif status.st_size > commits.LARGEST:
                others[name] = f"it is larger than {commits.LARGEST >> 20} MB"
            else:
                found[name] = status.st_mtime_ns
    return found, others


def describe_state(store: Store) -> str:
    """Say when the store was synced, and what was not since; "" without a remote. Asks no git."""
    state = load_state(store)
    if state is None:
        return ""
    try:
        now, _ = list_files(store, sessions=state.sessions)
    except StoreError as error:
        return f"{state.remote}: {error.message}"
    changed = sum(now.get(name) != state.files.get(name) for name in now | state.files)
    last = f"synced {format_time(state.at)}" if state.at else "not synced yet"
    since = f"{format_count(changed, 'file')} changed since" if changed else "in step"
    return f"{last} with {state.remote}; {since}"
