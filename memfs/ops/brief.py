"""The brief: all of it when a session starts, only updates at each prompt. Hot path.

Most prompts bring nothing new: imports that such a prompt does not need are local to functions.
"""

import time

from memfs import files
from memfs.core.events import AGENT, PROMPT, REVIEW, START, Event, Reply
from memfs.store import blocks, sessions
from memfs.store.blocks import Place
from memfs.store.sessions import ShownState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from memfs.recall.answers import PromptRecall
    from memfs.recall.gone_files import GoneFiles
    from memfs.search.engine import Engine
    from memfs.search.prompt_relevance import PromptHit
    from memfs.store.standing_rules import StandingRule

    class TeamAsker(Protocol):
        """Asks a team's server in the background while this process searches."""

        def is_joined(self, place: Place) -> bool: ...
        def prepare(self, place: Place) -> None: ...
        def ask(
            self, place: Place, prompt: str, shown: list[str]
        ) -> Callable[[], list[PromptHit]] | None: ...


_BEGINNINGS = ("startup", "new")  # start sources of a session that has no brief yet
RECALL_AUTO = 5  # most sessions and hits for one prompt
_AUTO = "auto"
_OUTDATED = "# Files that memory above names, and that are gone or moved since"
_RECALL_BUDGET = 3000  # UTF-16 units
# Why a prompt is searched for by words alone.
_LATE = "the service did not answer within 0.1 seconds"
NO_SERVICE = "no service answered"
LOADING = "the service had not opened the index yet"


def run(event: Event) -> Reply:
    """Reply to a session start or a prompt: the brief or its updates. Empty if nothing is new."""
    place = blocks.find_answering(event)
    reply = Reply()
    if place is not None and event.kind == START:
        reply = _begin(place, event)
    elif place is not None and event.kind == AGENT:
        reply = Reply(_compose(place, event.host, tools=event.tools, note=False)[0])
    elif place is not None and event.kind == PROMPT:
        why = _LATE if event.late else NO_SERVICE
        reply = prompt(place, event.prompt, host=event.host, tools=event.tools, unserved=why)
    if place is not None and reply.context and is_repeated(place, event, reply.context):
        return Reply()
    if event.kind != START:
        return reply
    from memfs.context import session_start

    return Reply(reply.context, session_start.complete_notice(place, event.cwd, reply.notice))


def _begin(place: Place, event: Event) -> Reply:
    """Reply to a session start with the brief; empty if a prompt's hook is sending it now.

    On a full or read-only disk the brief is sent, and nothing is recorded.
    """
    try:
        if event.source in _BEGINNINGS and not sessions.claim_brief(
            place.home, place.session, START
        ):
            return Reply()
        last = ""
        if event.source in _BEGINNINGS:
            last = _take_handoff(place, again=True)  # to each of two hooks of the same moment
        reply = start(place, host=event.host, tools=event.tools, last=last)
        sessions.release_brief(place.home, place.session)
    except OSError:
        text, _, notice = _compose(place, event.host, tools=event.tools, note=False)
        return Reply(text, notice)
    return reply


def is_repeated(place: Place, event: Event, text: str) -> bool:
    """Return whether another hook of ours told the session the same, for the same event.

    What tools and subagents are told may be the same text again: their id tells two apart.
    """
    if not event.call and event.kind not in (START, PROMPT):
        return False
    key = f"{event.name} {event.call} {event.source} {event.prompt} {text}"
    try:
        return sessions.is_duplicate(place.home, place.session, key)
    except OSError:  # nothing can be recorded, so no earlier call was
        return False


def start(place: Place, *, host: str = "", tools: bool = False, last: str = "") -> Reply:
    """Return the whole brief, and record that the session was shown it.

    `tools`: the assistant has our tools; without them the brief names the command line. `last` is
    what it is told of the last session.
    """
    text, shown, notice = _compose(place, host, tools=tools, note=True, last=last)
    sessions.forget_given(place.home, place.session)
    sessions.save(place.home, place.session, ShownState(shown, []))
    return Reply(text, notice)


def _compose(
    place: Place, host: str, *, tools: bool, note: bool, last: str = ""
) -> "tuple[str, dict[str, str], str]":
    from memfs.context import session_start

    return session_start.compose_whole(place, host=host, tools=tools, note=note, last=last)


def _take_handoff(place: Place, *, again: bool) -> str:
    """Return what a beginning session is told of the last one in the project, "" for nothing.

    So it is if `hooks.handoff` is off. Most starts find no such file.
    """
    store = place.project
    if store is None or not files.is_file(store.handoffs):
        return ""
    from memfs.store import config, handoff

    if config.load(place).get("hooks.handoff") != "auto":
        return ""
    return handoff.take_handoff(store, place.session, again=again)


def prompt(
    place: Place, text: str, *, host: str = "", tools: bool = False, unserved: str = NO_SERVICE
) -> Reply:
    """Return the updates since the session was last shown something, and record them as shown.

    `unserved` says why the service does not do this.
    """
    shown = sessions.load(place.home, place.session)
    if shown is None:  # installed during a session, or its start was missed
        if not sessions.claim_brief(place.home, place.session, PROMPT):
            return Reply()  # the start's hook is sending the brief now
        shown = sessions.load(place.home, place.session)
        if shown is None:
            last = _take_handoff(place, again=False)
            return start(place, host=host, tools=tools, last=last)
        sessions.release_brief(place.home, place.session)  # the start's hook has sent it meanwhile
    reply, update = updates_since(place, text, shown, tools=tools, unserved=unserved)
    note_shown(place, host, reply, update)
    return reply


