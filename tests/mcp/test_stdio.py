"""The lines of a server: hooks that are answered at once, and what gets between none of them."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.mcp import stdio
from memfs.ops import edit
from memfs.store.blocks import Place
from tests.mcp.test_server import START, client, run, said
from tests.service import running

META = {"_meta": {types.PROTOCOL_VERSION_META_KEY: "2026-07-28"}}


@pytest.fixture
def served(place: Place, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place for which the service runs; its blocks have something to tell each session."""
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "auto")
    assert place.project
    running.begin()
    yield place
    running.end_all(home)


def started(repo: Path, session: str) -> None:
    assert running.begins(running.hook(running.payload(repo, "SessionStart", session=session)))


def arguments(repo: Path, session: str, prompt: str = "go on with it") -> dict[str, object]:
    return {
        "host": "claude",
        "hook_event_name": "UserPromptSubmit",
        "session_id": session,
        "cwd": str(repo),
        "prompt": prompt,
    }


def call(name: str, given: object, **more: object) -> dict[str, object]:
    params = {"name": name, "arguments": given, **more}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


def asked(repo: Path, *lines: str) -> list[dict[str, Any]]:
    """Return what a server says to lines of a client that never introduced itself."""
    with subprocess.Popen(
        [sys.executable, "-c", START, "mcp"], cwd=repo, stdin=-1, stdout=-1, stderr=-1
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        process.stdin.flush()
        first = process.stdout.readline()
        process.stdin.close()
        assert process.wait(running.LONG) == 0
        return [json.loads(line) for line in (first, *process.stdout)]


@pytest.mark.parametrize("meta", [{}, META], ids=["older", "2026-07-28"])
def test_a_hook_is_answered_before_a_client_has_introduced_itself(
    served: Place, repo: Path, meta: dict[str, object]
) -> None:
    started(repo, "s")
    edit.run(served, [Append("human", "Name: Alice")], Origin())
    (answer,) = asked(repo, json.dumps(call(stdio.TOOL, arguments(repo, "s"), **meta)))
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    assert answer["result"].get("resultType") == ("complete" if meta else None)
    result = types.CallToolResult.model_validate(answer["result"])
    told = json.loads(said(result))["hookSpecificOutput"]["additionalContext"]
    assert "+ Name: Alice" in told
    (again,) = asked(repo, json.dumps(call(stdio.TOOL, arguments(repo, "s"), **meta)))
    assert said(types.CallToolResult.model_validate(again["result"])) == stdio.QUIET, "it was taken"


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    "line",
    [
        call("core_memory_append", {"label": "human", "content": '"memory_hook"'}),
        {**call(stdio.TOOL, {}), "method": "prompts/get"},
    ],
)
def test_what_only_looks_like_one_is_answered_as_what_it_is(
    repo: Path, line: dict[str, object]
) -> None:
    assert "error" in asked(repo, json.dumps(line))[0], "nobody introduced themselves"


@pytest.mark.usefixtures("served")
def test_broken_lines_end_nothing(repo: Path) -> None:
    started(repo, "s")
    broken = [
        '"memory_hook"',
        '{"memory_hook"',
        '["memory_hook"]',
        '{"id": 1, "params": "memory_hook"}',
    ]
    broken.append('["memory_hook",' + "[" * 5000 + "]" * 5000 + "]")
    odd = [json.dumps({**call(stdio.TOOL, {}), "params": wrong}) for wrong in (None, [stdio.TOOL])]
    answers = asked(repo, *broken, *odd, json.dumps(call(stdio.TOOL, arguments(repo, "s"))))
    (result,) = [answer["result"] for answer in answers if "result" in answer]
    assert result["content"] == [{"type": "text", "text": stdio.QUIET}]


@pytest.mark.usefixtures("place")
def test_what_the_service_does_not_answer_at_once_is_answered_all_the_same(repo: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", START, "mcp"], cwd=str(repo), env=dict(os.environ)
    )

    async def test() -> None:
        async with Client(server, mode="2026-07-28") as session:
            first = await session.call_tool(stdio.TOOL, arguments(repo, "unknown"))
            assert "Core memory" in said(first)

    run(test)


def test_answers_do_not_get_between_each_other(served: Place, repo: Path) -> None:
    """Those of tools are larger than what a pipe takes at once."""
    started(repo, "s")
    edit.run(served, [Append("system_rules", "x" * 4000)], Origin())
    read: dict[str, object] = {"label": "system_rules"}

    async def test() -> None:
        async with client(repo) as session:
            texts: list[str] = []

            async def ask(name: str, given: dict[str, object]) -> None:
                texts.append(said(await session.call_tool(name, given)))

            async with anyio.create_task_group() as tasks:
                for number in range(40):
                    tasks.start_soon(ask, stdio.TOOL, arguments(repo, "s", f"go on {number}"))
                    tasks.start_soon(ask, "core_memory_read", read)
            assert sum("x" * 4000 in text and "Core memory" not in text for text in texts) >= 40
            assert len(texts) == 80

    run(test)


@pytest.mark.usefixtures("place")
def test_a_client_that_breaks_off_ends_the_server(repo: Path) -> None:
    ours, theirs = socket.socketpair()
    with subprocess.Popen(
        [sys.executable, "-c", START, "mcp"],
        cwd=repo,
        stdin=theirs.fileno(),
        stdout=theirs.fileno(),
    ) as process:
        theirs.close()
        ours.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        select.select([ours], [], [], running.LONG)
        ours.close()  # with the answer unread: the other side gets an error, not an end
        assert process.wait(running.LONG) is not None


def test_what_others_print_or_read_does_not_get_between_the_lines() -> None:
    code = """
import subprocess
from memfs.mcp.stdio import StdioStreams

wire = StdioStreams()
print("printed", flush=True)
subprocess.run(["sh", "-c", "echo from a child; cat"], check=True)
for line in wire.read_lines():
    wire.write({"said": line.decode("utf-8", "surrogateescape").upper()})
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="one\n größer\n".encode() + b"\xff\n",
        capture_output=True,
        check=True,
        timeout=60,
    )
    lines = done.stdout.decode().splitlines()
    assert [json.loads(line)["said"] for line in lines] == ["ONE\n", " GRÖSSER\n", "?\n"]
    assert done.stderr.decode() == "printed\nfrom a child\n"
