"""Sync the user's own store with a git repository of theirs: pull, merge file by file, push.

Each file is merged against the text that both sides had last. No side loses a line: what one side
deleted and the other changed stays. The merge is made in git's objects, committed upon what the
remote has, written here, and then pushed. A kill at any point costs nothing: what is here counts as
changed here, and is merged again.
"""

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import itemgetter

from memfs import files
from memfs.core import file_redaction, merge
from memfs.core import label as labels
from memfs.core.errors import RejectedError, StoreError
from memfs.core.escaping import flatten_text
from memfs.core.privacy import public
from memfs.core.records import Origin
from memfs.files import logs
from memfs.secrets import redact
from memfs.store import (
    blocks,
    clock,
    commit_writer,
    commits,
    lock,
    message_records,
    recall,
    session_outcomes,
)
from memfs.store import remote_store as remotes
from memfs.store import writer as block_writer
from memfs.store.blocks import Place
from memfs.store.remote_store import SyncState
from memfs.store.store_paths import Store
from memfs.store.writer import Change, Writer

OP = "sync"
_TRIES = 5  # while other machines push
_FEW = 3  # files that may all be deleted at once
_BLOCKS, _RECALL = "blocks/", f"{remotes.RECALL}/"
_DIGITS = 40  # of an id in the repository that is made here


@dataclass
class SyncOutcome:
    """The files that went out, came in, and were merged, by name (`blocks/human.md`).

    Those that are deleted there count as sent, those deleted here as received. `left_out` says of
    files that stay here, or there, why.
    """

    remote: str
    sent: list[str] = field(default_factory=list)
    received: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    deleted_there: list[str] = field(default_factory=list)
    deleted_here: list[str] = field(default_factory=list)


@dataclass
class _Plan:
    """What is to be written here and sent, by name, None for a removed file.

    `mine` are git's ids of the files that are here.
    """

    mine: dict[str, str]
    outcome: SyncOutcome
    here: dict[str, bytes | None] = field(default_factory=dict)
    there: dict[str, bytes | None] = field(default_factory=dict)

    def list_outcome(self) -> None:
        merged = set(self.outcome.merged)
        self.outcome.sent = sorted(self.there.keys() - merged)
        self.outcome.received = sorted(self.here.keys() - merged)
        self.outcome.deleted_there, self.outcome.deleted_here = (
            sorted(name for name, data in side.items() if data is None)
            for side in (self.there, self.here)
        )


def run(
    place: Place, address: str = "", *, sessions: bool | None = None, write: bool = True
) -> SyncOutcome:
    """Sync the user's store with its remote, or with another one from now on.

    `sessions`: whether what was said is synced, too; None: as before. Without `write`, nothing is
    changed here or there. Raises `RejectedError` for secrets and private parts in what would go
    out, `StoreError` where git fails, `LockedError` while another sync runs.
    """
    store = place.user
    if store is None:
        raise StoreError("you have no store of your own", "create a store: memfs init")
    with lock.hold_lock(store, wait=0, name=lock.SYNC):
        state = remotes.load_state(store)
        if address and (state is None or state.remote != address):
            state = SyncState(address, sessions=state is not None and state.sessions)
        if state is None:
            raise StoreError(
                "your store has no remote", "set a remote: memfs sync user --remote URL"
            )
        if not address and state.commit and remotes.is_missing(state.remote):
            raise StoreError(
                f"{state.remote} no longer exists",
                "connect its disk, or create the remote again: "
                f"memfs sync user --remote {state.remote}",
            )
        state.sessions = state.sessions if sessions is None else sessions
        for _ in range(_TRIES):
            head = remotes.fetch(store, state.remote)
            if not write:
                return _make_plan(store, state, head).outcome
            outcome = _merge(store, state, head)
            if state.pending in ("", head):
                return outcome
            if remotes.push(store, state.remote, state.pending, head):
                state.commit, state.pending = state.pending, ""
                remotes.save_state(store, state)
                return outcome
    raise StoreError(f"{state.remote} kept changing during the sync", "run memfs sync user again")


def stop(place: Place) -> bool:
    """Sync the user's store no more; tell whether it was. What the remote has stays there."""
    if place.user is None:
        return False
    with lock.hold_lock(place.user, wait=0, name=lock.SYNC):
        return remotes.remove(place.user)


