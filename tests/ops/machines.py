"""Two machines of one person, and the remote that both sync their own stores with."""

import subprocess
from pathlib import Path
from typing import NamedTuple

from memfs.core.records import Identity, Message, Transcript
from memfs.ops import init, sync_user
from memfs.store import recall, remote_store
from memfs.store.blocks import Place
from memfs.store.message_records import ReadState


class World(NamedTuple):
    """Two machines, and the remote of both."""

    one: Place
    two: Place
    remote: str

    def sync(self, *places: Place, sessions: bool = True) -> None:
        for place in places:
            sync_user.run(place, self.remote, sessions=sessions)


def make_world(folder: Path) -> World:
    folder = folder.resolve()
    places = []
    for name in ("one", "two"):
        place = init.make_separate_place(str(folder / name), "")
        places.append(Place(None, place.user))
    return World(places[0], places[1], str(folder / "remote.git"))


def root(place: Place) -> Path:
    return Path(place.store("user").root)


def put(place: Place, name: str, text: str) -> Path:
    path = root(place) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def say(place: Place, session: str, *texts: str) -> None:
    """Write messages of a session, as reading its transcript does."""
    log = recall.RecallLog(place.store("user"), "claude", Identity(session, ""))
    state = log.load_state() or ReadState()
    said = [
        Message(f"{session}-{text}", session, "claude", "/work", "", f"2026-05-03T10:{at:02}", "user", text)
        for at, text in enumerate(texts)
    ]  # fmt: skip
    rows = recall.encode_rows(Transcript(said, state.offset + 1, 0, 0))
    log.extend(state, f"/{session}.jsonl", rows, "mark")
    recall.flush([(log, state)])


def memory(place: Place) -> dict[str, str]:
    """Return all that is synced, by name."""
    names, left_out = remote_store.list_files(place.store("user"), sessions=True)
    assert not left_out
    return {
        name: Path(remote_store.get_path(place.store("user"), name)).read_text()
        for name in sorted(names)
    }


def run(folder: str | Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True, text=True)
    return done.stdout
