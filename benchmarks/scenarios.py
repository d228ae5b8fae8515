"""Scenarios: the sessions of a project, and the prompts that they are to help with weeks later.

A file holds one: `{project, sessions: [{id, date, turns: [{role, text, name, input}]}],
prompts: [{id, text, kind, expect, forbid}]}`. `role` is user, assistant or tool; a tool's turn has
its `name`, its `input` as text, and what it printed. `expect` are groups, of which each must have
one of its strings in what a session is given; `forbid` are strings that only outdated texts have.
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta

import msgspec

from benchmarks import program, project, scratch_store
from memfs.core.errors import UsageError

UNRELATED = "unrelated"  # the kind of a prompt about which nothing is known
_LARGEST = 64 << 20  # bytes
_STEP = timedelta(seconds=40)  # from one turn to the next


class ScenarioTurn(msgspec.Struct, frozen=True):
    """One turn of a session."""

    role: str
    text: str
    name: str = "Bash"
    input: str = ""


class ScenarioSession(msgspec.Struct, frozen=True):
    """One past session; `date` is when it began, ISO 8601."""

    id: str
    date: str
    turns: tuple[ScenarioTurn, ...]


class ScenarioPrompt(msgspec.Struct, frozen=True):
    """A prompt, and the strings that must and must not reach it."""

    id: str
    text: str
    kind: str
    expect: tuple[tuple[str, ...], ...]
    forbid: tuple[str, ...] = ()

    def is_answered(self, text: str) -> bool:
        """Return whether a text has one string of each expected group, ignoring case."""
        lowered = text.lower()
        return bool(self.expect) and all(
            any(word.lower() in lowered for word in group) for group in self.expect
        )

    def is_misled(self, text: str) -> bool:
        """Return whether a text has a forbidden string, and not the answer."""
        lowered = text.lower()
        return not self.is_answered(text) and any(word.lower() in lowered for word in self.forbid)


class Scenario(msgspec.Struct, frozen=True):
    """A project's past sessions and the prompts that are tried."""

    project: str
    sessions: tuple[ScenarioSession, ...]
    prompts: tuple[ScenarioPrompt, ...]


def read(path: str) -> Scenario:
    """Read a scenario file. Raises `MemfsError` if it cannot be read or is invalid."""
    try:
        if os.path.getsize(path) > _LARGEST:
            raise UsageError(f"{path} is larger than {_LARGEST >> 20} MB")
        with open(path, "rb") as handle:
            found = msgspec.json.decode(handle.read(), type=Scenario)
        for session in found.sessions:
            datetime.fromisoformat(session.date)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        hint = "memfs help bench says which form a scenario has"
        raise UsageError(f"{path} is no scenario: {error}", hint) from error
    return found


def write_transcripts(scenario: Scenario, folder: str, cwd: str) -> list[str]:
    """Write the sessions as transcripts of Claude Code run in `cwd`; return their paths."""
    os.makedirs(folder)
    paths = []
    for number, session in enumerate(scenario.sessions, 1):
        ident = f"5cea0000-0000-4000-8000-{number:012x}"
        path = f"{folder}/{ident}.jsonl"
        with open(path, "w", encoding="utf-8") as handle:
            handle.writelines(_render_lines(session, ident, cwd))
        paths.append(path)
    return paths


def ingest(scenario: Scenario, folder: str, configured: str) -> tuple[str, dict[str, str]]:
    """Ingest a scenario into a new project of a new user in an empty folder.

    `configured` is the user's configuration. Return the project's path, and the environment.
    """
    env = program.make_user(folder, "user", configured)
    path = f"{folder}/project"
    project.make(path)
    with scratch_store.home(env["MEMFS_HOME"]):
        project.trust_own(path)
    program.memfs(["ingest", *write_transcripts(scenario, f"{folder}/said", path)], env, path)
    return path, env


def _render_lines(session: ScenarioSession, ident: str, cwd: str) -> list[str]:
    at = datetime.fromisoformat(session.date)
    lines: list[str] = []
    for number, turn in enumerate(session.turns):
        key = f"{session.id}-{number}"
        for role, content in _split_turn(turn, key):
            line = {
                "type": role,
                "message": {"role": role, "content": content},
                "uuid": f"{key}-{len(lines)}",
                "sessionId": ident,
                "cwd": cwd,
                "gitBranch": "main",
                "timestamp": at.isoformat().replace("+00:00", "Z"),
            }
            lines.append(json.dumps(line) + "\n")
        at += _STEP
    return lines


def _split_turn(turn: ScenarioTurn, key: str) -> list[tuple[str, object]]:
    """Return (role, content) of the lines of a turn: a tool is called, then it answers."""
    if turn.role == "tool":
        use = {"type": "tool_use", "id": key, "name": turn.name, "input": {"command": turn.input}}
        result = {"type": "tool_result", "tool_use_id": key, "content": turn.text}
        return [("assistant", [use]), ("user", [result])]
    if turn.role == "assistant":
        return [("assistant", [{"type": "text", "text": turn.text}])]
    return [("user", turn.text)]