def _merge(store: Store, state: SyncState, head: str) -> SyncOutcome:
    """Merge what the remote has into the store, and commit what it lacks; saves the state."""
    locks = session_outcomes.FORGETTING if state.sessions else (lock.KINDS,)
    with (
        lock.hold_locks([store], *locks),
        block_writer.writing(store, Place(None, store)) as store_writer,
    ):
        plan = _make_plan(store, state, head)
        made = head
        if plan.there:
            who = redact(flatten_text(platform.node())) or "a machine"
            modes = dict.fromkeys(plan.there, "100644")
            message = f"memory: sync from {who}\n"
            made, wrong = commit_writer.write_objects(
                remotes.get_folder(store), head, plan.there, modes, message, f"memfs <memfs@{who}>"
            )
            if wrong:
                raise StoreError(f"git cannot commit: {wrong}")
        _write_here(store, plan, store_writer)
        now, _ = remotes.list_files(store, sessions=state.sessions)
        state.files = {name: at for name, at in now.items() if name not in plan.outcome.left_out}
        state.commit, state.pending, state.at = head, made if made != head else "", clock.now()
        remotes.save_state(store, state)
    return plan.outcome


def _make_plan(store: Store, state: SyncState, head: str) -> _Plan:
    """Compare each file of both sides with the one that both had last."""
    folder = remotes.get_folder(store)
    theirs, others = remotes.read_tree(folder, head)
    foreign = next((name for name in others if "/" in name), "")
    if foreign and not state.commit and not any(name.startswith(_BLOCKS) for name in theirs):
        raise StoreError(
            f"{state.remote} contains files that are not memory: {flatten_text(foreign)}",
            "use an empty repository, or one created by 'memfs sync user'",
        )
    if not state.sessions:
        theirs = {name: blob for name, blob in theirs.items() if not name.startswith(_RECALL)}
    made = (state.pending, state.commit)
    last = next((each for each in made if remotes.is_before(folder, each, head)), "")
    base, _ = remotes.read_tree(folder, last)
    base = {name: blob for name, blob in base.items() if name in state.files}
    listed, left_out = remotes.list_files(store, sessions=state.sessions)
    here, there = "on this machine", "in the remote"
    for known, gone, other in ((listed, here, there), (theirs, there, here)):
        if len(base) > _FEW and not base.keys() & known.keys():
            raise StoreError(
                f"all {len(base)} synced files are missing {gone}; a sync would delete them "
                f"{other}, too",
                "restore the files: memfs sync user --remove, then "
                f"memfs sync user --remote {state.remote}",
            )
    mine = {name: _get_id(store, name) for name in listed}
    for name in (theirs.keys() | base.keys()) - mine.keys():
        path = remotes.get_path(store, name)
        if os.path.lexists(path) or any(name.startswith(f"{each}/") for each in left_out):
            left_out.setdefault(name, "another file or folder has this name on this machine")
    plan = _Plan(mine, SyncOutcome(state.remote, left_out=left_out))
    new = {name for name in theirs if theirs[name] not in (mine.get(name), base.get(name))}
    asked = [theirs[name] for name in new] + [base[name] for name in new & base.keys()]
    texts = remotes.read_texts(folder, asked)
    for name in sorted((mine.keys() | theirs.keys() | base.keys()) - left_out.keys()):
        if mine.get(name) != theirs.get(name):
            _plan_file(store, plan, name, (base.get(name), theirs.get(name)), texts)
    _drop_forgotten(plan, theirs)
    _check_secrets(plan, theirs, folder)
    plan.list_outcome()
    return plan


def _plan_file(
    store: Store,
    plan: _Plan,
    name: str,
    remote: tuple[str | None, str | None],
    texts: dict[str, bytes],
) -> None:
    """Plan what becomes of one file; `remote` are the ids of what both had, and of theirs."""
    mine, (base, theirs) = plan.mine.get(name), remote
    own = None if mine is None else _read(store, name)
    other = texts.get(theirs or "")
    most = commits.LARGEST if name.startswith(_RECALL) else files.READ_CAP
    lacks = theirs not in (base, None) and (other is None or len(other) > most)
    if lacks or len(own or b"") > most:
        plan.outcome.left_out[name] = f"the file is larger than {most >> 20} MB"
    elif theirs == base or (theirs is None and mine != base):
        plan.there[name] = own
    elif mine == base or own is None:
        plan.here[name] = other
    else:
        merged = _merge_file(name, texts.get(base or "", b""), own, other or b"")
        plan.here |= {name: merged} if merged != own else {}
        plan.there |= {name: merged} if merged != other else {}
        plan.outcome.merged.append(name)


def _merge_file(name: str, base: bytes, mine: bytes, theirs: bytes) -> bytes:
    """Merge a file of memory: its records, each once, or its lines as git's merges are."""
    if not name.endswith(recall.SUFFIX):
        return files.encode(merge.merge(*map(files.decode, (base, mine, theirs))))
    said = name.startswith(_RECALL)
    lines = ([line + b"\n" for line in text.split(b"\n") if line] for text in (base, mine, theirs))
    old, left, right = (
        {(said and message_records.id_of(line)) or line: line for line in each} for each in lines
    )
    merged = []
    for key in left | right:
        was, own, other = old.get(key), left.get(key), right.get(key)
        kept = other if own == was else own if other in (was, own) else own or other
        merged += [kept] if kept else []
    if said:  # in the order of time; one without a time stays behind the one before it
        at, timed = "", []
        for line in merged:
            message = message_records.read_message(line)
            at = (message.at if message else "") or at
            timed.append((at, line))
        merged = [line for _, line in sorted(timed, key=itemgetter(0))]
    return b"".join(merged)


