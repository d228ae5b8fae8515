"""A project with a store, for tests with a real assistant: the console script itself serves it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple, cast

from tests.hosts.interpreter import Interpreter
from tests.hosts.script import Json
from tests.terminal import type_into

BIN: Final = Path(sys.executable).parent


class McpEntry(NamedTuple):
    """What an assistant starts as an MCP server."""

    command: str
    args: list[str]


def mcp_entry() -> McpEntry:
    """The memory server of this environment."""
    return McpEntry(_script(), ["mcp"])


class Project:
    """A git repository with a store, and a home that is nobody's."""

    def __init__(self, folder: Path, *, service: bool = False) -> None:
        self.python = Interpreter(folder)
        self.repo = folder / "repo"
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.repo)], check=True)
        self.memfs("init")
        if not service:  # no process outlives a test
            with (self.home / ".agent-memory/config.yaml").open("a") as config:
                config.write("service:\n  mode: off\n")

    def memfs(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run a command, in the repository if nothing else is said."""
        # What is wired is the interpreter that wires.
        wires = arguments[0] in {"install", "uninstall"}
        program = [str(self.python.path), "-P", "-m", "memfs"] if wires else [_script()]
        path = f"{self.home}/bin:{os.environ['PATH']}:{BIN}"
        env = {"PATH": path, "HOME": str(self.home), "NO_COLOR": "1"}
        done = subprocess.run(
            [*program, *arguments], cwd=cwd or self.repo, env=env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def trust(self) -> None:
        """Have somebody at a terminal trust the store."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_COLOR": "1", "PAGER": "cat"}
        code, shown = type_into([_script(), "trust"], "y\n", self.repo, env)
        assert code == 0, shown

    def history(self, label: str) -> list[Json]:
        """The journal entries of a block, newest first."""
        return cast("list[Json]", json.loads(self.memfs("log", label, "--json")))

    def log(self) -> str:
        path = self.repo / ".agent-memory/local/hook.log"
        return path.read_text() if path.exists() else ""


def _script() -> str:
    command = shutil.which("memfs", path=str(BIN))
    assert command, "memfs is not installed in this environment: pip install -e '.[test]'"
    return command
