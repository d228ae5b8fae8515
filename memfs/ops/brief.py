"""The brief: all of it when a session starts, only what is new at each prompt. Hot path.

Most prompts bring nothing new: what such a prompt does not need is imported where it is needed.
"""

import os

from memfs.core.events import PROMPT, START, Event
from memfs.store import blocks, layout, sessions
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
    text = compose.whole(place)
    sessions.save(_home(place), place.session, Shown(blocks.texts(place), []))
    return text


def prompt(place: Place, text: str) -> str:
    """Return what is new since the session was last shown something."""
    home = _home(place)
    shown = sessions.load(home, place.session)
    if shown is None:  # installed in the middle of a session, or its start was missed
        return start(place)
    now = blocks.texts(place)
    recalled = _recall(place, text, shown)
    if now == shown.blocks and not recalled:
        return ""
    from memfs.context import compose

    new = compose.news(place, shown.blocks, recalled, _RECALL_BUDGET)
    hits = shown.hits + [hit.id for hit in recalled]
    sessions.save(home, place.session, Shown(now, hits))
    return new


def _recall(place: Place, text: str, shown: Shown) -> "list[Recalled]":
    folder = f"{_home(place).local}/index"
    if not text or text.isspace() or not os.path.isdir(folder):
        return []
    from memfs.store import config

    wanted = config.load(place).get("hooks.recall")
    limit = RECALL_AUTO if wanted == "auto" else wanted if isinstance(wanted, int) else 0
    if limit < 1:
        return []
    from memfs.search import reminder

    return reminder.remind(folder, text, place.session, shown.hits, limit)


def _home(place: Place) -> layout.Store:
    """Return the store that keeps what a session was shown."""
    store = place.project or place.user
    if store is None:
        raise AssertionError("a place has a store")
    return store