def _drop_forgotten(plan: _Plan, theirs: dict[str, str]) -> None:
    """Drop on both sides what was said in sessions that one of them had forgotten."""
    for marker in [
        name for name in plan.mine.keys() | theirs.keys() if name.endswith(recall.FORGOTTEN)
    ]:
        session = marker.removesuffix(recall.FORGOTTEN)
        for name in plan.mine.keys() | theirs.keys():
            if name.startswith((f"{session}{recall.SUFFIX}", f"{session}.agent-")):
                for side, known in ((plan.here, plan.mine), (plan.there, theirs)):
                    side.pop(name, None)
                    side.update(dict.fromkeys({name} & known.keys()))


def _check_secrets(plan: _Plan, theirs: dict[str, str], folder: str) -> None:
    known = remotes.read_texts(folder, [theirs[name] for name in plan.there.keys() & theirs.keys()])
    for name, data in plan.there.items():
        if name not in theirs and redact(name) != name:
            raise RejectedError(
                f"nothing was synced: the file name {redact(name)} looks like a secret",
                "rename the file",
            )
        there = set(files.decode(known.get(theirs.get(name, ""), b"")).split("\n"))
        lines = files.decode(data or b"").split("\n")
        for number, what in _find_unfit(name, lines, there):
            if lines[number - 1] not in there:
                raise RejectedError(
                    f"nothing was synced: line {number} of {name} {what}",
                    "remove the text there, or redact all secrets: memfs doctor --secrets --purge",
                )


def _find_unfit(name: str, lines: list[str], there: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines (from 1) of a file that must not go out, and why."""
    found: list[tuple[int, file_redaction.FileSecret]] = []
    if name.endswith(recall.SUFFIX):
        for at, line in enumerate(lines, 1):
            if line not in there:
                found += ((at, each) for each in file_redaction.find(line, "lines"))
                if any(public(text) != text for text in file_redaction.list_texts(line)):
                    yield at, "is marked private"
    else:
        text = "\n".join(lines)
        found += ((each.line, each) for each in file_redaction.find(text, "text"))
        pairs = zip_longest(lines, public(text, lines=True).split("\n"))
        yield from (
            (at, "is marked private") for at, (line, kept) in enumerate(pairs, 1) if line != kept
        )
    yield from ((at, f"looks like a secret ({each.type})") for at, each in found)


def _write_here(store: Store, plan: _Plan, store_writer: Writer) -> None:
    texts = {name: None if data is None else files.decode(data) for name, data in plan.here.items()}
    changes = []
    for name, text in texts.items():
        if _get_id(store, name) != plan.mine.get(name, ""):
            raise StoreError(f"{name} was changed during the sync", "run memfs sync user again")
        if name.startswith(_BLOCKS):
            path = remotes.get_path(store, name)
            label = name.removeprefix(_BLOCKS).removesuffix(blocks.SUFFIX)
            before, version = store_writer.adopt_current(labels.USER, label, path)
            changes.append(Change(labels.USER, label, path, before, text, OP, version + 1))
    if changes:
        store_writer.commit(changes, Origin("user", reason=f"synced with {plan.outcome.remote}"))
    gone = set()
    for name in filter(lambda name: name.endswith(recall.FORGOTTEN), texts):
        path = remotes.get_path(store, name).removesuffix(recall.FORGOTTEN) + recall.SUFFIX
        session = recall.get_session(path, next(recall.messages(path), None))
        gone.add((name.split("/")[1], session))
    if gone:
        session_outcomes.forget_sessions(Place(None, store), store, gone)
    for name, text in texts.items():
        path = remotes.get_path(store, name)
        if name.startswith(_RECALL):
            _write_recall(path, text)
        elif not name.startswith(_BLOCKS):
            block_writer.apply(path, text, private=True)


def _write_recall(path: str, text: str | None) -> None:
    files.make_folder(os.path.dirname(path), private=True)
    if path.endswith(recall.FORGOTTEN) and text is not None:
        files.make_empty(path)
    elif text is None:
        recall.remove_session(path)
    else:
        recall.rewrite(path, lambda _: text)


def _read(store: Store, name: str) -> bytes:
    """Read a file of memory; without the last line of recall that a kill has cut."""
    data = logs.read_whole(remotes.get_path(store, name)) or b""
    return data[: data.rfind(b"\n") + 1] if name.startswith(_RECALL) else data


def _get_id(store: Store, name: str) -> str:
    there = files.is_file(remotes.get_path(store, name))
    return commits.blob_id(_read(store, name), _DIGITS) if there else ""
