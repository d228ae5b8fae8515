"""A server that speaks another version of the protocol: each command says what to update."""

import json

import pytest

from memfs.store.blocks import Place
from memfs.team.protocol import HEADER
from memfs.team.upload import run_upload
from tests.cli.conftest import Run
from tests.ops.recorded_sessions import record
from tests.team.small_server import Answer, SmallServer
from tests.team.team_table import TeamTable

TOKEN = "mft_0123456789abcdef"  # noqa: S105 - of no server
NEWER = "this server uses protocol version 2 (memfs 9.0.0)"
SPOKEN = "the team server uses protocol version {}, this memfs uses version 1"


def refuse(text: str, hint: str) -> Answer:
    return 426, {}, json.dumps({"error": text, "hint": hint}).encode()


SERVERS = {  # what it answers, and what is said of it
    "newer": (refuse(NEWER, "update memfs"), NEWER, "update memfs"),
    "newer, in its header": ((200, {HEADER: "2"}, b"{}"), SPOKEN.format(2), "update memfs"),
    "older": (
        (200, {HEADER: "0"}, b"{}"),
        SPOKEN.format(0),
        "ask the server's administrator to update the server",
    ),
    "older, refusing": (
        refuse("this server uses version 0", "ask the server's administrator to update the server"),
        "this server uses version 0",
        "ask the server's administrator to update the server",
    ),
}


@pytest.mark.parametrize(
    "kind",
    [
        "newer",
        "older",
        pytest.param("newer, in its header", marks=pytest.mark.thorough),
        pytest.param("older, refusing", marks=pytest.mark.thorough),
    ],
)
def test_each_command_says_what_to_update_and_sends_nothing(
    place: Place, memfs: Run, server: SmallServer, table: TeamTable, kind: str
) -> None:
    answer, told, hint = SERVERS[kind]
    error = f"error: {told}\nhint: {hint}\n"
    join = ("team", "join", server.address, "--project", "shop", "--token-stdin")
    server.handle = lambda *_: answer
    shown = memfs(*join, stdin=TOKEN)
    assert (shown.code, shown.err) == (1, error)
    server.handle = table.answer
    assert memfs(*join, stdin=TOKEN).code == 0
    record(place.home, "s1", ("user", "which port?"), ("assistant", "Port 7741."))

    server.handle = lambda *_: answer
    assert f"! {told}" in memfs("team", "share", "--project", "-y").err
    assert memfs("team", "push").err == error
    assert run_upload(place.home.local) == {"error": told, "wait": 0.0}
    searched = memfs("search", "which port", "--team")
    assert searched.err == f"! no hits from the team: {told}\n"
    assert "which port?" in searched.out
    for words in (("team", "status"), ("doctor",)):
        assert told in " ".join(memfs(*words).out.split())
    assert "Port 7741." not in str([body for _, body, _ in server.asked])

    server.handle = table.answer
    assert memfs("team", "push").err == "✓ sent 2 messages\n"
    assert told not in memfs("team", "status").out
    server.handle = lambda *_: answer
    left = memfs("team", "leave", "--purge").err.splitlines()
    assert left[0] == f"error: {told}; this project is still joined, but no longer shares anything"
    assert "shared   nothing" in memfs("team", "status").out
    assert len(table.list_rows()) == 2
    server.handle = table.answer
    assert memfs("team", "push").err == "✓ took back 2 messages\n"
