"""Commits of files as they are (no filter, hook or signature), and those of `git.commit`."""

import fnmatch
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from subprocess import CompletedProcess

from memfs import files
from memfs.core import body_edits
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.escaping import make_plain
from memfs.core.privacy import storable
from memfs.core.records import Origin
from memfs.core.settings import Settings
from memfs.files import logs
from memfs.secrets import find_secrets
from memfs.store import commits, config, git, journal
from memfs.store.blocks import Place
from memfs.store.commits import TrackedFile
from memfs.store.git import GitHead
from memfs.store.store_paths import Store
from memfs.store.writer import Change

_TRIES = 5  # while somebody else holds the index
_FILE = "100644"
_MADE = b"refs/memfs/made"  # what fast-import calls the commit; no such reference is kept


def commit(
    folder: str,
    head: GitHead,
    names: Sequence[str],
    known: Mapping[str, TrackedFile],
    message: str,
    nobody: str = "",
) -> str:
    """Commit files below `folder`, removed ones too; return what was not committed, and why.

    `head` is what is checked out, `known` the files in that commit. `nobody` is "Name <mail>" where
    git does not know who commits. Files with a filter stay out: memfs runs none, and the filter may
    be there to hide the plain text. So do files with a secret, which an editor wrote, unless the
    commit before has it.
    """
    there = [name for name in names if files.is_file(f"{folder}/{name}")]
    filtered = commits.list_filters(folder, there) if there else {}
    notes = [
        f"{make_plain(name)} needs {how}, and memfs runs no git filters (commit the file with git)"
        for name, how in sorted(filtered.items())
    ]
    texts = _read_texts(folder, [name for name in names if name not in filtered])
    for name in [name for name in texts if _adds_secret(folder, texts[name], known.get(name))]:
        del texts[name]
        notes.append(f"{make_plain(name)} contains a secret")
    modes = {name: known[name].mode if name in known else "" for name in texts}
    modes = {name: mode if mode.startswith("100") else _FILE for name, mode in modes.items()}
    failed = _write_commit(folder, head, texts, modes, message, nobody) if texts else ""
    return "; ".join(filter(None, (failed, *notes)))


def _adds_secret(folder: str, data: bytes | None, before: TrackedFile | None) -> bool:
    text = files.decode(data or b"")
    if not find_secrets(text):
        return False
    committed = commits.read_blobs(folder, [before.blob]).values() if before else ()
    return body_edits.check_secret("commit", "it", text, "".join(committed)) is not None


def _read_texts(folder: str, names: Sequence[str]) -> dict[str, bytes | None]:
    """Read the bytes to commit of each file, None for a removed one."""
    found: dict[str, bytes | None] = {}
    for name in names:
        path = f"{folder}/{name}"
        if files.is_file(path) and files.get_size(path) <= commits.LARGEST:
            data = logs.read_whole(path)
            found[name] = None if data is None else commits.fix_line_ends(folder, name, data)
        elif not os.path.lexists(path):
            found[name] = None
    return found


def _write_commit(
    folder: str,
    head: GitHead,
    texts: Mapping[str, bytes | None],
    modes: Mapping[str, str],
    message: str,
    nobody: str,
) -> str:
    """Make the commit, stage its files, and move the branch to it; return git's complaint."""
    length = len(head.commit) or _get_id_length(folder)
    new, wrong = write_objects(folder, head.commit, texts, modes, message, nobody)
    if wrong:
        return wrong
    staged = "".join(
        f"0 {'0' * length}\t{git.prefix(folder)}{name}\0"
        if data is None
        else f"{modes[name]} {commits.blob_id(data, length)}\t{git.prefix(folder)}{name}\0"
        for name, data in texts.items()
    )
    failed = _retry(folder, "update-index", "-z", "--index-info", data=os.fsencode(staged))
    about = f"commit: {message.partition(chr(10))[0]}"
    return failed or _retry(folder, "update-ref", "-m", about, head.branch, new, head.commit)


