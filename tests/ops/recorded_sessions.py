"""Sessions in recall, written as ingestion writes them, and changed as it changes them."""

import json
from pathlib import Path

from memfs.core.records import Message
from memfs.files import logs
from memfs.store import message_records, recall
from memfs.store.store_paths import Store

AT = "2026-05-01T09:00:{:02}Z"


def record(store: Store, session: str, *said: tuple[str, str], host: str = "claude") -> None:
    """Add messages to a session's recall file: (role, text)."""
    path = recall.get_path(store, host, session)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    before = len(list(recall.messages(path))) if Path(path).exists() else 0
    found = [
        Message(f"m{n}", session, host, "/w", "main", AT.format(n % 60), role, text)
        for n, (role, text) in enumerate(said, before)
    ]
    logs.append(path, b"".join(map(message_records.encode_message, found)))


def change(store: Store, session: str, old: str, new: str, host: str = "claude") -> None:
    """Replace a text in a session's recall file, as `memfs purge` does."""
    before, after = json.dumps(old)[1:-1], json.dumps(new)[1:-1]
    recall.rewrite(recall.get_path(store, host, session), lambda text: text.replace(before, after))
