"""One upload: the difference between what is shared with a team and what its server has."""

import json
import os
import sys
import threading
import time
from dataclasses import dataclass

from msgspec.structs import replace

from memfs.core.errors import LockedError, MemfsError, StoreError
from memfs.files import logs, signatures
from memfs.ipc.client import VERSION
from memfs.store import clock, lock, message_records, store_paths
from memfs.store.store_paths import Store
from memfs.team import membership, protocol
from memfs.team.client import TeamClient, TeamError
from memfs.team.membership import JoinedProject, SessionName
from memfs.team.outbox import SentSession, ServerContact, TeamOutbox
from memfs.team.sharing import Selection, SessionChoice, SharedScope, make_storable
from memfs.team.status import find_store

_MOST_MALFORMED = 20  # messages in a run: with more, it is not their fault
_MOST_RUNS = 20  # that begin anew because the rules changed meanwhile


@dataclass
class UploadReport:
    """What a run did: messages that the server stored, knew, or refused, and those it removed."""

    stored: int = 0
    known: int = 0
    refused: int = 0
    removed: int = 0


class _RulesChangedError(Exception):
    """What is shared was changed during a run."""


def upload(user: Store, store: Store, wait: float = lock.WAIT) -> UploadReport:
    """Send what is shared of a store's recall, and take back what is not any more.

    It may be killed at any moment, and lose any answer: the next one ends with the same. `wait` is
    how long another process that does it is waited for. The contact is noted, whatever comes of it.
    Raises `TeamError`, `LockedError` and `StoreError`; what was sent before stays.
    """
    project = membership.load_project(user, store.local)
    if project is None:
        raise StoreError("this project has not joined a team", "run memfs team join URL")
    outbox = TeamOutbox(user, project.key)
    outbox.make_folder()
    report = UploadReport()
    try:
        with lock.hold_lock(user, wait, outbox.lock):
            _upload(user, store, project.key, report)
    except LockedError:
        raise LockedError(
            "another process is already sending to the team",
            "wait: the other process sends everything",
        ) from None
    return report


def _upload(user: Store, store: Store, key: str, report: UploadReport) -> None:
    """Run until the rules stayed the same; note the contact. The caller has the lock."""
    outbox = TeamOutbox(user, key)  # what it says now that the lock is ours
    before = outbox.load_contact()
    for _ in range(_MOST_RUNS):
        project = membership.load_project(user, store.local)
        if project is None:
            return  # it was left meanwhile
        try:
            contact = _Run(user, store, project, outbox, report).run(before)
        except _RulesChangedError:
            continue
        except MemfsError as error:
            away = isinstance(error, TeamError) and error.away
            failed = replace(
                before, at=clock.now(), error=error.message, away=away, failures=before.failures + 1
            )
            outbox.save_contact(failed)
            raise
        finally:
            outbox.save_flight()
        outbox.save_contact(contact)
        return


_Outgoing = tuple[SessionName, Selection, protocol.SharedMessage]


