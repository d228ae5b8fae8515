"""The remote of the user's own store, and the repository in `local/sync` that talks to it.

No file is checked out there: nothing that is pulled becomes one before its name and kind are known.
"""

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from subprocess import CompletedProcess

from memfs import files
from memfs.core.errors import UNREADABLE, RejectedError, StoreError, UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_time
from memfs.files import atomic, logs, trees
from memfs.store import commits, git
from memfs.store.store_paths import Store

_FOLDER = "sync"  # in `local/`
_MAIN, _SEEN = "refs/heads/main", "refs/remotes/main"
_ADDRESS = r"(https|ssh)://[^\s/?#-][^\s/?#]*/\S+|([\w.+-]+@)?\w[\w.-]*:(?!:|//)\S+"
_LABEL, _PART = "[a-z0-9][a-z0-9_-]{0,63}", "[0-9A-Za-z][0-9A-Za-z_-]{0,99}"
_FILE = "[0-9A-Za-z_][0-9A-Za-z_.-]{0,200}"
_SYNCED = (  # the names that memfs gives files of memory: nothing else is synced
    rf"(?:blocks|static)(?:/{_LABEL}){{1,3}}\.md|archive(?:/{_PART}){{0,2}}/{_FILE}\.md"
    rf"|prompts/{_FILE}\.md|facts/{_PART}\.jsonl|recall/{_PART}/{_FILE}\.(?:jsonl|forgotten)"
)
MEMORY = ("blocks", "archive", "facts", "static", "prompts")  # folders of a store that are synced
RECALL = "recall"  # if it is asked for, from `local/`
_TOGETHER = 500  # texts that git is asked for at a time


@dataclass
class SyncState:
    """The last sync. `remote` is an address without a password.

    `commit` is the last one of the remote whose files are all here, `pending` one that may have
    been pushed. `files` are the times (in nanoseconds) of the files that were here, by name: one
    that is missing now was deleted here.
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
        text = files.read(f"{get_folder(store)}/state.json", cap=logs.LARGEST)
        state = SyncState(**json.loads(text or ""))
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


def parse_address(text: str) -> str:
    """Return the address of a remote as git takes it; of a folder, its real path.

    Raises `RejectedError` for one with a password, and `UsageError` for what is no address.
    """
    from memfs.secrets import find_secrets  # heavy, and `memfs status` has no need of it

    if re.match(r"[^@:]*:[^@]*@", re.sub(r"^[\w+.-]+://", "", text)) or find_secrets(text):
        raise RejectedError(
            "the address contains a password, and memfs does not store passwords",
            "use a git credential helper or an SSH key instead of the password",
        )
    if re.fullmatch(_ADDRESS, text):
        return text
    path = os.path.expanduser(text.removeprefix("file://"))
    if "/" not in path or "::" in path or "://" in path or not text.isprintable():
        raise UsageError(
            f"{flatten_text(text)!r} is not the address of a repository",
            "use https://HOST/PATH, ssh://HOST/PATH, USER@HOST:PATH, or a folder",
        )
    folder = os.path.realpath(path)
    if not os.path.isdir(os.path.dirname(folder)):
        raise UsageError(
            f"the folder {os.path.dirname(folder)} does not exist",
            "create the folder, or check the path",
        )
    return folder


def fetch(store: Store, url: str) -> str:
    """Fetch what the remote has; return its commit, "" for an empty one. Raises `StoreError`."""
    folder = get_folder(store)
    files.make_folder(folder, private=True)
    if not files.is_file(f"{folder}/.git/HEAD") and not git.make(folder):
        raise StoreError("git is not on the PATH", "install git")
    if is_missing(url):
        return ""
    listed = _ask(folder, url, "ls-remote", "--heads").stdout.decode("utf-8", "replace")
    heads = dict(line.split("\t")[::-1] for line in listed.splitlines() if line.count("\t") == 1)
    head = heads.get(_MAIN, "")
    if heads and not head:
        names = ", ".join(name.removeprefix("refs/heads/") for name in sorted(heads)[:3])
        raise StoreError(
            f"{url} has no branch 'main', only {flatten_text(names)}",
            "use an empty repository, or one created by memfs sync user",
        )
    if head and head != git.get_head_commit(folder, _SEEN):
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
        _ask(folder, url, *words, "--no-recurse-submodules", references=[f"+{_MAIN}:{_SEEN}"])
        head = git.get_head_commit(folder, _SEEN)
    return head


def push(store: Store, url: str, commit: str, seen: str) -> bool:
    """Push a commit upon the one that was seen; False if the remote has another one by now.

    Raises `StoreError` where it refuses.
    """
    folder = get_folder(store)
    git.run(folder, "update-ref", _MAIN, commit)
    if is_missing(url):
        files.make_folder(url, private=True)
        git.make(url, bare=True)
    try:
        words = ("push", "--quiet", "--no-recurse-submodules")
        _ask(folder, url, *words, references=[f"{commit}:{_MAIN}"])
    except StoreError as error:
        with suppress(StoreError):
            if fetch(store, url) not in (seen, commit):
                return False
        hint = "fix the problem, then run memfs sync user again"
        raise StoreError(
            f"incoming changes are saved, but nothing was sent: {error.message}", hint
        ) from None
    git.run(folder, "update-ref", _SEEN, commit)
    return True


def is_missing(url: str) -> bool:
    """Tell whether a remote is a folder that the first push makes a repository."""
    if not url.startswith("/"):
        return False
    return not os.path.lexists(url) or (files.is_folder(url) and not files.entries(url))


def _ask(
    folder: str, url: str, *words: str, references: Sequence[str] = ()
) -> CompletedProcess[bytes]:
    done = git.ask_remote(folder, url, *words, references=references)
    if done.returncode:
        from memfs.secrets import redact  # likewise

        lines = done.stderr.decode("utf-8", "replace").splitlines()
        said = [line for line in lines if line.strip() and not line.startswith("hint:")]
        why = re.sub(r"//[^/@\s]*@", "//", redact(flatten_text("; ".join(said[:3]))))
        raise StoreError(
            f"git {words[0]} failed for {url}: {why or 'git gave no reason'}",
            f"run git ls-remote {url} in your own terminal, where git can ask for a password",
        )
    return done


def is_before(folder: str, commit: str, head: str) -> bool:
    """Tell whether a commit is a known one, and `head` or before it."""
    found = git.run(folder, "rev-list", "--max-count=1", commit, f"^{head}") if head else None
    return bool(commit) and found == ""


def read_tree(folder: str, commit: str) -> tuple[dict[str, str], list[str]]:
    """Return the files of memory in a commit, by name with git's id, and the names of all else."""
    listed = commits.read_committed(folder, (), commit) if commit else {}
    if commit and not listed and git.run(folder, "ls-tree", commit) is None:
        raise StoreError(
            f"{folder} is incomplete: parts of commit {commit[: commits.SHORT]} are missing",
            "set up the sync again: memfs sync user --remove, then memfs sync user --remote URL",
        )
    found = {
        name: each.blob
        for name, each in (listed or {}).items()
        if each.mode.startswith("100") and re.fullmatch(_SYNCED, name)
    }
    return found, sorted((listed or {}).keys() - found.keys())


