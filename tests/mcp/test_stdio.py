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

META = {
    "_meta": {types.PROTOCOL_VERSION_META_KEY: "2026-07-28", types.CLIENT_CAPABILITIES_META_KEY: {}}
}


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
@pytest.mark.parametrize("meta", [{}, META], ids=["older", "2026-07-28"])
def test_a_hook_does_not_wait_behind_a_slow_call(repo: Path, meta: dict[str, object]) -> None:
    """No service answers it; the tool waits for a pipe, so it is as slow as can be."""
    pipe = repo / "pipe"
    os.mkfifo(pipe)
    code = f"""
import sys
from memfs.cli import main
from memfs.tools import calls
run = calls.run
calls.run = lambda *given: (open({str(pipe)!r}).read(), run(*given))[1]
sys.argv[1:] = ["mcp"]
main.main()
"""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x"}}
    with subprocess.Popen([sys.executable, "-c", code], cwd=repo, stdin=-1, stdout=-1) as process:
        assert process.stdin
        assert process.stdout
        for line in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {**call("core_memory_read", {}, **meta), "id": 2},
            {**call(stdio.TOOL, arguments(repo, "s"), **meta), "id": 3},
        ):
            process.stdin.write(f"{json.dumps(line)}\n".encode())
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 3]
        pipe.write_text("")
        assert json.loads(process.stdout.readline())["id"] == 2
        process.stdin.close()
        assert process.wait(running.LONG) == 0


@pytest.mark.usefixtures("place")
def test_a_request_that_is_cancelled_at_any_moment_ends_nothing_and_leaves_no_stream(
    repo: Path,
) -> None:
    """The dictionaries stand for a thread that is interrupted where it does most harm."""
    code = """
import sys, threading
from memfs.cli import main
from memfs.mcp import server

def is_main():
    return threading.current_thread() is threading.main_thread()

class Open(dict):
    def get(self, ident):
        found = super().get(ident)
        if is_main():
            self.pop(ident, None)
        return found

class Streams(dict):
    opened = threading.Event()
    def __setitem__(self, *given):
        super().__setitem__(*given)
        self.opened.set()
    def pop(self, *given):
        super().pop(*given)
        if not is_main():
            self.opened.wait(0.2)

serve = server._Server.serve
def run(self):
    self._open, self._streams = Open(), Streams()
    serve(self)
    print(self._streams, file=sys.stderr)
server._Server.serve = run
sys.argv[1:] = ["mcp"]
main.main()
"""
    meta = META
    wanted = {"notifications": {"resourcesListChanged": True}}
    lines: list[dict[str, object]] = []
    for number in range(20):
        method = ("prompts/list", "subscriptions/listen")[number % 2]
        lines.append({"id": number, "method": method, "params": {**meta, **wanted}})
        if number % 3:
            cancelled = {"requestId": number}
            lines.append({"method": "notifications/cancelled", "params": cancelled})
    lines += [
        {"method": "notifications/cancelled", "params": {"requestId": number}}
        for number in range(20)
    ]
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=repo,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "{}\n")


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&-"])
def test_a_stream_that_is_closed_ends_no_server(place: Place, repo: Path, closed: str) -> None:
    config = Path(place.home.root) / "config.yaml"
    config.write_text("memfs: 1\ntools: {remove: [none]}\n")  # which is told on standard error
    hello: dict[str, object] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x"},
    }
    requests: tuple[tuple[str, dict[str, object]], ...] = (
        ("initialize", hello),
        ("tools/list", {}),
        ("tools/call", {"name": "memory_read"}),
    )
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(requests)
    ]
    words = ["sh", "-c", f'exec "$0" -c "$1" mcp {closed}', sys.executable, START]
    done = subprocess.run(
        words, cwd=repo, input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in answers] == ([0, 1, 2] if closed == "2>&-" else [])
    assert all("result" in each for each in answers)


@pytest.mark.usefixtures("place")
def test_a_folder_that_is_not_there_is_not_served(repo: Path) -> None:
    words = [sys.executable, "-c", START, "mcp", "--folder", f"{repo}/gone"]
    done = subprocess.run(words, cwd=repo, input="", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no folder {repo}/gone: no memory is served" in done.stderr


@pytest.mark.usefixtures("place")
def test_a_folder_that_is_removed_ends_no_server(repo: Path) -> None:
    folder = repo / "worktree"
    folder.mkdir()
    lines = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {**call("memory_read", {}), "id": 2},
        {**call(stdio.TOOL, arguments(folder, "s")), "id": 3},
        {"id": 4, "method": "prompts/list", "params": {}},
    ]
    lines[0]["params"] |= {"capabilities": {}, "clientInfo": {"name": "x"}}  # type: ignore[operator]
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    code = """
import os, sys
from memfs.mcp import server
folder = os.getcwd()
os.rmdir(folder)
server.run(folder, "", "0")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = {each["id"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert list(answers) == [1, 2, 3, 4]
    gone = f"tools/call failed: the folder {folder} is gone"
    assert [answers[number]["error"]["message"] for number in (2, 3)] == [gone, gone]
    assert answers[4]["result"]


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
