"""What one session has been shown already, and when a host's hook ran last. Hot path."""

import json
import os
import time

from memfs import files
from memfs.store.store_paths import Store

_KEPT_HITS = 500
_MOMENT = 5  # seconds
_SAID, _GIVEN, _CLAIM = "said-", "file-", "given-by"
_LEFT, _LONGEST_LEFT = "left.txt", 16 << 10
_PRIME = (1 << 61) - 1
_CAP = 256 << 20  # the texts of all blocks
_RUN = 64  # bytes of the record of a hook's run
_RUNS = 512  # records in a file


class ShownState:
    """The texts of the blocks as a session last saw them, and the hits it was shown.

    `blocks` maps `tier:label` to the file's text. Of a text that held a secret, which an editor
    wrote, it has the redacted one; `numbers` then has the number of the text that was shown.
    """

    __slots__ = ("blocks", "hits", "numbers")

    def __init__(
        self, blocks: dict[str, str], hits: list[str], numbers: dict[str, str] | None = None
    ) -> None:
        self.blocks = blocks
        self.hits = hits
        self.numbers = numbers or {}

    def has(self, key: str, text: str) -> bool:
        """Tell whether this text of a block, which is kept redacted, was shown."""
        if key not in self.numbers:
            return False
        from memfs.store import clean_texts  # an editor wrote a secret

        return self.numbers[key] == clean_texts.compute_number(text)


def path(store: Store, session: str) -> str:
    """Return the path of the record of what a session was shown."""
    return f"{store.session(session)}/shown.json"


def load(store: Store, session: str) -> ShownState | None:
    """Load what a session was shown; None if nothing is recorded."""
    found = files.read_record(path(store, session), _CAP)
    blocks, hits, numbers = found.get("blocks"), found.get("hits"), found.get("numbers")
    if not isinstance(blocks, dict) or not isinstance(hits, list):
        return None
    return ShownState(blocks, hits, numbers if isinstance(numbers, dict) else None)


def save(store: Store, session: str, shown: ShownState) -> bool:
    """Save what a session was shown, and tell whether secrets were redacted in it.

    It can be lost without harm: not fsynced.
    """
    from memfs.store import clean_texts  # a quiet prompt saves nothing

    _make_folder(store, session)
    kept = clean_texts.redact_texts(shown.blocks)
    secret = {key: text for key, text in shown.blocks.items() if kept[key] != text}
    found: dict[str, object] = {"blocks": kept, "hits": shown.hits[-_KEPT_HITS:]}
    if secret or shown.numbers:
        numbers = {key: clean_texts.compute_number(text) for key, text in secret.items()}
        found["numbers"] = {**shown.numbers, **numbers}
    _write(path(store, session), json.dumps(found))
    return bool(secret)


def queue_notice(store: Store, session: str, text: str, queue: str = _LEFT) -> None:
    """Queue a notice for a session's next prompt. It can be lost: not fsynced.

    `queue` is the name of another queue in the session's folder.
    """
    from memfs.files import logs  # most prompts leave none

    data = f"{text}\n".encode("utf-8", "replace")
    logs.append(f"{_make_folder(store, session)}/{queue}", data, durable=False)


def peek_notice(store: Store, session: str, queue: str = _LEFT) -> str:
    """Return the queued notices of a session, "" for none."""
    folder = store.session(session)
    if os.path.lexists(f"{folder}/.git"):
        return ""  # a repository of its own: what is in it came with that
    return (files.read(f"{folder}/{queue}", cap=_LONGEST_LEFT) or "").rstrip("\n")


def clear_notice(store: Store, session: str, queue: str = _LEFT) -> bool:
    """Remove the queued notices of a session; tell whether this call did."""
    return files.remove(f"{store.session(session)}/{queue}")


def mark_once(store: Store, session: str, what: str) -> bool:
    """Mark `what` as done in a session; tell whether it was not marked before."""
    folder = _make_folder(store, session)
    return files.make_empty(f"{folder}/{what}")


def is_marked(store: Store, session: str, what: str) -> bool:
    """Tell whether `mark_once` was called for it."""
    return files.is_file(f"{store.session(session)}/{what}")


def claim_brief(store: Store, session: str, who: str) -> bool:
    """Tell whether `who` (the hook of a start, or of a prompt) is to give a session the brief."""
    _make_folder(store, session)
    path = f"{store.session(session)}/{_CLAIM}"
    if not files.make_empty(path) and _is_recent(path) and files.read(path) != who:
        return False
    _write(path, who)
    return True


