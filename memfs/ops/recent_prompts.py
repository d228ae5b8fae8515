"""What assistants were given at their last prompts, and why; and what a person dismisses of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from zlib import crc32

from memfs import files
from memfs.core import tokens
from memfs.core.errors import NotFoundError, RejectedError
from memfs.store import dismissals, lock, prompt_log, recall
from memfs.store.blocks import Place
from memfs.store.dismissals import Dismissal
from memfs.store.prompt_log import PromptRecord, RecalledItem

_LOGGED = 1000  # prompts of which something can be dismissed


@dataclass(frozen=True)
class BroughtItem:
    """An item that a prompt was given: an answer of a session, or an entry of memory.

    `source` names where it is from, `why` says what matched. `dismissed`: it does not come for such
    prompts again.
    """

    id: str
    source: str
    why: str
    characters: int
    dismissed: bool


@dataclass(frozen=True)
class RecentPrompt:
    """The reply to one prompt; `prompt` is "" while its session is not in recall.

    `opened`: the reply came with these files instead, which a tool's call opened.
    `text` is the context the assistant was given, or ""; `items` are what was recalled in it.
    `about` is the relevance of the closest past exchange, `floor` the least that is shown,
    `nearest` names that exchange. `by_words` says why the search was by words alone, "" if it was
    by meaning too. `at` is UTC in ISO 8601.
    """

    at: str
    host: str
    session: str
    prompt: str
    text: str
    items: tuple[BroughtItem, ...]
    about: float
    floor: float
    nearest: str
    by_words: str
    opened: str = ""

    @property
    def tokens(self) -> int:
        """The tokens of what it was given, estimated."""
        return tokens.estimate(self.text) if self.text else 0

    @property
    def lack(self) -> float:
        """How much the closest past exchange lacks, 0 if nothing."""
        return max(0.0, self.floor - self.about)


@dataclass(frozen=True)
class DismissedItem:
    """An item that is not recalled for prompts like `prompt` ("": it is not in recall)."""

    id: str
    at: str
    prompt: str
    source: str


def run(place: Place, most: int) -> list[RecentPrompt]:
    """Return the replies to the last prompts here, and to what was opened since, newest first."""
    gone = {each.id for each in dismissals.read(place.home)}
    logged = prompt_log.read_all(place.home)
    prompts = [at for at, each in enumerate(logged) if not each.opened]
    found = []
    for each in logged[: prompts[most - 1] + 1] if len(prompts) >= most else logged:
        at = _format_time(each.at)
        said = "" if each.opened else _find_prompt_text(place, each.host, each.session, at)
        items = tuple(_make_item(each, item, gone) for item in each.items)
        about = (each.about, each.floor, each.nearest, each.by_words, each.opened)
        found.append(RecentPrompt(at, each.host, each.session, said, each.text, items, *about))
    return found


def dismiss(place: Place, ident: str) -> BroughtItem:
    """Dismiss an item, by its id, for prompts like the one it came for.

    Raises `NotFoundError`, and `RejectedError` for a prompt without content words.
    """
    for record in prompt_log.read(place.home, _LOGGED):
        for item in record.items:
            if _make_id(record, item) == ident:
                if not record.subject:
                    what = "the prompt has too few words to recognize similar prompts"
                    raise RejectedError(f"not dismissed: {what}")
                dismissal = Dismissal(
                    id=ident,
                    at=_format_time(record.at),
                    host=record.host,
                    session=record.session,
                    subject=record.subject,
                    source=item.source,
                    source_host=item.host,
                    source_session=item.session,
                    ids=item.ids,
                )
                dismissals.add(place.home, dismissal)
                return _make_item(record, item, {ident})
    raise NotFoundError(f"'{ident}' was not recalled for any prompt", "list the ids: memfs last 20")


def restore(place: Place, ident: str) -> None:
    """Take a dismissal back. Raises `NotFoundError`."""
    with lock.hold_lock(place.home, name=lock.KINDS):
        count = dismissals.remove(place.home, lambda each: each.id == ident)
    if not count:
        raise NotFoundError(
            f"'{ident}' is not dismissed", "list the dismissed items: memfs last --dismissed"
        )


def list_dismissed(place: Place) -> list[DismissedItem]:
    """Return what is dismissed here, the latest first."""
    found = []
    for each in reversed(dismissals.read(place.home)):
        said = _find_prompt_text(place, each.host, each.session, each.at)
        found.append(DismissedItem(each.id, each.at, said, each.source))
    return found


def _make_item(record: PromptRecord, item: RecalledItem, gone: Iterable[str]) -> BroughtItem:
    ident = _make_id(record, item)
    return BroughtItem(ident, item.source, item.reason, item.characters, ident in gone)


def _make_id(record: PromptRecord, item: RecalledItem) -> str:
    parts = (_format_time(record.at), record.host, record.session, *item.ids)
    return f"{crc32(' '.join(parts).encode('utf-8', 'replace')):08x}"


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _find_prompt_text(place: Place, host: str, session: str, at: str) -> str:
    """Return the user's last message in recall up to a time, "" if there is none."""
    if "\0" in host or not files.is_file(path := recall.get_path(place.home, host, session)):
        return ""
    messages = [
        each
        for each in recall.messages(path)
        if each.role == "user" and not each.side and each.at[:19] <= at[:19]
    ]
    return messages[-1].text if messages else ""