_NOT_KEPT = "(a changed block; not recorded here, because it contains a secret)"


class BriefUpdate:
    """The updates at a prompt: `now` is the state shown afterwards, None if nothing is new.

    `brought` is the result of recall, None if there was no search.
    """

    __slots__ = ("brought", "now")

    def __init__(self, now: ShownState | None, brought: "PromptRecall | None") -> None:
        self.now, self.brought = now, brought


def note_shown(place: Place, host: str, reply: Reply, update: BriefUpdate) -> None:
    """Save the shown state, clear the queued notice, and log the prompt with its recall."""
    text = reply.context
    if update.now is not None:
        if sessions.save(place.home, place.session, update.now):
            text = _NOT_KEPT
        sessions.clear_notice(place.home, place.session)
    recall = update.brought
    if recall is not None:
        from memfs.store import prompt_log

        about = (recall.about, recall.floor, recall.nearest)
        items = (recall.list_items(), recall.by_words, recall.subject)
        record = prompt_log.PromptRecord(time.time(), host, place.session, *about, text, *items)
        try:
            prompt_log.note_prompt(place.home, record)
        except OSError:  # the disk is full: the log is only for people who read it
            return


def updates_since(
    place: Place,
    text: str,
    shown: ShownState,
    engines: "Sequence[Engine]" = (),
    team: "TeamAsker | None" = None,
    *,
    tools: bool,
    unserved: str = LOADING,
    gone: "GoneFiles | None" = None,
) -> tuple[Reply, BriefUpdate]:
    """Return the updates for a session that was `shown` something, and the state to record.

    Writes nothing. `engines` are the open indexes (see `prompts.recall`); without any `unserved`
    says why. `team` asks the team, where the project has joined one; None: it is not asked. `gone`
    are the files of which recalled texts say that they are gone.
    """
    texts = blocks.read_texts(place)
    # A block that cannot be read now counts as unchanged.
    same = {key for key, raw in texts.items() if raw is None or shown.has(key, raw)}
    now = {
        key: shown.blocks.get(key, "") if key in same else raw or "" for key, raw in texts.items()
    }
    result = None if text.startswith(REVIEW) else _recall(place, text, shown, engines, team)
    if result is not None and not engines:
        result.by_words = unserved
    recalled = result.found if result else []
    outdated: list[str] = []
    if gone is not None and result is not None:
        gone.annotate(place, recalled)
        outdated = gone.list_outdated(place.session, now, lambda: _list_rules(place, now))
        outdated = [line for line in outdated if line not in shown.hits]
    notice = sessions.peek_notice(place.home, place.session)
    if now == shown.blocks and not recalled and not outdated and not notice:
        return Reply(), BriefUpdate(None, result)
    from memfs.context import brief_contents, person_notices

    # One that is kept redacted and has changed is shown whole: what changed in it is not known.
    unknown = {key for key in shown.numbers if key in texts and key not in same}
    before = {key: text for key, text in shown.blocks.items() if key not in unknown}
    new = brief_contents.format_updates(
        now, before, recalled, _RECALL_BUDGET, place=place, tools=tools
    )
    old = "".join([f"{_OUTDATED}\n", *(f"- {line}\n" for line in outdated)]) if outdated else ""
    new = "\n".join(part for part in (new, old, notice) if part)
    hits = shown.hits + [ident for hit in recalled for ident in hit.ids] + outdated
    numbers = {key: number for key, number in shown.numbers.items() if key in same}
    line = person_notices.describe_recall(place, recalled)
    return Reply(new, line), BriefUpdate(ShownState(now, hits, numbers), result)


def _list_rules(place: Place, texts: "dict[str, str]") -> "Sequence[StandingRule]":
    from memfs.context import brief_contents  # once in a session

    return brief_contents.unwritten_rules(place, texts.values())


def forget_shown(event: Event) -> None:
    """Discard the shown state of a session whose reply was not delivered."""
    place = blocks.find_answering(event)
    if place is not None:
        sessions.forget_shown(place.home, place.session)


def _recall(
    place: Place,
    text: str,
    shown: ShownState,
    engines: "Sequence[Engine]",
    team: "TeamAsker | None",
) -> "PromptRecall | None":
    if text.isascii() and len(text.split(None, 2)) < 2:
        return None  # it needs two words; scripts without spaces have more in one
    sourced = any(files.is_folder(store.sources) for store in place.stores())
    joined = team is not None and team.is_joined(place)
    if not sourced and not joined and not files.is_folder(place.home.index):
        return None
    from memfs.store import config

    settings = config.load(place)
    mode = settings.get("hooks.recall")
    limit = RECALL_AUTO if mode == _AUTO else mode if isinstance(mode, int) else 0
    if limit < 1:
        return None
    is_asked = team is not None and joined and settings.get("hooks.team") == _AUTO
    collect = team.ask(place, text, shown.hits) if team is not None and is_asked else None
    from memfs.recall import prompts

    found = prompts.recall(place, engines, text, shown.hits, limit)
    if sourced and len(found.found) < limit and settings.get("hooks.sources") == _AUTO:
        from memfs.recall import item_recall

        known = [*shown.hits, *found.hidden]
        used = sum(len(hit.snippet) for hit in found.found)
        more = item_recall.recall_sources(place, engines, text, known, used)
        found.found += more[: limit - len(found.found)]
    if collect is not None:
        answers = [each for each in collect() if found.hidden.isdisjoint(each.ids)]
        found.found += answers[: max(0, limit - len(found.found))]
    return found
