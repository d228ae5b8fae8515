"""A project and its team: join and leave, and decide what of its sessions is shared."""

import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from memfs.core import body_edits
from memfs.core.errors import MemfsError, NotFoundError, RejectedError, StoreError, UsageError
from memfs.core.formats import format_count
from memfs.core.records import Origin
from memfs.core.text_folding import matches_everything
from memfs.ops.sessions import find_session
from memfs.store import clock, config, git, lock
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.team import membership
from memfs.team.client import TeamClient, check_token, parse_address
from memfs.team.membership import (
    Base,
    JoinedProject,
    NamedSession,
    SessionName,
    SharedTurns,
    SharingRules,
    TeamAccount,
)
from memfs.team.outbox import TeamOutbox
from memfs.team.protocol import Membership, PurgeReply, PurgeRequest, TeamProject, hash_origin
from memfs.team.sharing import Selection, SharedScope
from memfs.team.status import find_store
from memfs.team.upload import UploadReport, open_client, upload

_WRITER = "writer"


class JoinOutcome(NamedTuple):
    """A project that was joined, and the projects that the token opens. `note`: what looks odd."""

    project: JoinedProject
    account: TeamAccount
    note: str = ""


class PlannedSession(NamedTuple):
    """A session of which messages would be shared: how many, and the bytes of their texts.

    `at` is the time of the first of them, `prompt` the first prompt among them.
    """

    host: str
    session: str
    at: str
    prompt: str
    messages: int
    bytes: int


class SharingPlan(NamedTuple):
    """What would go, session by session, the latest first; and counts of what not, by reason."""

    project: JoinedProject
    rules: SharingRules
    sessions: tuple[PlannedSession, ...]
    left_out: dict[str, int]

    @property
    def messages(self) -> int:
        return sum(each.messages for each in self.sessions)

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.sessions)


class SendOutcome(NamedTuple):
    """What a change of the rules came to: what was sent and taken back, or why that waits."""

    report: UploadReport
    waits: str = ""


def join_project(
    place: Place, url: str, token: str, origin: Origin, *, project: str = "", ca: str = ""
) -> JoinOutcome:
    """Make the project of a place one of a team's projects: nothing is shared by that.

    The team's project is the one named, else the one with the same repository. `token` "" is the
    one that is stored for the server. Raises `TeamError`, `RejectedError`, `NotFoundError`, and
    `UsageError` for an address or a token that cannot be used.
    """
    require_person(origin, "join a team")
    user, store = _require_stores(place)
    address = str(parse_address(url))
    account = None
    with suppress(StoreError):  # damaged: it is put aside
        account = membership.load_account(user, address)
    ca = os.path.abspath(os.path.expanduser(ca)) if ca else ""
    if account:
        token, ca = token or account.token, ca or account.ca
    with TeamClient(address, check_token(token), ca) as client:
        found = client.ask(Membership)
    chosen = _choose_project(store, found, project)
    account = TeamAccount(address, check_token(token), found.team, found.member, ca, found.expires)
    with membership.hold_membership(user):
        before = None
        with suppress(StoreError):  # damaged: it is put aside
            before = membership.load_project(user, store.local)
        if before and (before.address, before.id) != (address, chosen.id):
            raise RejectedError(
                f"this project has already joined '{before.name}' at {before.address}",
                "run memfs team leave first",
            )
        rules = before.rules if before else SharingRules()
        joined = JoinedProject(store.local, address, chosen.id, chosen.name, chosen.role, rules)
        membership.save_account(user, account)
        membership.save_project(user, joined)
    named = find_hint(place)
    note = f"the project's configuration names another team, '{named}'"
    return JoinOutcome(joined, account, note if named not in ("", found.team) else "")


def find_hint(place: Place) -> str:
    """Return the team that the project's configuration names, "" for none: only a hint."""
    return str(config.load(place).get("team.id") or "")


