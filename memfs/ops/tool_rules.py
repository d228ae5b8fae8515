"""What memory says about the file or command of an assistant's own tool. Hot path."""

import os
import time

from memfs.core import brief_layout, events, rule_scope
from memfs.core import label as labels
from memfs.core.escaping import flatten_text
from memfs.core.events import Event, Reply
from memfs.store import blocks, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.hosts.base import Host
    from memfs.search.engine import Engine
    from memfs.store.blocks import Place

_MOST_WORDS = 50  # of a shell line that may be files
_LONGEST_RULE = 700  # characters of a block with which a call is refused
_DECIDED = 500  # characters of what past sessions say about a file
_OFF, _AUTO = "off", "auto"


class ToolAnswer:
    """What a tool's call is answered. `given` is what the session is given by it, `hits` the ids.

    Both are to be noted once the reply arrived (see `note_given`). `opened` names the files.
    """

    __slots__ = ("given", "hits", "host", "opened", "reply")

    def __init__(self, reply: Reply, host: str = "") -> None:
        self.reply, self.host, self.opened = reply, host, ""
        self.given: list[str] = []
        self.hits: list[str] = []


class _Rule:
    """A block that is about files or commands; `scope` says which."""

    __slots__ = ("block", "key", "scope")

    def __init__(self, key: str, raw: str) -> None:
        self.key = key
        tier, _, label = key.partition(":")
        self.block = blocks.make(tier, label, "", raw)
        self.scope = self.block.scope


def answer(
    place: "Place", event: Event, host: "Host", engines: "Sequence[Engine]" = ()
) -> ToolAnswer:
    """Return the answer to a tool's call. Writes nothing.

    `engines` are the open indexes of the service; without any, past sessions are not looked into.
    """
    found = [
        _Rule(key, raw)
        for key, raw in blocks.read_texts(place).items()
        if raw and rule_scope.has_scope(raw)
    ]
    commands = _list_commands(event) if found else []
    if event.kind == events.BEFORE and found:
        refused = _decide(place, event, host, found, commands)
        if refused is not None:
            return ToolAnswer(refused)
    if event.kind != host.TELLS:
        return ToolAnswer(Reply())
    return _compose_reply(place, event, host, found, commands, engines)


def note_given(place: "Place", answered: ToolAnswer) -> bool:
    """Record what a session was given with a tool's call; tell whether no other call was it."""
    given = answered.given
    is_new = bool(given) and sessions.note_given(place.home, place.session, given)
    shown = sessions.load(place.home, place.session) if answered.hits else None
    if shown is not None:
        shown.hits += answered.hits
        sessions.save(place.home, place.session, shown)
    if is_new and answered.reply.context:
        from memfs.store import clean_texts, prompt_log  # hardly any call is given something

        text = clean_texts.redact_texts({"": answered.reply.context})[""]
        prompt_log.note_prompt(
            place.home,
            prompt_log.PromptRecord(
                time.time(), answered.host, place.session, 0, 0, "", text, opened=answered.opened
            ),
        )
    return is_new


def _list_opened(place: "Place", event: Event) -> list[str]:
    """Return the files that a call reads or writes, relative to the project.

    Those of a shell line are its words that name a file. One behind a link comes by both its names.
    """
    named = list(event.opened)
    if event.command:
        from memfs.core import shell_commands

        named += shell_commands.list_words(event.command)[:_MOST_WORDS]
    top = place.top or event.cwd
    found = []
    for file in named:
        if event.command and not os.path.isfile(os.path.join(event.cwd, file)):
            continue
        path = os.path.normpath(os.path.join(event.cwd, file))
        names = (path, os.path.realpath(path))
        found += [name[len(top) + 1 :] for name in names if name.startswith(f"{top}/")]
    return list(dict.fromkeys(found))


def _list_commands(event: Event) -> list[str]:
    if not event.command:
        return []
    from memfs.core import shell_commands

    return shell_commands.list_commands(event.command)


def _decide(
    place: "Place", event: Event, host: "Host", found: list[_Rule], commands: list[str]
) -> Reply | None:
    """Return the refusal or question of the blocks that a person accepted; a refusal goes first."""
    written = _list_opened(place, event) if event.files else []
    asked = None
    for rule in found:
        scope = rule.scope
        tier = rule.block.tier
        if not scope.enforce or tier == labels.SESSION:
            continue
        if scope.enforce == rule_scope.ASK and (asked or not host.ASKS):
            continue
        if not (any(map(scope.find_command, commands)) or any(map(scope.find_path, written))):
            continue
        from memfs.store import enforced_rules  # hardly any call matches

        day = enforced_rules.load_accepted(place.store(tier)).get(scope.sign(rule.key))
        if day is None:
            continue
        reply = Reply(refusal=_format_rule(rule, day), asks=scope.enforce == rule_scope.ASK)
        if not reply.asks:
            return reply
        asked = reply
    return asked


def _format_rule(rule: _Rule, day: str) -> str:
    text = flatten_text(rule.block.value.strip() or rule.block.description)
    if len(text) > _LONGEST_RULE:
        text = text[:_LONGEST_RULE].rsplit(" ", 1)[0] + " …"
    whose = "your own" if rule.block.tier == labels.USER else "this project's"
    return f"A rule from {whose} memory ({flatten_text(rule.block.label)}, {day}): {text}"


def _compose_reply(
    place: "Place",
    event: Event,
    host: "Host",
    found: list[_Rule],
    commands: list[str],
    engines: "Sequence[Engine]",
) -> ToolAnswer:
    """Return what the session was not given yet about the files and commands of a call."""
    answered = ToolAnswer(Reply(), host.NAME)
    store, session = place.home, place.session
    opened = _list_opened(place, event) if found or engines else []
    rules = []
    for rule in found:
        asks = rule.scope.enforce == rule_scope.ASK and not host.ASKS
        is_meant = asks and any(map(rule.scope.find_command, commands))
        what = f"{event.agent} {rule.key} {rule.block.raw}"
        if (is_meant or any(map(rule.scope.find_path, opened))) and not sessions.is_given(
            store, session, what
        ):
            rules.append(rule)
            answered.given.append(what)
    searched = [] if event.command or not engines else opened[:1]
    marks = [f"{event.agent} {path}" for path in searched]
    if marks and sessions.is_given(store, session, marks[0]):
        searched = []
    if not (rules or searched):
        return answered
    from memfs.store import config

    settings = config.load(place)
    mode, recalls = settings.get("hooks.files"), settings.get("hooks.recall")
    if mode == _OFF:
        answered.given.clear()
        return answered
    about = [path for path in opened if any(rule.scope.find_path(path) for rule in rules)]
    text = ""
    if rules:
        from memfs.context import brief_contents

        names = brief_contents.names(place, tools=event.tools)
        text = brief_layout.rules_for([rule.block for rule in rules], about, names)
    if searched and mode == _AUTO and recalls not in (_OFF, 0):
        from memfs.recall import file_recall

        answered.given += marks
        shown = sessions.load(store, session)
        hits = file_recall.find_decisions(
            engines[0], searched[0], session, shown.hits if shown else [], _DECIDED
        )
        if hits:
            heading = brief_layout.DECIDED.format(brief_layout.name_files(searched))
            text += brief_layout.hits(hits, 2 * _DECIDED, heading)
            answered.hits = [ident for hit in hits for ident in hit.ids]
    answered.reply = Reply(text)
    answered.opened = ", ".join(about or searched) or "(a command)"
    return answered
