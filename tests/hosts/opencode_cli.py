"""opencode. The user's and the project's configuration stay free: the harness has a variable."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence

from tests.hosts.installed import OPENCODE
from tests.hosts.program import Program
from tests.hosts.rpc import Acp


class OpencodeCli(Program):
    """opencode, with `opencode run`; it asks for chat completions."""

    def program(self) -> list[str]:
        return [str(OPENCODE.require())]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return ["run", *args, prompt]

    @contextlib.contextmanager
    def conversation(self) -> Iterator[Acp]:
        """A session as editors have it."""
        with self.serving("acp") as process:
            yield Acp(process, str(self.cwd))

    def variables(self) -> dict[str, str]:
        return {
            "OPENCODE_CONFIG_CONTENT": json.dumps(self._config()),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "npm_config_fetch_retries": "0",
        }

    def sessions(self) -> list[str]:
        database = self.home / ".local/share/opencode/opencode.db"
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