def plan_sharing(
    place: Place,
    session: str = "",
    first: int = 0,
    last: int = 0,
    *,
    base: Base = "nothing",
    tools: bool = False,
) -> SharingPlan:
    """Return what would go if a session, or some of its turns, were shared, or a `base` of all.

    Changes nothing, and asks no server. Raises `NotFoundError` for a session that is not there,
    `UsageError` for turns that are not.
    """
    user, store, project = _require_joined(place)
    if (first or last) and not session:
        raise UsageError(
            "--from and --to need a session", "run memfs team share SESSION --from 3 --to 7"
        )
    if first > last > 0:
        raise UsageError(f"--from {first} is after --to {last}", "swap the two numbers")
    rules = project.rules
    names = None
    if session:
        found, _ = find_session(place, session)
        name = found.host, found.id
        turns = SharedTurns(*name, first, last, tools)
        others = [each for each in rules.sessions if each != turns]
        if not (first or last):  # the whole of it
            others = [each for each in others if each.name != name]
        withheld = [each for each in rules.withheld if each.name != name]
        rules = replace(rules, sessions=[*others, turns], withheld=withheld)
        names = {name}
    elif base != "nothing":
        rules = replace(rules, base=base, tools=tools)
    rules = replace(rules, shown_at=clock.now())
    scope = SharedScope(user, store, replace(project, rules=rules))
    sessions, left_out = [], Counter[str]()
    for name, path in scope.list_sessions().items():
        choice = scope.find_choice(name) if names is None or name in names else None
        if choice is None:
            continue
        selection = Selection(path, choice, scope.patterns)
        at, count, size = "", 0, 0
        for message in selection.read_messages():
            at, count, size = at or message.at, count + 1, size + len(message.text.encode())
        left_out += selection.left_out
        if max(first, last) > selection.turn:
            raise UsageError(
                f"the session has only {format_count(selection.turn, 'turn')}",
                f"see the turns: memfs session show {name[1]}",
            )
        if count:
            sessions.append(PlannedSession(*name, at, selection.title, count, size))
    sessions.sort(key=lambda each: each.at, reverse=True)
    return SharingPlan(project, rules, tuple(sessions), dict(left_out))


def share(place: Place, plan: SharingPlan, origin: Origin) -> SendOutcome:
    """Share what a plan showed, from now on, and send it. Raises `RejectedError`."""
    require_person(origin, "share sessions")
    if plan.project.role != _WRITER:
        raise RejectedError(
            f"you can search the project '{plan.project.name}', but not share sessions with it",
            "ask the server's administrator for the role 'writer'",
        )
    return _change_rules(place, lambda _: plan.rules)


def unshare(place: Place, session: str, origin: Origin) -> SendOutcome:
    """Share a session ("": anything of the project) no more, and take back what was sent.

    Raises `RejectedError`, and `NotFoundError` for a session that is neither there nor shared.
    """
    require_person(origin, "take back shared sessions")
    user, _, project = _require_joined(place)
    if not session:
        return _change_rules(place, lambda rules: SharingRules(shown_at=rules.shown_at))
    name = _find_shared(place, user, project, session)

    def withhold(rules: SharingRules) -> SharingRules:
        left = [each for each in rules.sessions if each.name != name]
        others = [each for each in rules.withheld if each.name != name]
        withheld = [*others, NamedSession(*name)] if rules.base != "nothing" else others
        return replace(rules, sessions=left, withheld=withheld)

    return _change_rules(place, withhold)


def set_pattern(place: Place, pattern: str, origin: Origin, *, remove: bool) -> SendOutcome:
    """Add a pattern of what is never shared, or remove it; messages that have it are taken back.

    It holds for all teams. Raises `UsageError`, `NotFoundError` and `RejectedError`.
    """
    require_person(origin, "change what is never shared")
    user = place.store("user")
    if matches_everything(pattern):
        raise UsageError(
            "the pattern matches every message",
            "use a longer pattern; to share nothing, run memfs team unshare --project",
        )
    if not remove and body_edits.check_secret("store", "the pattern", pattern):
        raise RejectedError(
            "the pattern looks like a secret",
            "use a pattern without the secret; memfs never shares secrets",
        )
    with membership.hold_membership(user):
        before = membership.load_patterns(user)
        if remove and pattern not in before:
            raise NotFoundError(
                f"there is no pattern {pattern!r}", "list the patterns: memfs team never"
            )
        rest = [each for each in before if each != pattern]
        membership.save_patterns(user, rest if remove else [*rest, pattern])
    report, waits = UploadReport(), ""
    for project in membership.list_joined_projects(user)[0]:
        if store := find_store(project):
            done = _send(user, store)
            report.removed += done.report.removed
            report.stored += done.report.stored
            waits = waits or done.waits
    return SendOutcome(report, waits)


