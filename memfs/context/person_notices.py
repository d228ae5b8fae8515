"""Notices for the person in front of an assistant, which no model reads. Hot path."""

from memfs import files
from memfs.core import label as labels
from memfs.core.escaping import flatten_text
from memfs.store import config, sessions, store_paths
from memfs.store.blocks import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from memfs.core.brief_layout import Recalled
    from memfs.core.records import JournalEntry

START, RECALL, EDIT = "start", "recall", "edit"
_QUEUE = "edited.txt"  # of a session: the edits since its last turn ended
_SHOWN = 60  # characters of a label or a text
_MOST = 3  # edits that are listed
_NOUNS = {  # of recalled items, where it is not the name of their kind
    "message": "session",
    "source": "source chunk",
    "static": "reference text",
    "team": "team answer",
}
_VERBS = {"delete": "deleted", "remove": "removed from", "rename": "renamed to"}


def is_wanted(place: Place, what: str) -> bool:
    """Tell whether the person wants notices of a kind; without a project there are none."""
    wanted = config.load(place).get("hooks.notices") if place.project else None
    return isinstance(wanted, list) and what in wanted


def describe_start(place: Place, blocks: "Collection[str]", rules: int) -> str:
    """Count the blocks (`tier:label`), rules and sessions for a new session; "" for a known one."""
    if files.is_file(sessions.path(place.home, place.session)) or not is_wanted(place, START):
        return ""
    folder = f"{place.home.local}/recall"
    counts = {
        "block": sum(not key.startswith(f"{labels.SESSION}:") for key in blocks),
        "rule": rules,
        "session": sum(
            name.endswith(".jsonl")
            for host in store_paths.list_folders(folder)
            for name in files.names(f"{folder}/{host}")
        ),
    }
    found = [_count(noun, number) for noun, number in counts.items() if number]
    return f"memfs: {', '.join(found)}" if found else ""


def describe_recall(place: Place, found: "Sequence[Recalled]") -> str:
    """Count what was recalled for a prompt, "" for nothing."""
    if not found or not is_wanted(place, RECALL):
        return ""
    counts: dict[str, int] = {}
    for hit in found:
        noun = _NOUNS.get(hit.kind, hit.kind)
        counts[noun] = counts.get(noun, 0) + 1
    listed = ", ".join(_count(noun, number) for noun, number in counts.items())
    return f"memfs: recalled {flatten_text(listed)} (see memfs last)"


def queue_edits(place: Place, session: str, entries: "Iterable[JournalEntry]") -> None:
    """Queue notices of edits for the end of the session's turn. On a full disk they are lost."""
    if not session or not is_wanted(place, EDIT):
        return
    lines = "\n".join(filter(None, map(_describe_edit, entries)))
    try:
        if lines:
            sessions.queue_notice(place.home, session, lines, _QUEUE)
    except OSError:
        return


def take_edits(place: Place) -> str:
    """Return the notices of the edits since the last call, "" for none."""
    text = sessions.peek_notice(place.home, place.session, _QUEUE)
    if not text or not sessions.clear_notice(place.home, place.session, _QUEUE):
        return ""  # another hook has them
    lines = text.split("\n")
    more = [f"memfs: {len(lines) - _MOST} more edits (see memfs log)"] if lines[_MOST:] else []
    return "\n".join([*(f"memfs: {line}" for line in lines[:_MOST]), *more])


def _describe_edit(entry: "JournalEntry") -> str:
    """Describe an edit and how to undo it; "" for the old label of a renamed block."""
    if entry.op == "rename" and entry.after is None:
        return ""
    from memfs.core import frontmatter  # with the first edit

    before, after = (
        (frontmatter.split(text)[1] if text else "").split("\n")
        for text in (entry.before, entry.after)
    )
    known, shown = (after, before) if entry.op == "remove" else (before, after)
    new = next((line for line in shown if line.strip() and line not in known), "")
    said = f": {_shorten(new)}" if new and entry.op not in ("delete", "rename") else ""
    label = _shorten(entry.label)
    return f"{_VERBS.get(entry.op, 'saved to')} '{label}'{said} (undo with memfs undo {label})"


def _shorten(text: str) -> str:
    from memfs.core.injection_signs import reveal_hidden  # with the first edit

    flat = reveal_hidden(flatten_text(text.strip()))
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1].rstrip()}…"


def _count(noun: str, number: int) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
