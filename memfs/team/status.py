"""How a joined project stands, from files alone: what is shared, what waits, the last contact."""

from dataclasses import dataclass, field

from memfs import files
from memfs.core.errors import StoreError
from memfs.core.formats import format_count
from memfs.files import signatures, trees
from memfs.store import blocks, config, recall, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.team import membership
from memfs.team.membership import JoinedProject, SharingRules, TeamAccount
from memfs.team.outbox import ServerContact, TeamOutbox
from memfs.team.sharing import SIDE, SharedScope

_SLACK = 50_000_000  # nanoseconds by which a file's time may be behind the clock


@dataclass(frozen=True)
class TeamStatus:
    """A joined project. `waiting` counts sessions of which something is to be sent or taken back.

    `changed`: what is shared was changed since the last run, so anything may wait. `refused` counts
    messages that the server did not take. `problem` is what is wrong with our own files, "" for
    nothing: then nothing else is known.
    """

    project: JoinedProject | None = None
    account: TeamAccount | None = None
    waiting: int = 0
    changed: bool = False
    refused: tuple[str, ...] = ()
    contact: ServerContact = field(default_factory=ServerContact)
    problem: str = ""

    @property
    def waits(self) -> bool:
        """Whether something is to be sent, or taken back."""
        return self.changed or self.waiting > 0


def load_status(place: Place) -> TeamStatus | None:
    """Return how the project of a place stands, None where it has joined no team."""
    if place.project is None or place.user is None:
        return None
    return load_store_status(place.user, place.project)


def is_asked_at_prompts(place: Place) -> bool:
    """Tell whether the configuration lets prompts be sent to the server of a joined project."""
    settings = config.load(place)
    return settings.get("hooks.team") == "auto" and settings.get("hooks.recall") not in ("off", 0)


def load_store_status(user: Store, store: Store) -> TeamStatus | None:
    """Return how a store's project stands, None where it has joined no team."""
    try:
        project = membership.load_project(user, store.local)
        if project is None:
            return None
        account = membership.load_account(user, project.address)
        scope = SharedScope(user, store, project)
    except StoreError as error:
        return TeamStatus(problem=error.message)
    outbox = TeamOutbox(user, project.key)
    contact = outbox.load_contact()
    changed = contact.rules != scope.sign_rules() and (
        bool(project.rules.shown_at) or bool(outbox.list_sessions())
    )
    waiting = 0 if changed else _count_waiting(store, scope, outbox, contact.since)
    refused = tuple(outbox.load_refusals().values())
    return TeamStatus(project, account, waiting, changed, refused, contact)


def describe_sharing(rules: SharingRules) -> str:
    """Say in a line what is shared of a project."""
    parts = []
    if rules.base == "all":
        parts.append("all sessions" + " with tool calls" * rules.tools)
    elif rules.base == "solved":
        parts.append("question and outcome of turns that worked")
    chosen = len({each.name for each in rules.sessions})
    if chosen:
        parts.append(format_count(chosen, "session"))
    what = " and ".join(parts) or "nothing"
    return what + (
        f", except {format_count(len(rules.withheld), 'session')}" * bool(rules.withheld)
    )


def describe_waiting(found: TeamStatus) -> str:
    """Say in a line what is still to be sent or taken back."""
    if found.changed:
        return "the last change to shared sessions is not sent yet"
    if found.waiting:
        return f"{format_count(found.waiting, 'session')} to send or take back"
    return "nothing"


def describe_status(found: TeamStatus) -> str:
    """Say in a line how a joined project stands."""
    project, contact = found.project, found.contact
    if project is None:
        return found.problem
    parts = [f"{project.name}, {describe_sharing(project.rules)} shared"]
    if found.waits:
        parts.append(describe_waiting(found))
    if contact.error:
        is_away = contact.away and contact.reached_at
        away = f", last reached at {contact.reached_at}" if is_away else ""
        parts.append(f"{contact.error}{away}")
    if found.refused:
        parts.append(f"the server refused {format_count(len(found.refused), 'message')}")
    if found.account is None:
        parts.append(f"the token is missing (run memfs team join {project.address})")
    return "; ".join(parts)


def find_store(project: JoinedProject) -> Store | None:
    """Return the store of a joined project; None if it is gone, not trusted or turned off."""
    root = project.local.rpartition("/")[0]
    top = root.rpartition("/")[0]
    if not files.is_folder(root):
        return None
    store = store_paths.find_trusted(top)
    if store is None or store.local != project.local:
        return None
    return None if blocks.find_off_switch(Place(store, store_paths.user_store())) else store


def _count_waiting(store: Store, scope: SharedScope, outbox: TeamOutbox, since: int) -> int:
    top = f"{store.local}/recall"
    count = 0
    for host in _list_folders(top):
        for at, name in trees.list_times(f"{top}/{host}"):
            if at <= since - _SLACK or name.startswith(".") or SIDE in name:
                continue
            path = f"{top}/{host}/{name}"
            if name.endswith(recall.SUFFIX):
                count += _is_waiting(path, scope, outbox)
            elif name.endswith(recall.FORGOTTEN):
                count += (
                    outbox.load_session((host, name.removesuffix(recall.FORGOTTEN))) is not None
                )
    return count


def _is_waiting(path: str, scope: SharedScope, outbox: TeamOutbox) -> bool:
    first = next(recall.messages(path), None)
    if first is None or scope.find_choice((first.host, first.session)) is None:
        return False
    sent = outbox.load_session((first.host, first.session))
    return sent is None or not sent.rules or sent.signature != str(signatures.sign_file(path))


def _list_folders(folder: str) -> list[str]:
    try:
        return [name for name, is_folder in files.entries(folder) if is_folder]
    except OSError:
        return []
