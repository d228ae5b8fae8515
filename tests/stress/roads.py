"""The roads that an edit can take into the store. A new one is a class and a line in `ROADS`."""

from __future__ import annotations

import json
import re
import select
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import memfs
from memfs.core import body_edits
from memfs.core.body_edits import Edit
from memfs.core.errors import MemfsError
from tests.stress.steps import UNDO, Part, Step, key_of
from tests.stress.world import BLOCKS, COMMAND, World

Versions = dict[str, int]  # of block files
_SAID = re.compile(r"^✓ (\w+:\S+) version (\d+):", re.MULTILINE)
_AT = re.compile(r"'(\w+)' is at version (\d+)")
_TIMEOUT = 60  # seconds; the lock is waited for ten


class RefusedError(Exception):
    """Nothing was changed, says the store."""


class KilledError(Exception):
    """The call was killed: it may have been done, or not."""


class BrokenError(Exception):
    """What must not happen, whatever is killed."""


class Road(Protocol):
    """Does a step and returns the versions it made; raises one of the three errors above."""

    def __call__(self, step: Step) -> Versions: ...

    def close(self) -> None:
        """End what it keeps running."""


class Cli:
    """`python -m memfs` in a process for each step, which may be killed."""

    def __init__(self, world: World, life: int, doom: Doom) -> None:
        self._world = world
        self._life = life
        self._doom = doom

    def __call__(self, step: Step) -> Versions:
        words = _command(step, self._world.ledgers)
        with subprocess.Popen(
            [*COMMAND, *words],
            cwd=self._world.trees[step.tree],
            env=self._world.environment(),
            pass_fds=(self._life,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            self._doom(process)
            try:
                out, err = process.communicate(timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise BrokenError(f"{' '.join(words)} hangs") from None
        said = out.decode() + err.decode()
        if process.returncode == -9:
            raise KilledError
        if process.returncode == 1:
            raise RefusedError(said.strip())
        if process.returncode:
            raise BrokenError(f"{' '.join(words)} ended with {process.returncode}: {said}")
        return {key_of(step.tree, label): int(version) for label, version in _SAID.findall(said)}

    def close(self) -> None:
        pass


class Python:
    """`memfs.open()` in the worker itself."""

    def __init__(self, world: World, _life: int, _doom: Doom) -> None:
        self._trees = world.trees

    def __call__(self, step: Step) -> Versions:
        try:
            memory = memfs.open(self._trees[step.tree])
            if step.parts[0].op == UNDO:
                entries = memory.undo(step.parts[0].label)
            else:
                entries = memory.edit([_edit(part) for part in step.parts], step.name)
        except MemfsError as error:
            raise RefusedError(error.message) from error
        return {key_of(step.tree, f"{e.tier}:{e.label}"): e.version for e in entries}

    def close(self) -> None:
        pass


class Mcp:
    """`memfs mcp` in a process for each tree, which lives until it is killed."""

    def __init__(self, world: World, life: int, doom: Doom) -> None:
        self._world = world
        self._life = life
        self._doom = doom
        self._servers: dict[str, subprocess.Popen[bytes]] = {}

    def __call__(self, step: Step) -> Versions:
        server = self._servers.get(step.tree) or self._start(step.tree)
        (part,) = step.parts
        self._send(server, "tools/call", name=_TOOLS[part.op], arguments=_arguments(part, step))
        self._doom(server)
        reply = self._reply(server)
        if reply is None:
            _end(self._servers.pop(step.tree))
            raise KilledError
        said = "\n".join(content["text"] for content in reply["result"]["content"])
        if reply["result"].get("isError"):
            raise RefusedError(said)
        names = {label.partition(":")[2]: label for label in BLOCKS}
        found = _AT.findall(said)
        return {key_of(step.tree, names[label]): int(version) for label, version in found}

    def close(self) -> None:
        for server in self._servers.values():
            _end(server)
        self._servers.clear()

    def _start(self, tree: str) -> subprocess.Popen[bytes]:
        server = subprocess.Popen(
            [*COMMAND, "mcp"],
            cwd=self._world.trees[tree],
            env=self._world.environment(),
            pass_fds=(self._life,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._servers[tree] = server
        client = {"name": "stress", "version": "1"}
        self._send(
            server, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client
        )
        if self._reply(server) is None:
            raise BrokenError("memfs mcp ended before it was ready")
        return server

    @staticmethod
    def _send(server: subprocess.Popen[bytes], method: str, **params: object) -> None:
        assert server.stdin
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        with suppress(BrokenPipeError):  # it was killed: there is no reply either
            server.stdin.write(json.dumps(asked).encode() + b"\n")
            server.stdin.flush()

    @staticmethod
    def _reply(server: subprocess.Popen[bytes]) -> dict[str, Any] | None:
        assert server.stdout
        ready, _, _ = select.select([server.stdout], [], [], _TIMEOUT)
        if not ready:
            raise BrokenError("memfs mcp hangs")
        line = server.stdout.readline()
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:  # nothing, or a line that a kill cut off
            return None
        if "result" not in found:
            raise BrokenError(f"memfs mcp answered {line!r}")
        return found


def _end(server: subprocess.Popen[bytes]) -> None:
    """Wait for a server whose input ends."""
    with server, suppress(BrokenPipeError):
        assert server.stdin
        server.stdin.close()


Doom = Callable[["subprocess.Popen[bytes]"], None]  # kills a process if that is its lot
# Made once in each worker. What a road starts must inherit `life` (its second argument).
ROADS: dict[str, Callable[[World, int, Doom], Road]] = {"cli": Cli, "python": Python, "mcp": Mcp}


_TOOLS = {
    "append": "core_memory_append",
    "insert": "memory_insert",
    "replace": "core_memory_replace",
    "remove": "core_memory_remove",
    "undo": "memory_undo",
}


def _arguments(part: Part, step: Step) -> dict[str, object]:
    given: dict[str, object] = {"label": part.label, "reason": step.name}
    match part.op:
        case "replace":
            return given | {"old_content": part.old, "new_content": part.text}
        case "remove":
            return given | {"content": part.old}
        case "insert":
            return given | {"line": part.at, "content": part.text}
        case "undo":
            return given
        case _:
            return given | {"content": part.text}


def _command(step: Step, folder: Path) -> list[str]:
    """Return the words of the command line for a step; a patch is written into `folder`."""
    if len(step.parts) > 1:
        patch = folder / f"{step.name}.patch"
        patch.write_text(
            json.dumps([{"op": p.op, "label": p.label} | _values(p) for p in step.parts])
        )
        return ["edit", "--patch", str(patch), "--reason", step.name]
    part = step.parts[0]
    reason = ["--reason", step.name]
    match part.op:
        case "undo":
            return ["undo", part.label, *reason]
        case "append":
            return ["edit", part.label, "--append", part.text, *reason]
        case "insert":
            return ["edit", part.label, "--insert", str(part.at), part.text, *reason]
        case "replace":
            return ["edit", part.label, "--replace", part.old, part.text, *reason]
        case _:
            return ["edit", part.label, "--remove", part.old, *reason]


def _values(part: Part) -> dict[str, object]:
    match part.op:
        case "replace":
            return {"old": part.old, "new": part.text}
        case "remove":
            return {"text": part.old}
        case "insert":
            return {"line": part.at, "text": part.text}
        case _:
            return {"text": part.text}


def _edit(part: Part) -> Edit:
    kinds: dict[str, Callable[..., Edit]] = {
        "append": body_edits.Append,
        "insert": body_edits.Insert,
        "replace": body_edits.Replace,
        "remove": body_edits.Remove,
    }
    return kinds[part.op](label=part.label, **_values(part))
