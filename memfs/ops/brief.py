"""The brief: all of it when a session starts, only what is new at each prompt. Hot path.

Most prompts bring nothing new: what such a prompt does not need is imported where it is needed.
"""

import os

from memfs.core.events import PROMPT, START, Event
from memfs.store import blocks, sessions
from memfs.store.blocks import Place
from memfs.store.sessions import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.search.reminder import Recalled

RECALL_AUTO = 3  # hits for one prompt at most
_RECALL_BUDGET = 3000  # UTF-16 units


def run(event: Event) -> str:
    """Return the text for a session start or a prompt; "" if there is no store or nothing new."""
    place = blocks.serving(event.cwd, event.session)
    if place is None:
        return ""
    if event.kind == START:
        return start(place)
    return prompt(place, event.prompt) if event.kind == PROMPT else ""


def start(place: Place) -> str:
    """Return the whole brief, and note that the session was shown it."""
    from memfs.context import compose

    compose.begin(place)
    text, shown = compose.whole(place)
    sessions.save(place.home, place.session, Shown(shown, []))
    return text


def prompt(place: Place, text: str) -> str:
    """Return what is new since the session was last shown something."""
    shown = sessions.load(place.home, place.session)
    if shown is None:  # installed in the middle of a session, or its start was missed
        return start(place)
    read = blocks.texts(place)
    # What cannot be read just now has not changed, as far as anybody knows.
    now = {key: shown.blocks.get(key, "") if raw is None else raw for key, raw in read.items()}
    recalled = _recall(place, text, shown)
    if now == shown.blocks and not recalled:
        return ""
    from memfs.context import compose

    new = compose.news(now, shown.blocks, recalled, _RECALL_BUDGET)
    hits = shown.hits + [hit.id for hit in recalled]
    sessions.save(place.home, place.session, Shown(now, hits))
    return new


def unsay(event: Event) -> None:
    """Forget that a session was shown anything: the reply did not reach it."""
    place = blocks.serving(event.cwd, event.session)
    if place is not None:
        sessions.forget(place.home, place.session)


def _recall(place: Place, text: str, shown: Shown) -> "list[Recalled]":
    if len(text.split(None, 2)) < 2 or not os.path.isdir(place.home.index):
        return []  # a reminder needs two words in common
    from memfs.store import config

    wanted = config.load(place).get("hooks.recall")
    limit = RECALL_AUTO if wanted == "auto" else wanted if isinstance(wanted, int) else 0
    if limit < 1:
        return []
    from memfs.search import reminder

    return reminder.remind(place.home.index, text, place.session, shown.hits, limit)