def write_objects(
    folder: str,
    parent: str,
    texts: Mapping[str, bytes | None],
    modes: Mapping[str, str],
    message: str,
    nobody: str = "",
) -> tuple[str, str]:
    """Write a commit that no reference names; return its id, or "" and git's complaint.

    It has the files of its `parent` ("": none), but for `texts`: their bytes, None for a removed
    one. `nobody` is as `commit` takes it.
    """
    done = git.start(folder, "var", "GIT_AUTHOR_IDENT")
    if done is None or (done.returncode and not nobody):
        return "", _find_complaint(done)
    who = done.stdout.strip() or f"{nobody} {int(time.time())} +0000".encode()
    body = _encode_data(message.encode("utf-8", "replace"))
    start = b"from %b\n" % parent.encode() if parent else b""
    none = b"0" * (len(parent) or _get_id_length(folder))
    stream = b"".join(
        [
            b"commit %b\nmark :1\nauthor %b\ncommitter %b\n%b%b" % (_MADE, who, who, body, start),
            *_encode_changes(git.prefix(folder), texts, modes),
            # The temporary reference is removed again.
            b"\nget-mark :1\nreset %b\nfrom %b\n\n" % (_MADE, none),
        ]
    )
    done = git.start(folder, "fast-import", "--quiet", data=stream, seconds=120)
    if done is None or done.returncode:
        return "", _find_complaint(done)
    return done.stdout.decode().strip(), ""


def _encode_changes(
    before: str, texts: Mapping[str, bytes | None], modes: Mapping[str, str]
) -> Iterator[bytes]:
    for name, data in texts.items():
        path = _quote_path(before + name)
        if data is None:
            yield b"D %b\n" % path
        else:
            yield b"M %b inline %b\n%b" % (modes[name].encode(), path, _encode_data(data))


def _get_id_length(folder: str) -> int:
    """Return how many digits an id has in a repository that has no commit yet."""
    return 64 if "256" in (git.run(folder, "rev-parse", "--show-object-format") or "") else 40


def _encode_data(data: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(data), data)


def _quote_path(name: str) -> bytes:
    """Quote a name as git reads it: unusual bytes are octal escapes."""
    plain = b"/._-"
    return b'"%b"' % b"".join(
        b"%c" % byte
        if b"%c" % byte in plain or (chr(byte).isalnum() and byte < 128)
        else b"\\%03o" % byte
        for byte in os.fsencode(name)
    )


def _retry(folder: str, *words: str, data: bytes = b"") -> str:
    """Run git, again while the index is locked; return its complaint, "" on success."""
    complaint = ""
    for attempt in range(_TRIES):
        done = git.start(folder, *words, data=data)
        if done is not None and done.returncode == 0:
            return ""
        complaint = _find_complaint(done)
        if "index.lock" not in complaint:
            break
        time.sleep(0.05 * 2**attempt)
    return complaint


def _find_complaint(done: CompletedProcess[bytes] | None) -> str:
    if done is None:
        return "git did not answer"
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    complaint = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    return complaint or (lines[0] if lines else f"git failed with exit code {done.returncode}")


EDIT, SESSION = "edit", "session"
_OURS = ("blocks", "archive", "facts", "static", "config.yaml", ".gitignore", ".gitattributes")
_BUSY = {  # unfinished operations of git, by the file that marks each
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}


def commit_edit(place: Place, changes: list[Change], origin: Origin) -> str:
    """Commit an edit if `git.commit` is `edit`; return why that failed, or ""."""
    notes = []
    for store in place.stores():
        mine = [
            change
            for change in changes
            if change.tier != labels.SESSION and place.store(change.tier).root == store.root
        ]
        settings = _load_settings(place, store)
        if mine and settings.get("git.commit") == EDIT:
            names = ", ".join(change.label for change in mine)
            ops = list(dict.fromkeys(change.op for change in mine))
            subject = origin.reason or f"memory: {' and '.join(ops)} {names}"
            message = _format_message(subject, [], ops, origin)
            paths = [os.path.relpath(change.path, store.root) for change in mine]
            notes.append(_commit(store, paths, message, settings))
    return "; ".join(note for note in notes if note)


