"""Many members at once, who share, take back, purge and search while an administrator prunes."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from memfs.team.protocol import RetractRequest
from memfs.team.server import administration
from tests.team.teams import Answer, Member, Team, make_push

pytestmark = [pytest.mark.thorough, pytest.mark.parametrize("postgres", ["vectors"], indirect=True)]

TEXTS = [f"message {number} of the lease" for number in range(400)]
THREADS, STEPS = 12, 60
AGO = 700  # minutes: times this, messages are of months that a prune drops


def step(draw: random.Random, member: Member) -> Answer:
    """Do something of one project that others do something of, too."""
    project, session = draw.choice((1, 1, 1, 2)), draw.choice(("s1", "s2"))
    stamp = int(time.time() * 1000)
    start, count = draw.randrange(300), draw.choice((5, 50, 100))
    first = start * draw.choice((1, 1, AGO))
    push = make_push(project, TEXTS[start : start + count], session, first=first, stamp=stamp)
    kind = draw.choices(("push", "some", "whole", "purge", "search"), (50, 25, 10, 5, 10))[0]
    if kind == "push":
        return member.ask("POST", "/v1/push", push)
    if kind == "purge":
        return member.ask("POST", "/v1/purge", {"project": draw.choice((0, 1))})
    if kind == "search":
        return member.search([1, 2], "a message of the lease")
    ids = [each.id for each in push.messages] if kind == "some" else []
    return member.ask("POST", "/v1/retract", RetractRequest(project, stamp, "claude", session, ids))


def test_whatever_they_do_at_once_is_done_and_the_books_agree(own_team: Team) -> None:
    members = [own_team.add(name, shop="writer", site="writer") for name in ("ana", "ben", "cleo")]
    pruned: list[int] = []
    ended = threading.Event()

    def work(number: int) -> None:
        draw = random.Random(number)  # noqa: S311 - drawn again with the same seed
        for _ in range(STEPS):
            answer = step(draw, members[number % len(members)])
            assert answer.status == 200, answer

    def prune() -> None:
        while not ended.wait(0.05):
            with administration.open_administration(own_team.address) as admin:
                pruned.append(administration.prune(admin))

    with administration.open_administration(own_team.address) as admin:
        admin.execute("UPDATE project SET retention_days = 30")
    pruning = threading.Thread(target=prune)
    pruning.start()
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(THREADS)))
    finally:
        ended.set()
        pruning.join()
    assert sum(pruned) > 0
    members[0].push(1, TEXTS[:3], "s9")
    own_team.check_books()
    assert own_team.count() >= 3
    conflicts = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert own_team.read(conflicts) == [(0,)]
