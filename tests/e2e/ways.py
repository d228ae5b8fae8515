"""Every door of memfs in this process: its commands, the events of hosts, the tools of a model."""

import io
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from memfs.cli.main import main as command_line
from memfs.hook import main as hooks
from memfs.ipc.client import HookCall
from memfs.tools import calls, registry
from memfs.tools.tool_context import ToolContext

LONGEST = 20.0  # seconds for what takes a tenth of one, on a machine that has other things to do
PROMPT = "where do gophers dig tunnels? see the rules"
CALLS = [
    {
        "type": "tool_use",
        "id": "1",
        "name": "core_memory_append",
        "input": {"label": "rules", "content": "applied"},
    }
]


class HangError(BaseException):
    """A door was still open when its time was up."""


@dataclass(frozen=True)
class Door:
    """A way in: `kind` is cli, hook or tool; `words` what is said there, `stdin` what is read."""

    kind: str
    words: tuple[str, ...]
    stdin: str = ""

    def __str__(self) -> str:
        return " ".join((self.kind, *self.words))[:60]


def cli(line: str, stdin: str = "") -> Door:
    return Door("cli", tuple(line.split()), stdin)


def hook(name: str, event: str, **more: object) -> Door:
    told = {"session_id": "s1", "hook_event_name": event, **more}
    return Door("hook", (name, event), json.dumps(told))


def tool(name: str, **given: object) -> Door:
    return Door("tool", (name,), json.dumps(given))


WRITES: dict[str, object] = {
    "tool_name": "Write",
    "tool_input": {"file_path": ".agent-memory/blocks/rules.md"},
}
COMMANDS = (
    *map(
        cli,
        (
            *("show", "show rules", "show --json", "show --list"),
            *("create made text --description A_block.", "edit rules --append more"),
            *("edit working --append scratch --session s1", "delete rules", "rename rules laws"),
            *("search gophers tunnels", "search gophers --mode text", "search gophers --sessions"),
            *("archive add A_passage", "ingest", "ingest said.jsonl", "facts"),
            *("facts extract --no-model", "static list", "static add key Some_text", "graph"),
            "graph --similar tunnels",
            *("session outcome f6c7db81-ed67-4c4c-a5fe-df792d2079d7 worked", "log", "log rules"),
            *("diff rules", "blame rules", "undo rules", "restore rules 1", "tools", "sync"),
            *("status --window", "recall tunnels", "page out rules --all", "page in rules"),
            *("rethink rules --apply --no-model", "review", "status", "doctor", "doctor --fix"),
            *("doctor --secrets", "doctor --secrets --purge -y", "model use none", "trust"),
            *("trust --yes", "trust --revoke", "export --all --with-secrets --force made.zip"),
            *("import --anyway kept.zip", "init", "install claude"),
        ),
    ),
    cli("apply", json.dumps(CALLS)),
)
EVENTS = (
    hook("claude", "SessionStart", source="startup"),
    hook("claude", "UserPromptSubmit", prompt=PROMPT),
    hook("claude", "PreToolUse", **WRITES),
    hook("claude", "PostToolUse", **WRITES),
    hook("claude", "Stop"),
    hook("claude", "PreCompact"),
    hook("claude", "SessionEnd", reason="other"),
    hook("codex", "UserPromptSubmit", prompt=PROMPT, turn_id="t", transcript_path=None),
    hook(
        "gemini",
        "BeforeAgent",
        prompt=PROMPT,
        timestamp="2026-11-20T04:46:32Z",
        transcript_path="session-1.jsonl",
    ),
    hook("opencode", "UserPromptSubmit", prompt=PROMPT, host="opencode"),
    Door("hook", ("claude", "broken"), "[1]"),
)
TOOLS = (
    tool("core_memory_append", label="rules", content="called"),
    tool("archival_memory_insert", content="A passage that a tool stores."),
    tool("conversation_search", query="tabs or spaces"),
    tool("memory_status"),
)
DOORS = (*COMMANDS, *EVENTS, *TOOLS)


def go_through(door: Door, folder: Path) -> tuple[int, str]:
    """Go through a door in the current folder; return (exit code, what was printed).

    Raises `HangError`.
    """
    with _in_time() as hung:
        if door.kind == "cli":
            found = _command(door)
        elif door.kind == "hook":
            found = 0, _hook(door, folder)
        else:
            context = ToolContext(str(folder))
            made = calls.ToolCall(door.words[0], json.loads(door.stdin))
            found = 0, calls.run(context, registry.offer_tools(context).tools, made).text
    if hung:
        raise HangError(str(door))
    return found


def _command(door: Door) -> tuple[int, str]:
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")
    stdin = io.TextIOWrapper(io.BytesIO(door.stdin.encode()), encoding="utf-8")
    with (
        redirect_stdout(said),
        redirect_stderr(said),
        mock.patch.object(sys, "stdin", stdin),
        mock.patch.object(sys, "argv", ["memfs", *door.words]),
    ):
        try:
            code = command_line()
        except SystemExit as end:
            code = int(end.code or 0)
        said.flush()
    return code, said.buffer.getvalue().decode()


def _hook(door: Door, folder: Path) -> str:
    told = json.loads(door.stdin)
    if isinstance(told, dict):
        told["cwd"] = str(folder)
        if door.words[0] == "claude":
            told["transcript_path"] = str(folder / "said.jsonl")
    said: list[bytes] = []
    with mock.patch.object(hooks, "write", said.append), mock.patch.object(hooks, "set_clock"):
        assert hooks.main(HookCall([door.words[0]], json.dumps(told).encode())) == 0
    return b"".join(said).decode()


@contextmanager
def _in_time() -> Iterator[list[float]]:
    """Raise `HangError` where somebody waits for ever; who catches it is found out all the same."""
    hung: list[float] = []

    def stop(_signal: int, _frame: object) -> None:
        hung.append(time.monotonic())
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield hung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
