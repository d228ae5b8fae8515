"""Prompt hooks that a host calls as a tool: the same answer as from a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Replace
from memfs.core.records import Origin
from memfs.mcp import stdio
from memfs.ops import edit
from memfs.store import resources
from memfs.store.blocks import Place
from tests.mcp.test_server import client, run, said


def hook(repo: Path, session: str, event: str, **more: str) -> str:
    """What the process of a hook prints."""
    payload = {"session_id": session, "cwd": str(repo), "hook_event_name": event, **more}
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-E",
            resources.path("hooks", "memfs_hook.py"),
            "claude",
            "mcp",
        ],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


def arguments(repo: Path, session: str, prompt: str) -> dict[str, object]:
    return {
        "host": "claude",
        "hook_event_name": "UserPromptSubmit",
        "session_id": session,
        "cwd": str(repo),
        "prompt": prompt,
    }


def test_a_prompt_is_answered_as_the_process_of_a_hook_answers(place: Place, repo: Path) -> None:
    edit.run(place, [Append("human", "Name: Alice")], Origin())
    for session in ("process", "tool"):
        assert "Name: Alice" in hook(repo, session, "SessionStart", source="startup")
    edit.run(place, [Replace("human", "Alice", "Bob")], Origin())
    printed = hook(repo, "process", "UserPromptSubmit", prompt="hello")
    assert "+ Name: Bob" in printed

    async def test() -> None:
        async with client(repo) as session:
            assert stdio.TOOL not in {tool.name for tool in (await session.list_tools()).tools}
            result = await session.call_tool(stdio.TOOL, arguments(repo, "tool", "hello"))
            assert said(result) == printed
            again = await session.call_tool(stdio.TOOL, arguments(repo, "tool", "hello again"))
            assert said(again) == stdio.QUIET

    run(test)


def test_a_session_whose_start_was_missed_is_given_the_whole_brief(
    place: Place, repo: Path
) -> None:
    edit.run(place, [Append("human", "Name: Alice")], Origin())
    found = json.loads(stdio.answer_hook(arguments(repo, "late", "hello")))
    assert "Name: Alice" in found["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    "odd",
    [{}, {"host": "nobody"}, {"host": "claude", "session_id": 7}, {"host": "claude", "cwd": "\0"}],
)
@pytest.mark.usefixtures("place")
def test_odd_arguments_disturb_nothing(odd: dict[str, object]) -> None:
    assert stdio.answer_hook(odd) == stdio.QUIET
