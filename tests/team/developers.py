"""Somebody of a team: a home, a clone of the project, and real processes of memfs there."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memfs.ops.install import commands
from tests import forked

_BEGIN = datetime(2026, 5, 3, 10, tzinfo=UTC)
_ROLES = ("user", "assistant")


class Developer:
    """Somebody with a home and a clone of the project; with a service only where one is wanted."""

    def __init__(self, top: Path, name: str, *, service: bool = False) -> None:
        self.home, self.repo = top / name, top / name / "shop"
        self._mode = "auto" if service else "off"
        self.repo.mkdir(parents=True)
        self._git("init", "-q")
        self._git("remote", "add", "origin", "https://example.com/acme/shop.git")
        assert self.run("init").returncode == 0

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.repo, check=True, env=self.environment)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "MEMFS_SERVICE_MODE": self._mode,
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return forked.complete(words, self.repo, self.environment, stdin)

    def say(self, *turns: str) -> None:
        """Have a session with an assistant that is read into recall."""
        self.ingest({"s-1": turns})

    def ingest(self, sessions: Mapping[str, Sequence[str]]) -> None:
        """Have sessions with an assistant, whose roles take turns, and read them into recall."""
        paths = [self._write_transcript(*each) for each in sessions.items()]
        done = self.run("ingest", *map(str, paths))
        assert done.returncode == 0, done.stderr

    def begin(self, session: str) -> str:
        """Begin a session with the installed hook; return what it is told."""
        return self._run_hook(session, "SessionStart", source="startup")

    def prompt(self, session: str, text: str) -> str:
        """Send a prompt; return what comes with it."""
        return self._run_hook(session, "UserPromptSubmit", prompt=text)

    def stop(self, session: str, *turns: str) -> None:
        """End a turn of a session that said all of this."""
        path = str(self._write_transcript(session, turns))
        self._run_hook(session, "Stop", transcript_path=path)

    def end_service(self) -> None:
        """Leave no process behind."""
        self.run("service", "stop")

    def _run_hook(self, session: str, event: str, **more: str) -> str:
        told = {"session_id": session, "cwd": str(self.repo), "hook_event_name": event} | more
        done = subprocess.run(
            ["/bin/sh", "-c", commands.hook("claude")], input=json.dumps(told), cwd=self.repo,
            env=self.environment, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        printed = json.loads(done.stdout or "{}")
        return str(printed.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def _write_transcript(self, session: str, turns: Sequence[str]) -> Path:
        path = self.home / f"{session}.jsonl"
        with path.open("w") as file:
            for number, text in enumerate(turns):
                role = _ROLES[number % 2]
                told = {"role": role, "content": [{"type": "text", "text": text}]}
                at = (_BEGIN + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")
                line = {"type": role, "sessionId": session, "cwd": str(self.repo),
                        "uuid": f"{session}-u{number}", "timestamp": at, "message": told}  # fmt: skip
                file.write(json.dumps(line) + "\n")
        return path

    def join(
        self, url: str, token: str, *more: str, project: str = "shop"
    ) -> subprocess.CompletedProcess[str]:
        words = ("team", "join", url, "--token-stdin", "--project", project, *more)
        return self.run(*words, stdin=token)
