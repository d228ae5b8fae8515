"""The lines of a server: hooks that are answered at once, and what gets between none of them."""

import json
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mcp_types as types
import pytest

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


def test_a_hook_is_answered_by_the_service_and_is_no_tool_of_a_model(
    served: Place, repo: Path
) -> None:
    """Settings of earlier versions call one."""
    assert running.begins(running.hook(running.payload(repo, "SessionStart", session="s")))
    edit.run(served, [Append("human", "Name: Alice")], Origin())

    async def test() -> None:
        async with client(repo) as session:
            assert stdio.TOOL not in {tool.name for tool in (await session.list_tools()).tools}
            told = json.loads(said(await session.call_tool(stdio.TOOL, arguments(repo, "s"))))
            assert "+ Name: Alice" in told["hookSpecificOutput"]["additionalContext"]
            again = await session.call_tool(stdio.TOOL, arguments(repo, "s"))
            assert said(again) == stdio.QUIET

    run(test)


def test_a_session_whose_start_was_missed_is_given_the_whole_brief(
    place: Place, repo: Path
) -> None:
    edit.run(place, [Append("human", "Name: Alice")], Origin())
    found = json.loads(stdio.answer_hook(arguments(repo, "late")))
    assert "Name: Alice" in found["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    "odd",
    [{}, {"host": "nobody"}, {"host": "claude", "session_id": 7}, {"host": "claude", "cwd": "\0"}],
)
@pytest.mark.usefixtures("place")
def test_odd_arguments_disturb_nothing(odd: dict[str, object]) -> None:
    assert stdio.answer_hook(odd) == stdio.QUIET


def test_answers_do_not_get_between_each_other(place: Place, repo: Path) -> None:
    """Those of tools are more than a pipe takes at once; the thread that reads answers pings."""
    edit.run(place, [Append("system_rules", "x" * 4000)], Origin())
    lines: list[dict[str, object]] = []
    for number in range(40):
        lines.append({**call("core_memory_read", {"label": "system_rules"}, **META), "id": number})
        lines.append({"id": f"p{number}", "method": "ping"})
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    words = [sys.executable, "-c", START, "mcp"]
    done = subprocess.run(words, cwd=repo, input=text, capture_output=True, text=True, check=True)
    found = {json.loads(line)["id"] for line in done.stdout.splitlines()}
    assert found == {line["id"] for line in lines}


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
    assert f"there is no folder {repo}/gone, so no memory is served" in done.stderr


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
    gone = f"tools/call failed: the folder {folder} no longer exists"
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
