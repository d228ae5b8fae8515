"""A server of a session that `memfs mcp --session` names, and one where memory is turned off."""

import subprocess
from pathlib import Path

import pytest

from memfs.core.events import END, Event
from memfs.ops import session_end
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.mcp.test_server import client, run, said


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    return done.stdout.decode()


async def write(repo: Path, session: str, **lines: str) -> str:
    """Append lines to blocks in a session's server; return what `working` is then."""
    async with client(repo, options=["--session", session]) as server:
        for label, content in lines.items():
            given = {"label": label, "content": content}
            done = await server.call_tool("core_memory_append", given)
            assert not done.is_error, said(done)
        return said(await server.call_tool("core_memory_read", {"label": "working"}))


def test_each_session_has_a_block_of_its_own(place: Place, repo: Path) -> None:
    async def test() -> None:
        first = await write(repo, "s1", working="Half of the parser is done.")
        assert "[session:working]" in first
        assert "Half of the parser is done." in first
        second = await write(repo, "s2", working="Billing comes next.")
        assert "Billing comes next." in second
        assert "parser" not in second
        assert "Half of the parser is done." in await write(repo, "s1")

    run(test)
    for session, text in (("s1", "Half of the parser is done."), ("s2", "Billing comes next.")):
        block = blocks.get(blocks.find_place(str(repo), session), "working")
        assert (block.tier, block.value) == ("session", text)


@pytest.mark.parametrize("when", ["edit", "session"])
def test_it_is_never_committed(place: Place, repo: Path, when: str) -> None:
    assert place.project
    text = f"memfs: 1\ngit: {{commit: {when}}}\n"
    Path(place.project.root, "config.yaml").write_text(text)
    for key in ("name", "email"):
        git(repo, "config", f"user.{key}", "tester@example.invalid")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "start")
    git(repo, "checkout", "-qb", "work")

    async def test() -> None:
        await write(repo, "s1", working="Half of the parser is done.", persona="I am calm.")

    run(test)
    if when == "session":
        session_end.run(Event("claude", END, "SessionEnd", "s1", str(repo)))
    changed = git(repo, "show", "--format=", "--name-only").split()
    assert changed == [".agent-memory/blocks/persona.md"]
    known = git(repo, "log", "-1", "-p", "--format=%B")
    assert "I am calm." in known
    assert "parser" not in known
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""


async def list_names(repo: Path) -> list[str]:
    async with client(repo) as server:
        return [tool.name for tool in (await server.list_tools()).tools]


def test_no_tool_is_listed_until_memory_is_on_again(place: Place, repo: Path) -> None:
    assert place.project
    path = Path(place.project.root, "config.yaml")

    async def test() -> None:
        path.write_text("memfs: 1\nenabled: false\n")
        assert await list_names(repo) == []
        path.write_text("memfs: 1\n")
        assert "core_memory_append" in await list_names(repo)

    run(test)
