"""Gemini CLI. A project's settings stay free: what the harness needs is added to the user's."""

import contextlib
import json
import shutil
from collections.abc import Iterator, Sequence
from typing import Final

from tests.hosts.assistant import Assistant
from tests.hosts.installed import Installation
from tests.hosts.program import Program
from tests.hosts.rpc import Acp

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}

PROGRAM: Final = Installation(
    "Gemini CLI", "@google/gemini-cli", "@google/gemini-cli", "bundle/gemini.js"
)


class GeminiCli(Program):
    """Gemini CLI, a program for node."""

    def program(self) -> list[str]:
        node = shutil.which("node")
        if node is None:
            raise FileNotFoundError("Gemini CLI needs node 20 or newer on the PATH")
        return [node, str(PROGRAM.require())]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return ["-m", "gemini-2.5-pro", *args, "-p", prompt]

    @contextlib.contextmanager
    def conversation(self) -> Iterator[Acp]:
        """A session as editors have it."""
        with self.serving("-m", "gemini-2.5-pro", "--acp") as process:
            yield Acp(process, str(self.cwd))
            process.kill()  # it would wait for its editor for ever

    def variables(self) -> dict[str, str]:
        path = self.home / ".gemini" / "settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        theirs = path.read_text() if path.exists() else "{}"
        if '"selectedType"' not in theirs:  # put in as text: a test may have spoilt it on purpose
            head, _, rest = theirs.partition("{")
            comma = "" if rest.strip() == "}" else ","
            path.write_text(f"{head}{{{json.dumps(_SETTINGS)[1:-1]}{comma}{rest}")
        return {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": self.model_url,
            # The flag --skip-trust does not load a project's settings; this does.
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def sessions(self) -> list[str]:
        chats = (self.home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl")
        heads = [json.loads(path.read_text().partition("\n")[0]) for path in chats]
        return [
            str(each["sessionId"]) for each in sorted(heads, key=lambda each: each["startTime"])
        ]


ASSISTANT: Final = Assistant("gemini", PROGRAM, GeminiCli, (), "mcp_memfs_core_memory_append")
