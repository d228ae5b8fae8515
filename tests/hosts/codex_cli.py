"""Codex. Its own configuration stays free: what the harness sets, it says on the command line."""

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from typing import Final, cast

from tests.hosts.assistant import Assistant
from tests.hosts.installed import HERE, Installation
from tests.hosts.program import Program
from tests.hosts.rpc import Peer
from tests.hosts.script import Json, objects

PROGRAM: Final = Installation(
    "Codex",
    "@openai/codex",
    f"@openai/codex-{HERE}",
    "vendor/*/bin/codex",
    f"npm:@openai/codex@{{version}}-{HERE}",
)


class AppServer:
    """A thread of `codex app-server`, which the terminal and editors talk to."""

    def __init__(self, process: subprocess.Popen[bytes], cwd: str) -> None:
        self._peer = Peer(process)
        self._peer.call("initialize", clientInfo={"name": "tests", "version": "1"})
        self._peer.notify("initialized")
        given = {"cwd": cwd, "sandbox": "read-only", "approvalPolicy": "never"}
        thread = self._peer.call("thread/start", **given)["thread"]
        self._thread = cast("Json", thread)["id"]

    def say(self, prompt: str) -> str:
        """Give a prompt, and return the answer when the turn has ended."""
        self._peer.heard.clear()
        said = [{"type": "text", "text": prompt}]
        self._peer.call("turn/start", threadId=self._thread, input=said)
        items = self._turn().get("items")
        texts = [each.get("text") for each in objects(items) if each["type"] == "agentMessage"]
        return str(texts[-1]) if texts else ""

    def compact(self) -> None:
        """Have it compact the context; the summary is what the model says next."""
        self._peer.heard.clear()
        self._peer.call("thread/compact/start", threadId=self._thread)
        self._turn()

    def _turn(self) -> Json:
        return cast("Json", self._peer.wait("turn/completed")["turn"])


class CodexCli(Program):
    """Codex, with `codex exec`."""

    def program(self) -> list[str]:
        return [str(PROGRAM.require())]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return ["exec", "-s", "read-only", *self._settings(), *args, prompt]

    @contextlib.contextmanager
    def conversation(self) -> Iterator[AppServer]:
        """A thread of the app server."""
        with self.serving("app-server", *self._settings()) as process:
            yield AppServer(process, str(self.cwd))

    def _settings(self) -> list[str]:
        provider = (
            f'{{name="scripted", base_url="{self.model_url}/v1", env_key="SCRIPTED_KEY", '
            'wire_api="responses", supports_websockets=false, request_max_retries=0, '
            "stream_max_retries=0}"
        )
        settings = {
            "model": '"gpt-5.4"',
            "model_provider": '"scripted"',
            "model_providers.scripted": provider,
            "check_for_update_on_startup": "false",
            "analytics.enabled": "false",
            "feedback.enabled": "false",
            "features.plugins": "false",  # else it looks for OpenAI's plugins on GitHub
        }
        return [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]

    def variables(self) -> dict[str, str]:
        return {"SCRIPTED_KEY": "dummy"}

    def sessions(self) -> list[str]:
        found = (self.home / ".codex" / "sessions").glob("*/*/*/rollout-*.jsonl")
        return [path.stem[-36:] for path in sorted(found, key=lambda path: path.name)]


# A server that takes more than a second to start is left out of the first request, by default.
ASSISTANT: Final = Assistant(
    "codex",
    PROGRAM,
    CodexCli,
    ("-c", "mcp_optional_startup_grace_ms=20000"),
    "mcp__memfs__core_memory_append",
    "add",
    ("--trust",),
)
