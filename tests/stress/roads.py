"""The roads that an edit can take into the store. A new one is a class and a line in `ROADS`."""

import json
import re
import select
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import memfs
from memfs.cli.edit_input import read_patch
from memfs.core.errors import MemfsError
from tests.stress.steps import UNDO, Step, key_of
from tests.stress.world import BLOCKS, World

Versions = dict[str, int]  # of block files
Doom = Callable[["subprocess.Popen[bytes]"], None]  # kills a process if that is its lot
_SAID = re.compile(r"^✓ (\w+:\S+) version (\d+):", re.MULTILINE)
_AT = re.compile(r"'(\w+)' is at version (\d+)")
_TIMEOUT = 60  # seconds; the lock is waited for ten


class RefusedError(Exception):
    """Nothing was changed, says the store."""


class KilledError(Exception):
    """The call was killed: it may have been done, or not."""


class BrokenError(Exception):
    """What must not happen, whatever is killed."""


class Road(NamedTuple):
    """A way to do a step. What it starts inherits the open file `life`.

    Calling it returns the versions that were made, or raises one of the three errors above.
    """

    world: World
    life: int
    doom: Doom

    def __call__(self, step: Step) -> Versions:
        raise NotImplementedError

    def close(self) -> None:
        """End what it keeps running."""

    def write_patch(self, step: Step) -> str:
        path = self.world.ledgers / f"{step.name}.patch"
        path.write_text(json.dumps([part.record() for part in step.parts]))
        return str(path)


class Cli(Road):
    """`python -m memfs` in a process for each step, which may be killed."""

    def __call__(self, step: Step) -> Versions:
        if step.parts[0].op == UNDO:
            words = ["undo", step.parts[0].label]
        else:
            words = ["edit", "--patch", self.write_patch(step)]
        with self.world.start(*words, "--reason", step.name, tree=step.tree, life=self.life) as run:
            self.doom(run)
            try:
                out, err = run.communicate(timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                run.kill()
                raise BrokenError(f"{' '.join(words)} hangs") from None
        said = out.decode() + err.decode()
        if run.returncode == -9:
            raise KilledError
        if run.returncode == 1:
            raise RefusedError(said.strip())
        if run.returncode:
            raise BrokenError(f"{' '.join(words)} ended with {run.returncode}: {said}")
        return {key_of(step.tree, label): int(version) for label, version in _SAID.findall(said)}


class Python(Road):
    """`memfs.open()` in the worker itself."""

    def __call__(self, step: Step) -> Versions:
        try:
            memory = memfs.open(self.world.trees[step.tree])
            if step.parts[0].op == UNDO:
                entries = memory.undo(step.parts[0].label)
            else:
                entries = memory.edit(read_patch(self.write_patch(step)), step.name)
        except MemfsError as error:
            raise RefusedError(error.message) from error
        return {key_of(step.tree, f"{e.tier}:{e.label}"): e.version for e in entries}


# By what is done: the tool, and its arguments with their names in a patch.
_TOOLS = {
    "append": ("core_memory_append", {"content": "text"}),
    "insert": ("memory_insert", {"line": "line", "content": "text"}),
    "replace": ("core_memory_replace", {"old_content": "old", "new_content": "new"}),
    "remove": ("core_memory_remove", {"content": "text"}),
    "undo": ("memory_undo", {}),
}
_servers: dict[tuple[World, str], subprocess.Popen[bytes]] = {}


class Mcp(Road):
    """`memfs mcp` in a process for each tree, which lives until it is killed."""

    def __call__(self, step: Step) -> Versions:
        server = _servers.get((self.world, step.tree)) or self._start(step.tree)
        (part,) = step.parts
        tool, names = _TOOLS[part.op]
        record = part.record()
        given = {name: record[own] for name, own in names.items()}
        arguments = {"label": part.label, "reason": step.name, **given}
        _send(server, "tools/call", name=tool, arguments=arguments)
        self.doom(server)
        reply = _receive(server)
        if reply is None:
            _end(_servers.pop((self.world, step.tree)))
            raise KilledError
        said = "\n".join(content["text"] for content in reply["result"]["content"])
        if reply["result"].get("isError"):
            raise RefusedError(said)
        labels = {label.partition(":")[2]: label for label in BLOCKS}
        found = _AT.findall(said)
        return {key_of(step.tree, labels[label]): int(version) for label, version in found}

    def close(self) -> None:
        while _servers:
            _end(_servers.popitem()[1])

    def _start(self, tree: str) -> subprocess.Popen[bytes]:
        server = self.world.start("mcp", tree=tree, life=self.life, stderr=None)
        _servers[self.world, tree] = server
        client = {"name": "stress", "version": "1"}
        version = "2025-06-18"
        _send(server, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        if _receive(server) is None:
            raise BrokenError("memfs mcp ended before it was ready")
        return server


def _send(server: subprocess.Popen[bytes], method: str, **params: object) -> None:
    assert server.stdin
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with suppress(BrokenPipeError):  # it was killed: there is no reply either
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()


def _receive(server: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    assert server.stdout
    if not select.select([server.stdout], [], [], _TIMEOUT)[0]:
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
    with server, suppress(BrokenPipeError):
        assert server.stdin
        server.stdin.close()


ROADS: dict[str, type[Road]] = {"cli": Cli, "python": Python, "mcp": Mcp}
