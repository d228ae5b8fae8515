"""Qwen Code. A project's settings stay free: what the harness needs, it says in variables."""

import contextlib
import json
import shutil
from collections.abc import Iterator, Sequence
from typing import Final

from tests.hosts.assistant import Assistant
from tests.hosts.installed import Installation
from tests.hosts.program import Program
from tests.hosts.rpc import Acp

PROGRAM: Final = Installation(
    "Qwen Code", "@qwen-code/qwen-code", "@qwen-code/qwen-code", "cli-entry.js"
)

_SETTINGS: Final = {  # it would ask the model for memories of its own, and for a next prompt
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
    "ui": {"enableFollowupSuggestions": False},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
}


class QwenCode(Program):
    """Qwen Code, a program for node; it asks for chat completions."""

    def program(self) -> list[str]:
        node = shutil.which("node")
        if node is None:
            raise FileNotFoundError("Qwen Code needs node 20 or newer on the PATH")
        return [node, str(PROGRAM.require()), "--auth-type", "openai"]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return [*args, "-p", prompt]

    @contextlib.contextmanager
    def conversation(self) -> Iterator[Acp]:
        """A session as editors have it."""
        with self.serving("--acp") as process:
            yield Acp(process, str(self.cwd))

    def variables(self) -> dict[str, str]:
        settings = self.home / "system.json"
        settings.write_text(json.dumps(_SETTINGS))
        return {
            "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(settings),
            "OPENAI_API_KEY": "dummy",
            "OPENAI_BASE_URL": f"{self.model_url}/v1",
            "OPENAI_MODEL": "scripted",
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        }

    def sessions(self) -> list[str]:
        found = (self.home / ".qwen/projects").glob("*/chats/*.jsonl")
        return [path.stem for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)]


ASSISTANT: Final = Assistant(
    "qwen",
    PROGRAM,
    QwenCode,
    ("--approval-mode", "yolo"),
    "mcp__memfs__core_memory_append",
    is_complete=False,
)
