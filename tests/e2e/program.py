"""memfs as a user and a host run it: commands, hooks, the MCP server, a terminal."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import forked
from tests.forked import MEMFS
from tests.terminal import type_into

HOOK = Path(__file__).parents[2] / "hooks" / "memfs_hook.py"
LONG = 30  # seconds after which a program counts as one that hangs


def git(folder: Path, *words: str, who: str = "Tester") -> str:
    names = {"GIT_AUTHOR_NAME": who, "GIT_COMMITTER_NAME": who}
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        check=True,
        capture_output=True,
        env={**os.environ, **names},
    )
    return done.stdout.decode().strip()


def commit(folder: Path, subject: str = "all", who: str = "Tester") -> None:
    git(folder, "add", "-fA")
    git(folder, "commit", "-qm", subject, who=who)


def run(folder: Path, *words: str, **variables: str) -> tuple[int, str]:
    """Run memfs to its end, without a terminal."""
    code, said = forked.run(folder, *words, **variables)
    assert "Traceback" not in said
    return code, said


def call_hook(
    payload: object, host: str = "claude", *above: str, folder: Path | None = None, **variables: str
) -> str:
    """Run the hook on a payload, in a folder, with variables; bytes are sent as they are.

    Nothing may come on standard error. `above` are the words of a program that runs it.
    """
    done = subprocess.run(
        [*above, sys.executable, "-I", "-S", "-E", str(HOOK), host],
        input=payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        timeout=LONG,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def hook(folder: Path, name: str = "SessionStart", **more: Any) -> str:
    """Run the hook as a `host` does; nothing may come on standard error."""
    host = more.pop("host", "claude")
    payload = {
        "session_id": more.pop("session", "s1"),
        "cwd": str(folder),
        "hook_event_name": name,
        "transcript_path": "/none.jsonl",
        "source": "startup",
        **more,
    }
    return call_hook(payload, host)


def trust(folder: Path) -> str:
    code, shown = type_into([*MEMFS, "trust"], "y\n", folder)
    assert code == 0, shown
    return shown


def look(*folders: Path) -> dict[str, bytes | str]:
    """Return all that is in some folders."""
    return {
        str(path): path.read_bytes() if path.is_file() else "folder"
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


def asked(folder: Path, tool: str, **arguments: str) -> str:
    """Return what the MCP server says of its tools, and to a call."""
    lines: list[dict[str, object]] = [
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        },
    ]
    found = ""
    with subprocess.Popen(
        [*MEMFS, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        server.stdin.flush()
        for line in server.stdout:
            found += line.decode()
            if json.loads(line).get("id") == 2:
                break
        server.stdin.close()
    return found


def answer_after(clone: Path, meanwhile: Callable[[], object]) -> str:
    """Trust a store, and say yes when `meanwhile` was done, after it was shown."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*MEMFS, "trust"], cwd=clone, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while b"Let your assistants use this memory?" not in shown:
            shown += os.read(ours, 1 << 16)
        meanwhile()
        os.write(ours, b"y\n")
        try:
            while piece := os.read(ours, 1 << 16):
                shown += piece
        except OSError:  # its end of it is closed
            pass
        process.wait(LONG)
    os.close(ours)
    return shown.decode("utf-8", "replace")
