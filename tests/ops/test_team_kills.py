"""A client that is killed in the middle of batches: each message arrives once, and none is lost."""

import os
import random
import signal
import threading
from typing import Any

import pytest

from memfs.store import recall
from memfs.store.blocks import Place
from memfs.team import verbs
from memfs.team.upload import upload
from tests.ops.recorded_sessions import change, record
from tests.ops.team_steps import ME, outbox, send
from tests.team.small_server import Answer, SmallServer
from tests.team.team_table import TeamTable

SESSIONS, MESSAGES = 4, 150


class Killing(TeamTable):
    """A table whose requests kill the client: before, after or while they are answered."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.draw = random.Random(seed)  # noqa: S311 - drawn again with the same seed
        self.process = 0

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        when = self.draw.choice(("before", "after", "later", "never"))
        if when == "before":
            self.kill()
        found = super().answer(path, body, headers)
        if when == "after":
            self.kill()
        elif when == "later":
            threading.Timer(self.draw.random() / 100, self.kill).start()
        return found

    def kill(self) -> None:
        process, self.process = self.process, 0
        if process:
            os.kill(process, signal.SIGKILL)


def run_killed(place: Place, table: Killing) -> None:
    """Upload in a process of its own, which the table kills at some moment."""
    begin, told = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.read(begin, 1)
            upload(place.store("user"), place.home, 0)
        finally:
            os._exit(0)
    table.process = process
    os.write(told, b"x")
    os.waitpid(process, 0)
    table.process = 0
    os.close(begin)
    os.close(told)


@pytest.mark.parametrize("seed", range(2))
def test_a_client_killed_again_and_again_ends_with_each_message_once(
    joined: Place, server: SmallServer, seed: int
) -> None:
    for n in range(SESSIONS):
        record(joined.home, f"s{n}", *[("user", f"s{n} says {m}") for m in range(MESSAGES)])
    verbs.set_pattern(joined, "says 1*9", ME, remove=False)
    table = Killing(seed)
    plan = verbs.plan_sharing(joined, base="all")
    server.handle = lambda *_: (503, {}, b"{}")
    assert verbs.share(joined, plan, ME).waits
    server.handle = table.answer
    for n in range(12):
        run_killed(joined, table)
        if n == 6:
            recall.forget(joined.home, "claude", "s1")
            change(joined.home, "s2", "s2 says 2", "s2 does 2")
    server.handle = lambda *args: TeamTable.answer(table, *args)
    send(joined)
    texts = table.list_texts()
    said = [f"s{n} says {m}" for n in (0, 2, 3) for m in range(MESSAGES)]
    wanted = [text.replace("s2 says 2", "s2 does 2") for text in said]
    assert sorted(texts) == sorted(each for each in wanted if "does" in each or not is_never(each))
    assert outbox(joined)._flight == {}


def is_never(text: str) -> bool:
    return "9" in text.partition("says 1")[2]
