"""Grok Build, with a model of its user's own: its configuration stays free, a variable adds to it."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.hosts.assistant import Assistant
from tests.hosts.installed import HERE, Installation
from tests.hosts.program import Program
from tests.hosts.rpc import Acp

PROGRAM: Final = Installation(
    "Grok Build", "@xai-official/grok", f"@xai-official/grok-{HERE}", "bin/grok.br"
)
_UNPACK: Final = """
const [packed, made] = process.argv.slice(1)
const { brotliDecompressSync } = require("zlib")
require("fs").writeFileSync(made, brotliDecompressSync(require("fs").readFileSync(packed)), { mode: 0o755 })
"""


def unpack(packed: Path) -> Path:
    """Return the program, which its package has packed and an install script would unpack."""
    program = packed.with_suffix("")
    if not program.exists():
        made = program.with_name(f"grok.{os.getpid()}")
        subprocess.run(["node", "-e", _UNPACK, str(packed), str(made)], check=True)
        made.rename(program)
    return program


class GrokBuild(Program):
    """Grok Build, asking for chat completions."""

    def program(self) -> list[str]:
        return [str(unpack(PROGRAM.require()))]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        return [*args, "-p", prompt]

    @contextlib.contextmanager
    def conversation(self) -> Iterator[Acp]:
        """A session as editors have it."""
        with self.serving("agent", "stdio") as process:
            yield Acp(process, str(self.cwd))

    def variables(self) -> dict[str, str]:
        model = {
            "model": "scripted",
            "name": "Scripted",
            "base_url": f"{self.model_url}/v1",
            "api_key": "dummy",
            "context_window": 200_000,
        }
        config = {"models": {"default": "scripted"}, "model": {"scripted": model}}
        return {
            "GROK_CONFIG": json.dumps(config),
            "XAI_API_KEY": "dummy",
            "GROK_XAI_API_BASE_URL": f"{self.model_url}/v1",
            "GROK_CLI_CHAT_PROXY_BASE_URL": f"{self.model_url}/v1",
            "GROK_MODELS_LIST_URL": f"{self.model_url}/v1/models",
            "GROK_TELEMETRY_ENABLED": "false",
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_TURN_SUMMARY": "0",
        }

    def sessions(self) -> list[str]:
        found = (self.home / ".grok/sessions").glob("*/*/updates.jsonl")
        return [p.parent.name for p in sorted(found, key=lambda path: path.stat().st_mtime_ns)]


ASSISTANT: Final = Assistant(
    "grok",
    PROGRAM,
    GrokBuild,
    ("--always-approve", "--trust"),
    "memfs__core_memory_append",
    silent="it passes no text of hooks at a start or a prompt to the model",
)
