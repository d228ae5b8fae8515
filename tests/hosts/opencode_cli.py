"""opencode. The user's and the project's configuration stay free: the harness has a variable."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from tests.hosts.assistant import Assistant
from tests.hosts.installed import LIBC, Installation
from tests.hosts.program import Program
from tests.hosts.rpc import Acp

PROGRAM: Final = Installation("opencode", "opencode-ai", f"opencode-{LIBC}", "bin/opencode")


class OpencodeCli(Program):
    """opencode, with `opencode run`; it asks for chat completions."""

    name: ClassVar[str] = "opencode"

    def program(self) -> list[str]:
        return [str(PROGRAM.require())]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return ["run", *args, prompt]

    @contextlib.contextmanager
    def conversation(self) -> Iterator[Acp]:
        """A session as editors have it."""
        with self.serving("acp") as process:
            yield Acp(process, str(self.cwd))

    def variables(self) -> dict[str, str]:
        name = self.name.upper()
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "DEFAULT_PLUGINS")
        return {
            f"{name}_CONFIG_CONTENT": json.dumps(self._config()),
            **{f"{name}_DISABLE_{each}": "1" for each in off},
            "npm_config_fetch_retries": "0",
        }

    def sessions(self) -> list[str]:
        database = self.home / f".local/share/{self.name}/{self.name}.db"
        with contextlib.closing(sqlite3.connect(database)) as connection:
            rows = connection.execute("SELECT id FROM session ORDER BY time_created").fetchall()
        return [str(row[0]) for row in rows]

    def _config(self) -> dict[str, object]:
        model = {"limit": {"context": 200_000, "output": 8_000}, "tool_call": True}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{self.model_url}/v1", "apiKey": "dummy"},
            "models": {"model": model},
        }
        return {
            "provider": {"scripted": provider},
            "model": "scripted/model",
            "small_model": "scripted/model",
        }


ASSISTANT: Final = Assistant("opencode", PROGRAM, OpencodeCli, (), "memfs_core_memory_append")
