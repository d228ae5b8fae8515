"""The spool: hooks that must be quick drop one small file, ingest drains it. Hot path."""

import json
import os

from memfs import files
from memfs.files import atomic
from memfs.store import local_folder
from memfs.store.store_paths import Store

FOLDER = "inbox"


def write_note(store: Store, host: str, transcript: str, session: str = "") -> None:
    """Note that a transcript (of `session`, if known) has new messages."""
    local_folder.make(store)
    folder = f"{store.local}/{FOLDER}"
    files.make_folder(folder, private=True, durable=False)
    name = f"{os.getpid()}-{os.urandom(4).hex()}.json"
    text = json.dumps({"host": host, "transcript": transcript, "session": session})
    atomic.write(f"{folder}/{name}", text, private=True, durable=False)


def list_notes(store: Store) -> list[tuple[str, str, str, str]]:
    """List (file, host, transcript, session) of the notes; remove other files there."""
    folder = f"{store.local}/{FOLDER}"
    found = []
    for name in files.names(folder):
        if not name.endswith(".json"):
            continue
        path = f"{folder}/{name}"
        note = files.read_record(path)
        transcript = note.get("transcript")
        if isinstance(transcript, str):
            host, session = str(note.get("host", "")), str(note.get("session", ""))
            found.append((path, host, transcript, session))
        else:
            files.remove(path)
    return found


def remove_note(path: str) -> None:
    """Remove one note from the spool."""
    files.remove(path)
