"""At a prompt the service asks the team's server, and waits only for one that answers in time."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memfs.core.records import Origin
from memfs.ops import recent_prompts
from memfs.store.blocks import Place
from memfs.team import background, verbs
from memfs.team.background import TeamBackground
from tests.ops.recorded_sessions import record
from tests.service import running
from tests.service.running import asked, hook, payload, until
from tests.team.small_server import MEMBER, Answer, SmallServer, ok, serve

ME = Origin()
PROMPT = "the checkout fails with a StaleLeaseError again"
ANSWER = {
    "ids": ["a" * 32],
    "snippet": "user: StaleLeaseError at checkout\nassistant: Renew the lease inside the lock.",
    "reason": "words: StaleLeaseError",
    "at": "2026-05-03T10:00:00Z",
    "host": "claude",
    "session": "s-9",
    "project": "shop",
    "member": "ana",
}
LINE = "- 2026-05-03, ana in shop"


class Team:
    """A team's server whose answers to prompts wait for `free`."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()
        self.answers: list[dict[str, Any]] = [ANSWER]
        self.prompts: list[dict[str, Any]] = []
        self.refuses = False

    def answer(self, path: str, body: dict[str, Any], _headers: dict[str, str]) -> Answer:
        if path == "/v1/me":
            return ok(MEMBER)
        assert path == "/v1/recall"
        self.prompts.append(body)
        self.free.wait(10)
        if self.refuses:
            return 401, {}, b'{"error": "this token is not valid", "hint": ""}'
        shown = set(body["shown"])
        return ok({"answers": [each for each in self.answers if shown.isdisjoint(each["ids"])]})


@pytest.fixture
def theirs() -> Team:
    return Team()


@pytest.fixture
def server(theirs: Team) -> Iterator[SmallServer]:
    with serve(theirs.answer) as found:
        yield found
        theirs.free.set()


@pytest.fixture
def joined(place: Place, server: SmallServer) -> Place:
    verbs.join_project(place, server.address, "mft_1", ME, project="shop")
    return place


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> Iterator[TeamBackground]:
    """What asks servers, with time for them on a busy machine."""
    monkeypatch.setattr(background, "BOX", running.LONG)
    found = TeamBackground()
    yield found
    found.stop()


def say(prompts: TeamBackground, place: Place, prompt: str = PROMPT, *shown: str) -> list[str]:
    """Ask as a prompt does; return who answered."""
    collect = prompts.ask(place, prompt, [*shown])
    return [each.role for each in collect()] if collect else []


def begin(prompts: TeamBackground, place: Place) -> None:
    """Begin a session, and wait until the server is known to be quick."""
    prompts.prepare(place)
    until(lambda: prompts._get_thread(place)._is_quick)


def is_told(theirs: Team) -> bool:
    """Tell whether the server knows what the session was shown."""
    return "a" * 32 in theirs.prompts[-1]["shown"]


def test_a_prompt_is_told_what_others_solved_and_only_once(
    joined: Place, repo: Path, theirs: Team
) -> None:
    record(joined.home, "s1", ("user", "the checkout has a lease pool"), ("assistant", "Yes."))
    running.begin()
    hook(payload(repo, "SessionStart"))
    told = until(lambda: asked(payload(repo, "UserPromptSubmit", PROMPT)))
    assert "# From your team's sessions (what others said" in told
    assert LINE in told
    assert "Renew the lease inside the lock." in told
    until(lambda: not asked(payload(repo, "UserPromptSubmit", PROMPT)) and is_told(theirs))
    items = [item for entry in recent_prompts.run(joined, 50) for item in entry.items]
    assert any("ana in shop" in item.source for item in items)
    assert any(item.why.endswith("words: StaleLeaseError") for item in items)


def test_without_the_service_nobody_is_asked(joined: Place, repo: Path, theirs: Team) -> None:
    hook(payload(repo, "SessionStart"))
    running.process(payload(repo, "UserPromptSubmit", PROMPT))
    assert joined.project
    assert theirs.prompts == []


