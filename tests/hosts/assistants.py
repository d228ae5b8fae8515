"""All assistants that are run, found by their modules: `*_cli.py` with an `ASSISTANT`."""

from importlib import import_module
from pathlib import Path
from typing import Final, cast

from tests.hosts.assistant import HEAD, Assistant

__all__ = ["ALL", "CLAUDE", "CODEX", "COPILOT", "GEMINI", "HEAD", "OPENCODE", "Assistant"]

ALL: Final = tuple(
    cast("Assistant", import_module(f"tests.hosts.{path.stem}").ASSISTANT)
    for path in sorted(Path(__file__).parent.glob("*_cli.py"))
)
_BY_NAME: Final = {each.name: each for each in ALL}
CLAUDE: Final = _BY_NAME["claude"]
CODEX: Final = _BY_NAME["codex"]
COPILOT: Final = _BY_NAME["copilot"]
GEMINI: Final = _BY_NAME["gemini"]
OPENCODE: Final = _BY_NAME["opencode"]
