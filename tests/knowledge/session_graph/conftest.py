"""Sessions in recall, without an assistant."""

from memfs.core.records import Identity, Message, Transcript
from memfs.store import lock, message_records, recall
from memfs.store.blocks import Place

FIXED = (
    ("user", "The retry test of the payment client fails with a timeout"),
    ("assistant", "Let me look at the test."),
    ("tool Bash", "command: pytest tests/test_retry.py"),
    ("tool result", "1 failed in 2.1s"),
    ("tool Edit", "file_path: /app/client.py"),
    ("tool result", "The file was updated"),
    ("tool Bash", "command: pytest tests/test_retry.py"),
    ("tool result", "1 passed in 0.2s"),
    ("assistant", "Fixed: the test uses a fake clock now, so it does not wait."),
    ("user", "thanks!"),
    ("assistant", "You are welcome."),
)


def say(place: Place, session: str, *said: tuple[str, str], day: int = 1, start: int = 0) -> str:
    """Put turns into recall; return the path of the session's file."""
    messages = []
    for number, (who, text) in enumerate(said, start):
        role, _, tool = who.partition(" ")
        at = f"2026-05-{day:02}T09:{number // 60:02}:{number % 60:02}Z"
        messages.append(
            Message(f"m{number}", session, "claude", "/p", "main", at, role, text, tool)
        )
    log = recall.RecallLog(place.home, "claude", Identity(session, ""))
    with lock.hold_lock(place.home, name=lock.INGEST):
        state = log.load_state() or message_records.ReadState()
        log.extend(state, "", recall.encode_rows(Transcript(messages, 0, 0, 0)), "")
        recall.flush([(log, state)])
    return log.path
