"""The handovers of the newest sessions, and which session each was told to. Hot path.

`local/handoffs.json` is derived from recall. `local/handed-over` has a line for each that was told.
"""

import json
import os

from memfs import files
from memfs.files import atomic
from memfs.store import store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.store.store_paths import Store

_TOLD = "handed-over"
_CAP = 64 << 10  # bytes of either
_MOST_TOLD = 50
_IDLE = 30 * 60  # seconds without a message after which a session is not taken to be running
UNANSWERED, STOPPED = "the last request has no answer", "it stopped in the middle of a turn"
RUNNING = "it may still be running: its last turn has no end yet"
ASKED, DROPPED = "*", "-"  # in place of a session: it is to be told, however old it is, or never


class Handoff:
    """What a session leaves to the next one: `text` is what that is told.

    `project` is the folder it ran in, `at` the time of its last message (UTC, ISO 8601); it is told
    until the time `until` (seconds since 1970). `size` is that of the recall file then, in bytes.
    """

    __slots__ = ("at", "host", "project", "session", "size", "text", "until")

    def __init__(
        self, session: str, host: str, project: str, at: str, until: float, text: str, size: int = 0
    ) -> None:
        self.session, self.host, self.project = session, host, project
        self.at, self.until, self.text, self.size = at, until, text, size

    def get_text(self) -> str:
        """Return what the next session is told: a turn without an end may still be running."""
        if UNANSWERED not in self.text and STOPPED not in self.text:
            return self.text
        from memfs.store import clock  # where a turn has no end

        if clock.seconds() - clock.parse(self.at) > _IDLE:
            return self.text
        return self.text.replace(UNANSWERED, RUNNING).replace(STOPPED, RUNNING)


def write(store: "Store", found: "Iterable[Handoff]") -> None:
    """Write the handovers, the newest first, if they changed. They are derived: not fsynced."""
    text = json.dumps([[getattr(each, name) for name in _FIELDS] for each in found])
    path = store.handoffs
    if text != (files.read(path, cap=_CAP) or "[]"):
        atomic.write(path, text, private=True, durable=False)


_FIELDS = ("session", "host", "project", "at", "until", "text", "size")
_TYPES = [(str, str, str, str, number, str, int) for number in (int, float)]


def read(store: "Store") -> list[Handoff]:
    """Return the handovers of the newest sessions, the newest first; [] for a damaged file."""
    text = files.read(store.handoffs, cap=_CAP)
    if text is None:
        return []
    try:
        rows = json.loads(text)
        whole = all(tuple(map(type, row)) in _TYPES for row in rows)
        return [Handoff(*row) for row in rows] if whole else []
    except (TypeError, ValueError, RecursionError):
        return []


def find_last(store: "Store", session: str = "") -> Handoff | None:
    """Return the handover of the last session in a store's working tree, but for `session`."""
    found = (each for each in read(store) if each.session != session)
    return next((each for each in found if _is_in_tree(each.project, store.top)), None)


def _is_in_tree(folder: str, top: str) -> bool:
    """Tell whether a folder is of a working tree, not of another one inside, nor gone with it."""
    folder, top = os.path.realpath(folder), os.path.realpath(top)
    if not files.is_folder(folder):
        return False
    while folder != top and folder != os.path.dirname(folder):
        if os.path.lexists(f"{folder}/.git"):
            return False
        folder = os.path.dirname(folder)
    return folder == top


def find_receiver(store: "Store", handoff: Handoff) -> str:
    """Return the session that was told of a handover, `ASKED`, `DROPPED`, or "" for none."""
    return _read_told(store).get((handoff.session, handoff.at), "")


def take_handoff(store: "Store", session: str, *, again: bool) -> str:
    """Return what a beginning session is told of the last one, and note that it was told."""
    last = find_due(store, session, again=again)
    if last is None:
        return ""
    if find_receiver(store, last) != session:
        note_told(store, last, session)
    return last.get_text()


def find_due(store: "Store", session: str, *, again: bool) -> Handoff | None:
    """Return the handover that a beginning session is to be told.

    None if there is nothing, if another session was told in which something was said since, or if
    it is too old; with `again` it is told to the same session once more.
    """
    last = find_last(store, session)
    told = find_receiver(store, last) if last else ""
    if last is None or told == DROPPED or (told and told == session and not again):
        return None
    if told not in ("", ASKED, session) and _has_recall(store, told):
        return None
    if told not in (ASKED, session):
        from memfs.store import clock  # where there is one to tell

        if clock.seconds() > last.until:
            return None
    return last


def _has_recall(store: "Store", session: str) -> bool:
    """Tell whether a session was read: one that was only opened was not."""
    folder, name = f"{store.local}/recall", store_paths.file_name(session)
    return any(
        files.is_file(f"{folder}/{host}/{name}.jsonl") for host in store_paths.list_folders(folder)
    )


def _read_told(store: "Store") -> dict[tuple[str, str], str]:
    lines = (files.read(f"{store.local}/{_TOLD}", cap=_CAP) or "").split("\n")
    parts = [line.split("\t") for line in lines]
    return {(each[0], each[1]): each[2] for each in parts if len(each) == 3}


def note_told(store: "Store", handoff: Handoff, session: str) -> None:
    """Note which session was told of a handover, or `ASKED` or `DROPPED`."""
    told = _read_told(store)
    told.pop((handoff.session, handoff.at), None)
    told[handoff.session, handoff.at] = session
    rows = list(told.items())[-_MOST_TOLD:]
    text = "".join(f"{name}\t{at}\t{who}\n" for (name, at), who in rows)
    atomic.write(f"{store.local}/{_TOLD}", text, private=True, durable=False)
