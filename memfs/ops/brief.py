"""The brief: all of it when a session starts, only what is new at each prompt. Hot path.

Most prompts bring nothing new: what such a prompt does not need is imported where it is needed.
"""

import time

from memfs import files
from memfs.core.events import AGENT, PROMPT, REVIEW, START, Event, Reply
from memfs.store import blocks, sessions
from memfs.store.blocks import Place
from memfs.store.sessions import ShownState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from memfs.context.session_start import WholeBrief
    from memfs.recall.answers import PromptRecall

    Recall: TypeAlias = Callable[[Place, str, list[str], int], PromptRecall]

_BEGINNINGS = ("startup", "new")  # why a session starts that was given nothing yet
RECALL_AUTO = 5  # sessions and hits for one prompt at most
_RECALL_BUDGET = 3000  # UTF-16 units


def run(event: Event) -> Reply:
    """Return what a session start or a prompt is told; nothing if nothing is new."""
    place = blocks.find_answering(event)
    reply = Reply()
    if place is not None and event.kind == START:
        reply = _begin(place, event)
    elif place is not None and event.kind == AGENT:
        reply = Reply(_compose(place, tools=event.tools, note=False).text)
    elif place is not None and event.kind == PROMPT:
        reply = prompt(place, event.prompt, host=event.host, tools=event.tools)
    if place is not None and reply.context and event.kind in (START, PROMPT):
        what = f"{event.name} {event.source} {event.prompt} {reply.context}"
        if _repeats(place, what):
            return Reply()
    if event.kind != START:
        return reply
    from memfs.context import session_start

    return Reply(reply.context, session_start.complete_notice(place, event.cwd, reply.notice))


def _begin(place: Place, event: Event) -> Reply:
    """Return what the start of a session is told: nothing if a prompt's hook is just giving it.

    A disk that is full, or read-only, keeps nobody from it.
    """
    try:
        if event.source in _BEGINNINGS and not sessions.claim_brief(
            place.home, place.session, START
        ):
            return Reply()
        reply = start(place, tools=event.tools)
        sessions.release_brief(place.home, place.session)
    except OSError:
        whole = _compose(place, tools=event.tools, note=False)
        return Reply(whole.text, whole.notice)
    return reply


def _repeats(place: Place, what: str) -> bool:
    try:
        return sessions.is_duplicate(place.home, place.session, what)
    except OSError:  # it cannot be noted: it was not, before, either
        return False


def start(place: Place, *, tools: bool = False) -> Reply:
    """Return the whole brief, and note that the session was shown it.

    `tools`: the assistant is offered ours; else it is told the command line.
    """
    whole = _compose(place, tools=tools, note=True)
    sessions.save(place.home, place.session, ShownState(whole.shown, []))
    return Reply(whole.text, whole.notice)


def _compose(place: Place, *, tools: bool, note: bool) -> "WholeBrief":
    from memfs.context import session_start

    return session_start.compose_whole(place, tools=tools, note=note)


def prompt(place: Place, text: str, *, host: str = "", tools: bool = False) -> Reply:
    """Return what is new since the session was last shown something, and note that it was."""
    shown = sessions.load(place.home, place.session)
    if shown is None:  # installed in the middle of a session, or its start was missed
        if sessions.claim_brief(place.home, place.session, PROMPT):
            return start(place, tools=tools)
        return Reply()  # the start's hook is just giving it
    reply, found = updates_since(place, text, shown, None, tools=tools)
    note_shown(place, host, reply, found)
    return reply


class BriefUpdate:
    """What is new at a prompt: `now` is what the session has seen then, None: nothing is new.

    `brought` is what the prompt brought to mind, None where nobody looked.
    """

    __slots__ = ("brought", "now")

    def __init__(self, now: ShownState | None, brought: "PromptRecall | None") -> None:
        self.now, self.brought = now, brought


def note_shown(place: Place, host: str, reply: Reply, found: BriefUpdate) -> None:
    """Note what a session has seen now, what was left to tell it too, and what it was given."""
    if found.now is not None:
        sessions.save(place.home, place.session, found.now)
        sessions.clear_notice(place.home, place.session)
    brought = found.brought
    if brought is not None:
        from memfs.store import prompt_log

        what = prompt_log.PromptRecord(
            time.time(),
            host,
            place.session,
            brought.about,
            brought.floor,
            brought.nearest,
            brought.explain(),
            reply.context,
        )
        try:
            prompt_log.note_prompt(place.home, what)
        except OSError:  # no room: it is for people who look
            return


def updates_since(
    place: Place, text: str, shown: ShownState, recall: "Recall | None", *, tools: bool
) -> tuple[Reply, BriefUpdate]:
    """Return what is new for a session that was `shown` something, and what is to be noted of it.

    Nothing is noted yet. `recall` finds what a prompt brings to mind; None: this process looks by
    itself, by words.
    """
    read = blocks.read_texts(place)
    # What cannot be read just now has not changed, as far as anybody knows.
    now = {key: shown.blocks.get(key, "") if raw is None else raw for key, raw in read.items()}
    brought = None if text.startswith(REVIEW) else _recall(place, text, shown, recall)
    recalled = brought.found if brought else []
    left = sessions.peek_notice(place.home, place.session)
    if now == shown.blocks and not recalled and not left:
        return Reply(), BriefUpdate(None, brought)
    from memfs.context import brief_text

    new = brief_text.format_updates(now, shown.blocks, recalled, _RECALL_BUDGET, tools=tools)
    new = "\n".join(part for part in (new, left) if part)
    hits = shown.hits + [ident for hit in recalled for ident in hit.ids]
    return Reply(new), BriefUpdate(ShownState(now, hits), brought)


def forget_shown(event: Event) -> None:
    """Forget that a session was shown anything: the reply did not reach it."""
    place = blocks.find_answering(event)
    if place is not None:
        sessions.forget_shown(place.home, place.session)


def _recall(
    place: Place, text: str, shown: ShownState, recall: "Recall | None"
) -> "PromptRecall | None":
    if len(text.split(None, 2)) < 2 or not files.is_folder(place.home.index):
        return None  # a reminder needs two words in common
    from memfs.store import config

    settings = config.load(place)
    wanted = settings.get("hooks.recall")
    limit = RECALL_AUTO if wanted == "auto" else wanted if isinstance(wanted, int) else 0
    if limit < 1:
        return None
    if recall is not None:
        return recall(place, text, shown.hits, limit)
    from memfs.recall.prompts import recall_by_words

    return recall_by_words(place.home.index, text, place.session, shown.hits, limit)