def push(place: Place) -> UploadReport:
    """Send and take back what waits, now. Raises `TeamError` and what else `upload` does."""
    user, store, _ = _require_joined(place)
    return upload(user, store)


def leave_project(place: Place, origin: Origin, *, purge: bool) -> PurgeReply | None:
    """Leave the team's project; with `purge` all that you shared with it is deleted before.

    Without, it stays with the team. Raises `TeamError` where it cannot be deleted: the project is
    still joined then, and shares nothing.
    """
    require_person(origin, "leave a team")
    user, _, project = _require_joined(place)
    outbox = TeamOutbox(user, project.key)
    outbox.make_folder()
    with membership.hold_membership(user):  # an upload that runs sends no more after it
        if purge:
            rules = SharingRules(shown_at=project.rules.shown_at)
            membership.save_project(user, replace(project, rules=rules))
        else:
            membership.remove_project(user, project)
    gone = None
    with lock.hold_lock(user, name=outbox.lock):
        if purge:
            try:
                with open_client(user, project.address) as client:
                    gone = client.ask(PurgeReply, PurgeRequest(project.id))
            except MemfsError as error:
                error.message += "; this project is still joined, but no longer shares anything"
                raise
            with membership.hold_membership(user):
                membership.remove_project(user, project)
        outbox.remove()
    return gone


def require_person(origin: Origin, what: str) -> None:
    """Raise `RejectedError` for an assistant: it shares, takes back and joins nothing itself."""
    if origin.actor == "agent":
        raise RejectedError(
            f"only a person can {what}, but this is a shell of {origin.host or 'an assistant'}",
            "run the command in your own terminal",
        )


def _require_stores(place: Place) -> tuple[Store, Store]:
    return place.store("user"), place.store("project")


def _require_joined(place: Place) -> tuple[Store, Store, JoinedProject]:
    user, store = _require_stores(place)
    project = membership.load_project(user, store.local)
    if project is None:
        raise StoreError("this project has not joined a team", "run memfs team join URL")
    return user, store, project


def _choose_project(store: Store, found: Membership, name: str) -> TeamProject:
    names = ", ".join(f"'{each.name}'" for each in found.projects)
    hint = f"add --project with one of these names: {names}"
    if not names:
        hint = "ask the server's administrator for access to a project"
    if name:
        chosen = [each for each in found.projects if each.name == name]
        if not chosen:
            raise NotFoundError(
                f"the team '{found.team}' has no project '{name}' that you can access", hint
            )
        return chosen[0]
    said = git.run(store.top, "config", "--get-regexp", r"^remote\..*\.url$") or ""
    origins = {hash_origin(line.partition(" ")[2]) for line in said.splitlines()} - {""}
    chosen = [each for each in found.projects if origins & set(each.origins)]
    if len(chosen) != 1:
        what = "several projects" if chosen else "no project"
        raise NotFoundError(f"the team '{found.team}' has {what} with this repository", hint)
    return chosen[0]


def _find_shared(place: Place, user: Store, project: JoinedProject, ident: str) -> SessionName:
    """Return host and id of a session by a prefix of its id: of recall, or of what was shared."""
    with suppress(NotFoundError):
        found, _ = find_session(place, ident)
        return found.host, found.id
    sent = TeamOutbox(user, project.key).list_sessions()
    shared = {each.name for each in (*project.rules.sessions, *sent)}
    chosen = [name for name in shared if name[1].startswith(ident)]
    if len(chosen) != 1:
        raise NotFoundError(
            f"there is {'no' if not chosen else 'more than one'} session '{ident}'",
            "list the sessions: memfs session list",
        )
    return chosen[0]


def _change_rules(place: Place, change: Callable[[SharingRules], SharingRules]) -> SendOutcome:
    user, store, _ = _require_joined(place)
    with membership.hold_membership(user):
        project = _require_joined(place)[2]
        membership.save_project(user, replace(project, rules=change(project.rules)))
    return _send(user, store)


def _send(user: Store, store: Store) -> SendOutcome:
    """Send what waits; an error is why it goes on waiting."""
    try:
        return SendOutcome(upload(user, store))
    except MemfsError as error:
        return SendOutcome(UploadReport(), error.message)
