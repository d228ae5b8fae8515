"""The brief: all of it when a session starts, only what is new at each prompt. Hot path.

Most prompts bring nothing new: what such a prompt does not need is imported where it is needed.
"""

import time

from memfs import files
from memfs.core.events import AGENT, PROMPT, REVIEW, START, Event, Reply
from memfs.store import blocks, sessions, store_paths
from memfs.store.blocks import Place
from memfs.store.sessions import ShownState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

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
        reply = Reply(_whole(place, tools=event.tools, note=False)[0])
    elif place is not None and event.kind == PROMPT:
        reply = prompt(place, event.prompt, host=event.host, tools=event.tools)
    if place is not None and reply.context and event.kind in (START, PROMPT):
        what = f"{event.name} {event.source} {event.prompt} {reply.context}"
        if _repeats(place, what):
            return Reply()
    if event.kind != START:
        return reply
    notice = reply.notice
    if place is None or place.project is None:
        notice = _stranger(event.cwd)
    elif place.unread or not store_paths.is_store(place.project.root):
        notice = "\n".join(filter(None, (notice, *_damage(place))))
    if place is not None and files.is_folder(f"{place.home.local}/reviews"):
        notice = "\n".join(filter(None, (notice, _reviewed(place))))
    return Reply(reply.context, notice)


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
        text, _, notice = _whole(place, tools=event.tools, note=False)
        return Reply(text, notice)
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
    from memfs.context import brief_text
    from memfs.store import host_sessions

    brief_text.create_scratch_block(place)
    if place.session:
        host_sessions.note_session(place.home, place.session)
    text, shown, notice = _whole(place, tools=tools, note=True)
    sessions.save(place.home, place.session, ShownState(shown, []))
    return Reply(text, notice)


def _whole(place: Place, *, tools: bool, note: bool) -> tuple[str, dict[str, str], str]:
    """Return the whole brief, the texts it was made of, and what the person is told of others.

    `note`: the person is told it now.
    """
    from memfs.context import brief_text
    from memfs.store import trust

    notice = ""
    if place.project and trust.is_behind(place.project):
        from memfs.context import upstream_changes

        notice = upstream_changes.notice(upstream_changes.review_changes(place, note=note))
    text, shown = brief_text.compose_brief(place, tools=tools)
    rules = brief_text.unwritten_rules(place, shown.values())
    if note:
        notice = "\n".join(filter(None, (notice, brief_text.offer_rules(place, rules))))
    return brief_text.with_rules(text, rules), shown, notice


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
        sessions.forget(place.home, place.session)


def _reviewed(place: Place) -> str:
    """Tell the person what reviews saved that they were not told of."""
    from memfs.store import reviews

    return "\n".join(f"memfs: {line} (memfs review)" for line in reviews.take_news(place.home))


def _damage(place: Place) -> "list[str]":
    """Tell the person what of a project's store cannot be used."""
    from memfs.core.escaping import make_plain

    found = [make_plain(each) for each in dict.fromkeys(place.unread or ())]
    if place.project and not store_paths.is_store(place.project.root):
        path = make_plain(f"{place.project.root}/{store_paths.CONFIG}")
        found.append(f"{path} is missing or damaged (memfs init writes it anew if it is gone)")
    return [f"memfs: {each}" for each in found]


def _stranger(folder: str) -> str:
    """Tell the person of a project store that they do not trust (yet)."""
    from memfs.core.escaping import flatten_text
    from memfs.core.invisible_characters import reveal_hidden

    store = store_paths.find(folder or ".")
    if store is None:
        return ""
    name = reveal_hidden(flatten_text(store.root))
    if store_paths.is_trusted(store):
        return (
            f"memfs: git does not say what came with it into {name}; nothing of it is "
            f"used until it does: git -C {name} ls-files -s"
        )
    return (
        f"memfs: {name} came with this project; nothing of it is used until you "
        "have looked at it: memfs trust"
    )


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
