"""What of the sessions in recall is shared with a team by the rules now: nothing is queued."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from memfs.core import privacy
from memfs.core.records import Message
from memfs.core.snippet import snippet
from memfs.core.text_folding import TextPatterns
from memfs.ipc.client import VERSION
from memfs.store import recall, session_outcomes
from memfs.store.store_paths import Store
from memfs.team import membership
from memfs.team.membership import JoinedProject, SessionName
from memfs.team.protocol import LONGEST, SharedMessage, compute_id

SIDE = ".agent-"  # in the names of subagents' recall files
TOOLS, PRIVATE = "from tools", "with only private text"
NEVER = "matching a pattern of 'memfs team never'"
_SAID = ("user", "assistant")
_TITLE = 100  # characters
_NUL = "\0"  # which no database keeps


@dataclass(frozen=True)
class SessionChoice:
    """What of one session is shared: ranges of turns (first, last or 0, with tools).

    `solved` are turns (0: the session) of which the question and the outcome are.
    """

    ranges: tuple[tuple[int, int, bool], ...] = ()
    solved: tuple[int, ...] = ()

    def find_range(self, turn: int) -> bool | None:
        """Return whether a turn is shared with its tools; None if it is not shared."""
        found = [tools for first, last, tools in self.ranges if first <= turn <= (last or turn)]
        return any(found) if found else None


@dataclass
class Selection:
    """Reads what is shared of one session. `left_out` counts the messages that are not, by reason.

    After it was read, `turn`, `ordinal` and `end` are those of the last message, shared or not;
    `title` is the first shared prompt, shortened, and `branch` the first of a shared message.
    """

    path: str
    choice: SessionChoice
    patterns: TextPatterns
    turn: int = 0
    ordinal: int = 0
    end: int = 0
    branch: str = ""
    title: str = ""
    left_out: Counter[str] = field(default_factory=Counter)

    def read_messages(self) -> Iterator[SharedMessage]:
        """Yield what is shared of the file from `end` on, without private parts and secrets."""
        solved = _find_solved(self.path, self.choice.solved) if self.choice.solved else set()
        for turn, ordinal, message, end in _read_turns(
            self.path, self.end, self.turn, self.ordinal
        ):
            self.turn, self.ordinal, self.end = turn, ordinal, end
            tools = self.choice.find_range(turn)
            if tools is None and ordinal not in solved:
                continue
            if message.role not in _SAID and not tools:
                self.left_out[TOOLS] += 1
                continue
            found = self._prepare(message, ordinal)
            if isinstance(found, str):
                self.left_out[found] += 1
            else:
                yield found

    def _prepare(self, message: Message, ordinal: int) -> SharedMessage | str:
        """Return a message as it may leave this machine, or why it may not."""
        text = make_storable(privacy.storable(message.text))
        if not text:
            return PRIVATE
        bare = privacy.redact_names(message)
        speaker, branch = make_storable(bare.speaker), make_storable(bare.branch)
        if self.patterns.match(text) or self.patterns.match(speaker):
            return NEVER
        if not self.patterns.match(branch):
            self.branch = self.branch or branch
        text = text[:LONGEST]
        if message.role == "user":
            self.title = self.title or snippet(text, (), _TITLE)
        host, session, role, at = message.host, message.session, message.role, message.at
        ident = compute_id(host, session, message.id, at, role, text)
        return SharedMessage(ident, 0, ordinal, at, role, text, speaker)


class SharedScope:
    """The sessions of a joined project, and what the rules share of each."""

    def __init__(self, user: Store, store: Store, project: JoinedProject) -> None:
        self._store = store
        self._rules = project.rules
        patterns = membership.load_patterns(user)
        self.patterns = TextPatterns(patterns)
        self._solved = _list_solved(store) if project.rules.base == "solved" else {}
        said = [project.address, str(project.id), VERSION, *sorted(patterns)]
        self._mark = hashlib.sha256("\n".join(said).encode("utf-8", "replace")).hexdigest()

    def find_choice(self, name: SessionName) -> SessionChoice | None:
        """Return what is shared of a session, None for nothing."""
        rules = self._rules
        if not rules.shown_at or any(each.name == name for each in rules.withheld):
            return None
        chosen = [each for each in rules.sessions if each.name == name]
        ranges = [(each.first, each.last, each.tools) for each in chosen]
        if rules.base == "all":
            ranges.append((0, 0, rules.tools))
        solved = self._solved.get(name[1], ())
        return SessionChoice(tuple(sorted(ranges)), solved) if ranges or solved else None

    def sign_choice(self, choice: SessionChoice) -> str:
        """Return a hash of all that decides on what is shared of a session."""
        return self._sign(choice.ranges, choice.solved)

    def sign_rules(self) -> str:
        """Return a hash of all that decides on what is shared of any session."""
        rules = self._rules
        turns = sorted((*each.name, each.first, each.last, each.tools) for each in rules.sessions)
        withheld = sorted(each.name for each in rules.withheld)
        found = [rules.base, rules.tools, turns, withheld, bool(rules.shown_at)]
        return self._sign(found, sorted(self._solved.items()))

    def _sign(self, *decisive: object) -> str:
        said = json.dumps([self._mark, *decisive])
        return hashlib.sha256(said.encode("ascii")).hexdigest()[:32]

    def list_sessions(self) -> dict[SessionName, str]:
        """Return the sessions in recall, each with its file: no subagents'."""
        found = {}
        for path in recall.sources(self._store):
            if SIDE not in os.path.basename(path):
                first = next(recall.messages(path), None)
                if first is not None:
                    found[first.host, first.session] = path
        return found


def make_storable(text: str) -> str:
    """Return a text without what no database and no JSON holds: NUL, and halves of characters."""
    return text.replace(_NUL, "\ufffd").encode("utf-8", "replace").decode("utf-8")


def make_question(user: Store, text: str) -> str | None:
    """Return a question as it leaves, without private parts and secrets.

    None if it has one of the user's patterns of what is never shared. Raises `StoreError`.
    """
    if TextPatterns(membership.load_patterns(user)).match(text):
        return None
    return make_storable(privacy.storable(text))


def _list_solved(store: Store) -> dict[str, tuple[int, ...]]:
    """Return the turns (0: all) that a person said to have worked, by session."""
    latest = {(each.session, each.turn): each for each in session_outcomes.list_outcomes(store)}
    found: dict[str, list[int]] = {}
    for (session, turn), outcome in latest.items():
        if outcome.worked and not outcome.gone:
            found.setdefault(session, []).append(turn)
    return {session: tuple(sorted(turns)) for session, turns in found.items()}


def _read_turns(
    path: str, start: int, turn: int, ordinal: int
) -> Iterator[tuple[int, int, Message, int]]:
    """Yield (turn, ordinal, message, where its line ends) of a session's main chain from a byte on.

    `turn` and `ordinal` are those of the message before it.
    """
    for message, end in recall.read_with_offsets(path, start):
        if not message.side:
            turn += message.role == "user"
            ordinal += 1
            yield turn, ordinal, message, end


def _find_solved(path: str, turns: tuple[int, ...]) -> set[int]:
    """Return the places of the questions and outcomes of solved turns (0: of the session)."""
    questions: dict[int, int] = {}
    outcomes: dict[int, int] = {}
    for turn, ordinal, message, _ in _read_turns(path, 0, 0, 0):
        for each in (0, turn):
            if message.role == "user":
                questions.setdefault(each, ordinal)
            elif message.role == "assistant":
                outcomes[each] = ordinal
    return {found[turn] for turn in turns for found in (questions, outcomes) if turn in found}