class _Run:
    """One comparison of what is shared with what the server has."""

    def __init__(
        self,
        user: Store,
        store: Store,
        project: JoinedProject,
        outbox: TeamOutbox,
        report: UploadReport,
    ) -> None:
        self._user, self._project, self._outbox, self._report = user, project, outbox, report
        self._watched = [
            membership.get_project_path(user, project.key),
            membership.get_patterns_path(user),
        ]
        self._signs = [signatures.sign_file(path) for path in self._watched]
        self._scope = SharedScope(user, store, project)
        self._client: TeamClient | None = None
        self._batch: list[_Outgoing] = []
        self._compared: list[SentSession] = []  # known once the batch is acknowledged
        self._bytes = 0  # of its texts
        self._malformed = 0  # messages that were refused by themselves
        self._refusals = outbox.load_refusals()
        self._reached = ""

    def run(self, before: ServerContact) -> ServerContact:
        """Send the difference; return the contact to note. Raises `TeamError`."""
        began, at = time.time_ns(), clock.now()
        there = self._scope.list_sessions()
        sent = self._outbox.list_sessions()
        try:
            for each in sent:
                if each.name not in there or self._scope.find_choice(each.name) is None:
                    ids = self._outbox.load_ids(each.name) | self._outbox.get_flight(each.name)
                    self._retract(each.name, ids, whole=True)
                    self._outbox.remove_session(each.name)
            known = {each.name for each in sent}
            for name in sorted(there, key=lambda name: name not in known):
                choice = self._scope.find_choice(name)
                if choice is not None:
                    self._compare(name, there[name], choice)
            self._push()
        finally:
            if self._client is not None:
                self._client.close()
        reached = self._reached or before.reached_at
        return ServerContact(at, since=began, rules=self._scope.sign_rules(), reached_at=reached)

    def _compare(self, name: SessionName, path: str, choice: SessionChoice) -> None:
        """Compare a session with what the server has of it, unless that was done."""
        sign = signatures.sign_file(path)
        if sign is None:
            return  # it was removed just now
        rules = self._scope.sign_choice(choice)
        sent = self._outbox.load_session(name) or SentSession(*name)
        flight = self._outbox.get_flight(name)
        is_same = sent.rules == rules and not flight
        if is_same and sent.signature == str(sign):
            return
        selection = Selection(path, choice, self._scope.patterns)
        # What was solved may be another message once there are more.
        is_longer = is_same and not choice.solved and _only_grew(path, sent, sign)
        if is_longer:
            selection.end, selection.turn, selection.ordinal = sent.offset, sent.turn, sent.ordinal
            selection.branch, selection.title = sent.branch, sent.title
        ids = self._outbox.load_ids(name)
        self._outbox.land(name, flight & ids)  # they were acknowledged right before an end
        wanted, first, is_told = set[str](), None, False
        for message in selection.read_messages():
            first = first or message
            wanted.add(message.id)
            if message.id not in ids:
                self._add((name, selection, message))
                is_told = True
        changed = (selection.branch, selection.title) != (sent.branch, sent.title)
        if first and changed and not is_told:
            self._add((name, selection, first))  # the title may be of what is shared no more
        if not is_longer and (ids | flight) - wanted:
            self._push()
            self._retract(name, (ids | flight) - wanted, whole=not wanted)
        session = SentSession(
            *name,
            rules,
            selection.end,
            _print(path, selection.end),
            str(sign),
            selection.turn,
            selection.ordinal,
            selection.branch,
            selection.title,
        )
        self._compared.append(session)
        if not self._batch:
            self._push()

    def _add(self, outgoing: _Outgoing) -> None:
        size = len(outgoing[2].text.encode())
        is_full = len(self._batch) == protocol.MOST_MESSAGES
        if is_full or self._bytes + size > protocol.MOST_BYTES:
            self._push()
        self._batch.append(outgoing)
        self._bytes += size

    def _push(self) -> None:
        """Send the batch, if there is one, and note the sessions that end with it."""
        batch, self._batch, self._bytes = self._batch, [], 0
        if batch:
            self._push_or_split(batch)
        for session in self._compared:
            self._outbox.save_session(session)
        self._compared.clear()

    def _push_or_split(self, batch: list[_Outgoing]) -> None:
        """Send a batch; where the server does not take it, find the messages it does not take."""
        try:
            self._push_batch(batch)
        except TeamError as error:
            self._malformed += error.malformed and len(batch) == 1
            if not error.malformed or self._malformed > _MOST_MALFORMED:
                raise
            if len(batch) > 1:
                half = len(batch) // 2
                self._push_or_split(batch[:half])
                self._push_or_split(batch[half:])
                return
            ((name, _, message),) = batch
            self._refuse({message.id: error.message})
            self._outbox.add_ids(name, {message.id})

    def _push_batch(self, batch: list[_Outgoing]) -> None:
        client = self._open_client()
        selections = {name: selection for name, selection, _ in batch}
        ids = {each: {m.id for name, _, m in batch if name == each} for each in selections}
        sessions = []
        for name, selection in selections.items():
            self._invalidate(name)
            host, ident = map(make_storable, name)
            sessions.append(protocol.SharedSession(host, ident, selection.branch, selection.title))
        places = {name: place for place, name in enumerate(selections)}
        messages = [replace(message, of=places[name]) for name, _, message in batch]
        stamp = self._outbox.take_stamp(ids)
        request = protocol.PushRequest(self._project.id, stamp, VERSION, sessions, messages)
        reply = client.ask(protocol.PushReply, request)
        self._reached = clock.now()
        self._report.stored += reply.stored
        self._report.known += reply.known + reply.retracted
        self._refuse({each.id: each.why for each in reply.refused})
        for name, some in ids.items():  # it answered for all, whatever it said of each
            self._outbox.add_ids(name, some)

    def _refuse(self, refusals: dict[str, str]) -> None:
        """Note messages that the server did not take, and why: they are not sent again."""
        if refusals:
            self._refusals |= refusals
            self._outbox.save_refusals(self._refusals)
            self._report.refused += len(refusals)

    def _invalidate(self, name: SessionName) -> None:
        """Note that something of a session is about to change at the server."""
        sent = self._outbox.load_session(name)
        if sent is None or sent.rules:
            self._outbox.save_session(replace(sent or SentSession(*name), rules=""))

    def _retract(self, name: SessionName, ids: set[str], *, whole: bool) -> None:
        """Take back messages of a session, or all of it.

        Until the answer comes they count as neither there nor gone.
        """
        client = self._open_client()
        self._invalidate(name)
        listed, step = sorted(ids), max(1, len(ids)) if whole else protocol.MOST_IDS
        for first in range(0, max(1, len(listed)), step):
            some = listed[first : first + step]
            stamp = self._outbox.take_stamp({name: {*some}})
            self._outbox.replace_ids(name, self._outbox.load_ids(name).difference(some))
            host, ident = map(make_storable, name)
            named = [] if whole else some
            request = protocol.RetractRequest(self._project.id, stamp, host, ident, named)
            self._report.removed += client.ask(protocol.RetractReply, request).removed
            self._reached = clock.now()
            self._outbox.land(name, some)
        if [each for each in ids if self._refusals.pop(each, "")]:
            self._outbox.save_refusals(self._refusals)

    def _open_client(self) -> TeamClient:
        """Return the connection to the server, once it said that this member may write.

        Raises `_RulesChangedError` if what is shared was changed since the run began.
        """
        if [signatures.sign_file(path) for path in self._watched] != self._signs:
            raise _RulesChangedError
        if self._client is None:
            client = self._client = open_client(self._user, self._project.address)
            if all(
                each.id != self._project.id for each in client.ask(protocol.Membership).projects
            ):
                raise TeamError(
                    f"you no longer have access to the project '{self._project.name}'",
                    "ask the server's administrator for access",
                    away=False,
                )
        return self._client