def read_texts(folder: str, blobs: list[str]) -> dict[str, bytes]:
    """Return the texts of these ids, those of more than 64 MB and what is over 1 GB left out."""
    found: dict[str, bytes] = {}
    left = logs.LARGEST
    for at in range(0, len(blobs), _TOGETHER):
        some = blobs[at : at + _TOGETHER]
        texts = commits.read_blobs(folder, some)
        for blob in some:  # what is larger than most is asked for alone
            text = texts.get(blob) if blob in texts else git.run(folder, "cat-file", "blob", blob)
            if text is not None and left > 0:
                found[blob] = files.encode(text)
                left -= len(found[blob])
        if left <= 0:
            break
    return found


def get_path(store: Store, name: str) -> str:
    """Return where a file of memory is here."""
    return f"{store.local if name.startswith(f'{RECALL}/') else store.root}/{name}"


def list_files(store: Store, *, sessions: bool) -> tuple[dict[str, int], dict[str, str]]:
    """Return the files of memory here with their times, and all others with why they stay here.

    Raises `StoreError` for a folder that cannot be read: its files would count as deleted.
    """
    found: dict[str, int] = {}
    others: dict[str, str] = {}

    def leave_out(path: str, why: object) -> None:
        if str(why).startswith(trees.UNREADABLE):
            raise StoreError(
                f"{path} {why}, so the store cannot be synced",
                "make the folder readable, then run memfs sync user again",
            )
        others[os.path.relpath(path, store.root).removeprefix("local/")] = str(why)

    for kind in (*MEMORY, RECALL) if sessions else MEMORY:
        above = store.local if kind == RECALL else store.root
        walked = [each.name for each in trees.walk(f"{above}/{kind}", left_out=leave_out)]
        for folder in {os.path.dirname(f"{kind}/{name}") for name in walked}:
            times = trees.list_times(f"{above}/{folder}")
            named = {f"{folder}/{name}": at for at, name in times}
            found |= {name: at for name, at in named.items() if re.fullmatch(_SYNCED, name)}
        if kind != RECALL:
            names = {f"{kind}/{name}" for name in walked if os.path.basename(name)[0] != "."}
            others |= dict.fromkeys(names - found.keys(), "not a file name that memfs uses")
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
    since = f"{format_count(changed, 'file')} changed since" if changed else "up to date"
    return f"{format_time(state.at)} with {state.remote}; {since}"
