"""The commands that docs/team.md prints, run by an administrator and a member as they stand there."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.docs.pages import TOP
from tests.docs.walkthroughs import Walk, walk
from tests.team.postgres import Postgres

PREPARE = f"""git remote add origin git@example.com:acme/shop.git
mkdir ~/.claude
memfs -q ingest {TOP}/templates/demo/session.jsonl"""
# In the background, with the login that `team init` printed, until the port answers.
SERVE = """(. ~/logins; export MEMFS_TEAM_DATABASE; exec memfs team serve --port $PORT >> ~/log 2>&1) &
echo $! > ~/server
until (: < /dev/tcp/127.0.0.1/$PORT) 2> ~/refused; do kill -0 $! || { cat ~/log; exit 1; }; sleep 0.05; done"""
INSTEAD = {
    "--database postgresql://postgres@localhost/memfs": '--database "$MEMFS_TEAM_DATABASE" > ~/logins',
    "MEMFS_TEAM_DATABASE='user=memfs_acme_service …' memfs team serve": SERVE,
    "member add ana": "member add ana > ~/token",
    "share --project": "share --project --yes",  # there is no terminal to say it at
    "join https://memory.example.com": "join http://127.0.0.1:$PORT --token-stdin < ~/token",
}


@pytest.fixture
def server(home: Path) -> Iterator[None]:
    """Leave no server behind."""
    yield
    os.kill(int((home / "server").read_text()), signal.SIGKILL)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("postgres", ["vectors"], indirect=True)
def test_the_commands_of_the_page(
    postgres: Postgres, place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        monkeypatch.setenv("PORT", str(free.getsockname()[1]))
    monkeypatch.setenv("MEMFS_TEAM_DATABASE", postgres.make_database())
    monkeypatch.delenv("MEMFS_NOW")  # a token is valid from today on
    walk(TOP / "docs/team.md", repo, Walk(PREPARE, INSTEAD))
