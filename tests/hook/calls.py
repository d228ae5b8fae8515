"""The hook as the host calls it: a process with JSON on stdin."""

import json
import subprocess
import sys
from pathlib import Path

from memfs.ipc.client import HookCall
from memfs.ops import host_event
from memfs.store import resources


def call(
    stdin: bytes, cwd: Path | None = None, size_limit: int | None = None
) -> tuple[bytes, bytes]:
    """Run the installed command; return (stdout, stderr)."""

    def limit() -> None:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size_limit or 0, resource.RLIM_INFINITY))

    words = [sys.executable, "-I", "-S", "-E", resources.path("hooks", "memfs_hook.py"), "claude"]
    done = subprocess.run(
        ["sh", "-c", '"$@"; exit $?', "sh", *words],  # an assistant's process of its own for each
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        timeout=30,
        preexec_fn=None if size_limit is None else limit,
    )
    assert done.returncode == 0
    return done.stdout, done.stderr


def answer(stdin: bytes) -> bytes:
    """Return what the hook prints, in this process and in its own time."""
    out: list[bytes] = []
    host_event.run(HookCall(["claude"], stdin), [".", ""], out.append, lambda _: None)
    return b"".join(out)


def payload(repo: Path, event: str, **more: object) -> bytes:
    return json.dumps(
        {"session_id": "s1", "cwd": str(repo), "hook_event_name": event, **more}
    ).encode()


def log(repo: Path) -> list[str]:
    path = repo / ".agent-memory/local/hook.log"
    return path.read_text().splitlines() if path.exists() else []


def start(repo: Path) -> bytes:
    return payload(repo, "SessionStart", source="startup")
