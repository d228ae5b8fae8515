"""Copilot CLI, with a model of its user's own: no login, all of it said in variables."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final

from tests.hosts.assistant import Assistant
from tests.hosts.installed import PREFIXED_LIBC, Installation
from tests.hosts.program import Program
from tests.hosts.rpc import Acp

PROGRAM: Final = Installation(
    "Copilot CLI", "@github/copilot", f"@github/copilot-{PREFIXED_LIBC}", "copilot"
)


class CopilotCli(Program):
    """Copilot CLI, asking for chat completions unless ``env`` says otherwise."""

    def program(self) -> list[str]:
        return [str(PROGRAM.require())]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return [*args, "-p", prompt]

    @contextlib.contextmanager
    def conversation(self) -> Iterator[Acp]:
        """A session as editors have it."""
        with self.serving("--acp", "--allow-all-tools") as process:
            yield Acp(process, str(self.cwd))

    def variables(self) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": "scripted",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_BASE_URL": f"{self.model_url}/v1",
        }

    def sessions(self) -> list[str]:
        found = (self.home / ".copilot" / "session-state").glob("*/events.jsonl")
        return [p.parent.name for p in sorted(found, key=lambda path: path.stat().st_mtime_ns)]


ASSISTANT: Final = Assistant(
    "copilot",
    PROGRAM,
    CopilotCli,
    ("--allow-all-tools",),
    "memfs-core_memory_append",
    "install",
    compact="/compact",
)