def open_client(user: Store, address: str) -> TeamClient:
    """Return a connection to a team's server, with the token that is stored for it."""
    account = membership.load_account(user, address)
    if account is None:
        raise StoreError(f"no token is stored for {address}", f"run memfs team join {address}")
    return TeamClient(account.address, account.token, account.ca)


def _only_grew(path: str, sent: SentSession, sign: signatures.Signature) -> bool:
    """Tell whether a recall file is the one that was read, with more behind it."""
    is_file = sent.signature.partition(":")[0] == str(sign.inode)
    return is_file and sign.size >= sent.offset and _print(path, sent.offset) == sent.print


def _print(path: str, offset: int) -> str:
    """Return the fingerprint of the first `offset` bytes of a recall file, "" for none."""
    try:
        with logs.open_stream(path) as handle:
            return message_records.fingerprint_of(handle, offset)
    except FileNotFoundError:
        return ""


def main() -> None:
    """Upload the project that standard input names."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    sys.stdout.write(json.dumps(run_upload(str(request["local"]))) + "\n")
    sys.stdout.flush()
    os._exit(0)


def run_upload(local: str) -> dict[str, object]:
    """Upload the project of a local folder; return its `error` and the seconds to `wait`."""
    try:
        user = store_paths.user_store()
        project = membership.load_project(user, local) if user else None
        store = find_store(project) if project else None
        if user and store:
            upload(user, store, 0)
    except LockedError:
        return {"error": ""}  # another process sends it
    except TeamError as error:
        return {"error": error.message, "wait": error.wait}
    except (MemfsError, OSError) as error:
        return {"error": str(error) or type(error).__name__}
    return {"error": ""}


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)
