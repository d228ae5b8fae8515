"""Claude Code: a headless prompt, a conversation of several, its sessions and compactions."""

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.hosts.assistant import Assistant
from tests.hosts.installed import LIBC, Installation
from tests.hosts.program import Program, Run

PROGRAM: Final = Installation(
    "Claude Code", "@anthropic-ai/claude-code", f"@anthropic-ai/claude-code-{LIBC}", "claude"
)


class StreamJson:
    """A running session that is given one prompt after the other."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def say(self, prompt: str) -> str:
        """Give a prompt, and return the answer when the turn has ended."""
        assert self._process.stdin
        assert self._process.stdout
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            event = json.loads(line)
            if event.get("type") == "result":
                return str(event.get("result"))
        raise RuntimeError("Claude Code ended in the middle of a turn")

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so, which the session does by itself; ten seconds at most."""
        deadline = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.05)


class ClaudeCode(Program):
    """Claude Code. Its own hooks need no trust in a headless run."""

    def program(self) -> list[str]:
        return [str(PROGRAM.require())]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return ["-p", prompt, *args]

    def variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }

    @contextlib.contextmanager
    def conversation(self) -> Iterator[StreamJson]:
        """One process that takes several prompts, as the terminal does (`stream-json`)."""
        form = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        with self.serving("-p", *form) as process:
            yield StreamJson(process)

    def resume(self, prompt: str, *args: str) -> Run:
        """Answer one prompt in the newest session of ``cwd`` (`--continue`)."""
        return self.run(prompt, "--continue", *args)

    def compact(self, hint: str = "") -> Run:
        """Compact the newest session of ``cwd`` by hand.

        Script the summary as ``<summary>…</summary>``: a reply without the tags is asked for again.
        """
        return self.resume(f"/compact {hint}".rstrip())

    def transcripts(self) -> list[Path]:
        """The session transcripts in ``home``, oldest first; those of subagents are not among them."""
        found = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def sessions(self) -> list[str]:
        return [path.stem for path in self.transcripts()]


ASSISTANT: Final = Assistant(
    "claude",
    PROGRAM,
    ClaudeCode,
    ("--allowedTools", "mcp__memfs"),
    "mcp__memfs__core_memory_append",
)