def commit_passage(
    place: Place, store: Store, path: str, origin: Origin, verb: str = "archive"
) -> str:
    """Commit what was done to a passage if `git.commit` is `edit`; return why not, or ""."""
    subject = origin.reason or f"memory: {verb} a passage"
    return commit_files(place, store, [path], verb, subject, origin)


def commit_files(
    place: Place, store: Store, paths: list[str], op: str, subject: str, origin: Origin
) -> str:
    """Commit files that one operation wrote, as `commit_passage` does."""
    settings = _load_settings(place, store)
    if not paths or settings.get("git.commit") != EDIT:
        return ""
    names = [os.path.relpath(path, store.root) for path in paths]
    return _commit(store, names, _format_message(subject, [], [op], origin), settings)


def commit_session(place: Place, origin: Origin) -> str:
    """Commit a session's changes if `git.commit` is `session`; return why that failed, or ""."""
    notes = []
    for store in place.stores():
        settings = _load_settings(place, store)
        if settings.get("git.commit") == SESSION:
            session = storable(origin.session)  # as the journal and the trailer have it
            edits = [
                f"- {entry.op} {entry.label}" + (f": {entry.reason}" if entry.reason else "")
                for entry in journal.read(store)
                if entry.session in (origin.session, session)
                and entry.tree == store.tree
                and entry.tier == store.tier
            ]
            subject = f"memory: session {session[:8]}"
            message = _format_message(subject, edits, [SESSION], origin)
            notes.append(_commit(store, list(_OURS), message, settings))
    return "; ".join(note for note in notes if note)


def _load_settings(place: Place, store: Store) -> Settings:
    """Load the settings of a store; a project's do not apply to the user's store."""
    return config.load(Place(None, store) if store.tier == labels.USER else place)


def _format_message(subject: str, body: list[str], ops: list[str], origin: Origin) -> str:
    first, *rest = [line.rstrip() for line in make_plain(storable(subject)).split("\n")] or [""]
    who = origin.actor + (f" ({origin.host})" if origin.host else "")
    trailers = [f"Memfs-Op: {op}" for op in ops] + [f"Memfs-Actor: {who}"]
    if origin.session:
        trailers.append(f"Memfs-Session: {storable(origin.session)}")
    paragraphs = [first, "\n".join(rest).strip(), make_plain(storable("\n".join(body)))]
    last = "\n".join(" ".join(make_plain(line).split()) for line in trailers)
    return "\n\n".join([part for part in paragraphs if part] + [last]) + "\n"


def _commit(store: Store, paths: list[str], message: str, settings: Settings) -> str:
    """Commit `paths` (relative to the store) as they are; return why that failed, or ""."""
    known = commits.read_committed(store.root, paths)
    changed = [] if known is None else commits.list_differing(store.root, paths, known)
    if not changed or known is None:
        return ""
    head = git.checked_out(store.root)
    why = "git did not answer" if head is None else _find_hindrance(head, settings)
    if head is not None and not why:
        try:
            why = commit(store.root, head, changed, known, message)
        except StoreError as error:  # the edit stands
            why = error.message
    return f"not committed: {why}" if why else ""


def _find_hindrance(head: git.GitHead, settings: Settings) -> str:
    for name, what in _BUSY.items():
        if os.path.exists(f"{head.folder}/{name}"):
            return f"{what} is in progress"
    branch = head.branch.removeprefix("refs/heads/")
    if not branch:
        return "no branch is checked out"
    protected = settings.get("git.protected")
    patterns = [str(name) for name in protected] if isinstance(protected, list) else []
    if any(fnmatch.fnmatchcase(branch, pattern) for pattern in patterns):
        return f"the branch '{branch}' is protected (git.protected)"
    return ""