def release_brief(store: Store, session: str) -> None:
    """Note that the hook of a start gave the brief: whoever comes now finds what was shown."""
    files.remove(f"{store.session(session)}/{_CLAIM}")


def is_duplicate(store: Store, session: str, what: str) -> bool:
    """Tell whether a hook of this assistant's process said `what` a moment ago; else note it."""
    folder = _make_folder(store, session)
    mark = f"{_SAID}{_number(f'{os.getppid()} {what}')}"  # of one session, within a moment
    for name in files.names(folder):
        if name.startswith(_SAID) and not _is_recent(f"{folder}/{name}"):
            files.remove(f"{folder}/{name}")
    return not files.make_empty(f"{folder}/{mark}")


def _number(text: str) -> str:
    """Return a short name for a text; two texts of one session hardly ever share it."""
    return f"{int.from_bytes(text.encode('utf-8', 'replace'), 'big') % _PRIME:016x}"


def is_given(store: Store, session: str, what: str) -> bool:
    """Tell whether a session was given something since it had the whole brief."""
    return files.is_file(f"{store.session(session)}/{_GIVEN}{_number(what)}")


def note_given(store: Store, session: str, given: "list[str]") -> bool:
    """Note what a session was given; tell whether some of it was not noted before. Not fsynced."""
    folder = _make_folder(store, session)
    made = [files.make_empty(f"{folder}/{_GIVEN}{_number(what)}") for what in given]
    return any(made)


def forget_given(store: Store, session: str) -> None:
    """Forget what a session was given beside the brief: its context begins anew."""
    _remove_marks(store.session(session), _GIVEN)


def _remove_marks(folder: str, *kinds: str) -> None:
    for name in files.names(folder):
        if name.startswith(kinds):
            files.remove(f"{folder}/{name}")


def _make_folder(store: Store, session: str) -> str:
    from memfs.store import local_folder

    local_folder.make(store)
    folder = store.session(session)
    files.make_folder(folder, private=True, durable=False)
    return folder


def _write(path: str, text: str) -> None:
    """Write what can be lost without harm."""
    from memfs.files import atomic  # a quiet prompt writes nothing

    atomic.write(path, text, private=True, durable=False)


def _is_recent(path: str) -> bool:
    found = files.status(path)
    return found is not None and abs(time.time() - found.st_mtime) < _MOMENT


def forget_shown(store: Store, session: str) -> None:
    """Remove the record of what a session was shown: its next prompt gets the whole brief."""
    folder = store.session(session)
    for name in ("shown.json", _CLAIM):
        files.remove(f"{folder}/{name}")
    _remove_marks(folder, _SAID, _GIVEN)


def note_run(local: str, host: str, event: str, milliseconds: float) -> None:
    """Note in a store's local folder that a hook ran in a host just now, and how long it took.

    Written over an older record of the same length, in the place that the time gives it: to cut a
    file off, or to look where it ends, takes longer. It can be lost without harm: not fsynced.
    Raises `OSError`.
    """
    now = time.time()
    record = f"{event[:32]} {now:.3f} {milliseconds:.1f}".encode("ascii", "replace")
    path = f"{local}/hooks/{host}"
    try:
        handle, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT)
    except FileNotFoundError:
        files.make_folder(f"{local}/hooks", private=True, durable=False)
        handle, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.lseek(handle, int(now * 1000) % _RUNS * _RUN, os.SEEK_SET)
        os.write(handle, record[: _RUN - 1].ljust(_RUN - 1) + b"\n")
    finally:
        os.close(handle)


def list_runs(store: Store, host: str) -> list[tuple[str, float, float]]:
    """Return (event, when, milliseconds) of the last hooks that ran in a host, the oldest first.

    Most of the last few hundred are among them, and always the last one.
    """
    text = files.read(f"{store.local}/hooks/{host}", cap=_RUN * _RUNS) or ""
    found = []
    for start in range(0, len(text), _RUN):
        words = text[start : start + _RUN].replace("\0", " ").split()
        try:
            event, when, milliseconds = words
            found.append((event, float(when), float(milliseconds)))
        except ValueError:
            continue
    return sorted(found, key=lambda run: run[1])


def last_run(store: Store, host: str) -> tuple[str, float, float] | None:
    """Return (event, when, milliseconds) of the hook that ran last in a host; None: not known."""
    found = list_runs(store, host)
    return found[-1] if found else None
