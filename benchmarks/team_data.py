"""Messages of a team that are like real ones, always the same: projects, sessions, months, people.

Sizes of projects follow Zipf's law. Each project talks of some modules of the standard library, in
sentences of their docstrings and comments (see `passages`), and now and then of all others.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec
from msgspec.structs import replace

from benchmarks import passages
from memfs.team.protocol import MOST_MESSAGES, PushRequest, SharedMessage, SharedSession, compute_id

MONTHS = 6
_SKEW = 0.9  # exponent of the sizes
_LEAST = 5  # messages of a project
_TURNS = 40  # messages of a session
_MODULES = 12  # that a project talks of
_ELSEWHERE = 0.2  # of the sentences are of other modules
_BEGIN = datetime(2026, 4, 1, 8, tzinfo=UTC)
_QUERY = 6  # words
_WORDS = ("Error", "Timeout", "lock", "cache", "retry", "pool", "session", "index", "parse", "path")


@dataclass(frozen=True)
class BenchProject:
    """A project by its number, from 1 on, and how many messages it has."""

    number: int
    size: int

    @property
    def size_class(self) -> str:
        """The class of its size: under 1,000 messages, 10,000 and so on."""
        limit = 1000
        while self.size >= limit:
            limit *= 10
        return f"under {limit:,}"


def make_projects(count: int, messages: int) -> list[BenchProject]:
    """Return projects that have about so many messages in all, the largest first."""
    weights = [1 / rank**_SKEW for rank in range(1, count + 1)]
    total = sum(weights)
    return [
        BenchProject(number, max(_LEAST, round(messages * weight / total)))
        for number, weight in enumerate(weights, 1)
    ]


def encode_pushes(project: BenchProject) -> Iterator[tuple[int, bytes]]:
    """Yield (how many messages, the body of a push) until all of a project's are in one."""
    sessions: list[SharedSession] = []
    messages: list[SharedMessage] = []
    count = -(-project.size // _TURNS)
    for number in range(count):
        length = min(_TURNS, project.size - number * _TURNS)
        session, turns = make_session(project, number, length, number / count)
        if len(messages) + len(turns) > MOST_MESSAGES:
            yield len(messages), _encode(project, sessions, messages)
            sessions, messages = [], []
        messages += [replace(each, of=len(sessions)) for each in turns]
        sessions.append(session)
    yield len(messages), _encode(project, sessions, messages)


def make_queries(project: BenchProject, count: int) -> list[str]:
    """Return some words each of sentences that a project talks of, in their order."""
    lot = random.Random(project.number * 7919 + 1)  # noqa: S311 - texts that can be made again
    modules = _choose_modules(project)
    found = []
    for _ in range(count):
        words = lot.choice(lot.choice(modules)).split()
        places = sorted(lot.sample(range(len(words)), min(_QUERY, len(words))))
        found.append(" ".join(words[place] for place in places))
    return found


@cache
def _choose_modules(project: BenchProject) -> list[list[str]]:
    lot = random.Random(project.number)  # noqa: S311 - likewise
    return lot.sample(passages.sentences(), _MODULES)


def _encode(
    project: BenchProject, sessions: list[SharedSession], messages: list[SharedMessage]
) -> bytes:
    return msgspec.json.encode(PushRequest(project.number, 1000, "bench", sessions, messages))


def make_session(
    project: BenchProject, number: int, turns: int, share: float = 1.0
) -> tuple[SharedSession, list[SharedMessage]]:
    """Return a session of a project; `share` of the months have passed at its begin."""
    lot = random.Random(project.number << 32 | number)  # noqa: S311 - likewise
    ident = f"{project.number:05}-{number:07}"
    begin = _BEGIN + timedelta(days=30 * MONTHS * share, minutes=lot.randrange(480))
    topic = lot.choice(_choose_modules(project))
    messages = [
        _make_message(lot, ident, place, begin + timedelta(minutes=place), topic)
        for place in range(turns)
    ]
    branch = lot.choice(("main", "fix", "next"))
    return SharedSession("claude", ident, branch, messages[0].text[:60]), messages


def _make_message(
    lot: random.Random, session: str, place: int, moment: datetime, topic: list[str]
) -> SharedMessage:
    """Return a short question, or a longer answer, about a topic, with a name of code or two."""
    role = "assistant" if place % 2 else "user"
    said = [
        lot.choice(topic if lot.random() > _ELSEWHERE else lot.choice(passages.sentences()))
        for _ in range(lot.randint(2, 7) if place % 2 else lot.randint(1, 3))
    ]
    if lot.random() < 0.5:
        name = f"{lot.choice(_WORDS)}{lot.choice(_WORDS).title()}{lot.randrange(1000)}"
        said.insert(1, f"See {name} in {lot.choice(_WORDS)}_{lot.choice(_WORDS)}.py.")
    text, at = " ".join(said), moment.isoformat().replace("+00:00", "Z")
    ident = compute_id("claude", session, str(place), at, role, text)
    return SharedMessage(ident, 0, place, at, role, text)