def test_a_late_answer_keeps_one_prompt_waiting_and_comes_with_the_next(
    joined: Place, theirs: Team, prompts: TeamBackground, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(prompts, joined)
    monkeypatch.setattr(background, "BOX", 0.07)
    theirs.free.clear()
    assert say(prompts, joined) == []  # the server still holds it
    thread = prompts._get_thread(joined)
    assert not thread._is_quick
    assert say(prompts, joined, "another prompt") == []  # it waits no more, or this would be slow
    theirs.free.set()
    until(lambda: thread._late)
    theirs.answers = []
    assert until(lambda: say(prompts, joined)) == ["ana in shop, to an earlier prompt"]
    theirs.answers = [ANSWER]
    monkeypatch.setattr(background, "BOX", running.LONG)
    until(lambda: say(prompts, joined) == ["ana in shop"])  # it was in time again


def test_an_answer_that_was_shown_meanwhile_does_not_come_late(
    joined: Place, theirs: Team, prompts: TeamBackground, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(prompts, joined)
    monkeypatch.setattr(background, "BOX", 0.07)
    theirs.free.clear()
    assert say(prompts, joined) == []
    theirs.free.set()
    until(lambda: prompts._get_thread(joined)._late)
    theirs.answers = []
    assert say(prompts, joined, PROMPT, "a" * 32) == []


def test_a_server_that_refuses_or_is_gone_is_left_alone_for_a_while(
    joined: Place, theirs: Team, prompts: TeamBackground, server: SmallServer
) -> None:
    theirs.refuses = True
    assert say(prompts, joined) == []
    until(lambda: prompts._get_thread(joined)._failures)
    assert prompts.ask(joined, PROMPT, []) is None
    assert len(theirs.prompts) == 1


def test_what_leaves_has_no_secret_and_nothing_that_is_private_or_never_shared(
    joined: Place, theirs: Team, prompts: TeamBackground
) -> None:
    begin(prompts, joined)
    key = "AKIA" + "Z7QX4MNB2VLK8TRW"
    assert say(prompts, joined, "half of a character: \ud83d, and \0") == ["ana in shop"]
    theirs.prompts.clear()
    say(prompts, joined, f"why is {key} refused <private>at Acme</private> today")
    (body,) = theirs.prompts
    assert key not in str(body)
    assert "Acme" not in str(body)
    assert "refused" in body["prompt"]
    assert say(prompts, joined, "line of a pasted log\n" * 4000) == []
    verbs.set_pattern(joined, "customer emca", ME, remove=False)
    assert say(prompts, joined, "what did customer Emca say about leases") == []
    assert len(theirs.prompts) == 1


@pytest.mark.parametrize(
    ("mine", "projects", "count"),
    [
        ("{team: off}", "{}", 0),
        ("{}", "{team: off}", 0),
        ("{}", "{recall: off}", 0),
        ("{}", "{team: auto}", 1),
        (
            "{team: off}",
            "{team: auto}",
            0,
        ),  # a repository does not turn on what its user turned off
    ],
)
def test_it_can_be_turned_off(
    joined: Place, repo: Path, theirs: Team, mine: str, projects: str, count: int
) -> None:
    for store, hooks in ((joined.store("user"), mine), (joined.home, projects)):
        Path(store.root, "config.yaml").write_text(f"memfs: 1\nhooks: {hooks}\n")
    running.begin()
    hook(payload(repo, "SessionStart"))
    hook(payload(repo, "UserPromptSubmit", PROMPT))
    if count:
        until(lambda: theirs.prompts)
    assert len(theirs.prompts) == count


def test_a_project_that_was_left_is_not_asked_about(
    joined: Place, theirs: Team, prompts: TeamBackground
) -> None:
    begin(prompts, joined)
    assert prompts.is_joined(joined)
    verbs.leave_project(joined, ME, purge=False)
    assert not prompts.is_joined(joined)
    assert say(prompts, joined) == []
    assert theirs.prompts == []
