"""The real assistants as npm packages: which versions are tested, and where they are installed.

    npm install --ignore-scripts --prefix DIR $(python -m tests.hosts.installed)
    export MEMFS_HOSTS_DIR=DIR

No install script is run and no launcher is needed: where a package holds a program for this machine
it is called itself. One prefix holds all, or each has one of its own in MEMFS_HOSTS_DIR.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Final, NamedTuple

_HINT: Final = """\
{title} is not installed for the host tests. Install it (no install script is run) and say where:
  npm install --ignore-scripts --prefix DIR {package}
  export MEMFS_HOSTS_DIR=DIR        # or {variable}=/path/to/it"""


class Installation(NamedTuple):
    """One assistant: its npm ``package``, and its program as a pattern ``inside`` node_modules."""

    title: str
    variable: str
    package: str
    inside: str

    def find(self) -> Path | None:
        """The program that ``variable`` names, else that of a node_modules of MEMFS_HOSTS_DIR."""
        if program := os.environ.get(self.variable):
            return Path(program) if Path(program).is_file() else None
        if not (folder := os.environ.get("MEMFS_HOSTS_DIR")):
            return None
        patterns = (f"node_modules/{self.inside}", f"*/node_modules/{self.inside}")
        root = Path(folder).absolute()  # it is started in another folder
        return next((p for each in patterns for p in sorted(root.glob(each))), None)

    def require(self) -> Path:
        """The program; FileNotFoundError says how to install it."""
        if (program := self.find()) is None:
            said = _HINT.format(title=self.title, package=self.package, variable=self.variable)
            raise FileNotFoundError(said)
        return program


def _chip() -> str:
    machine = platform.machine().lower()
    return {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(machine, machine)


_MUSL: Final = sys.platform == "linux" and platform.libc_ver()[0] != "glibc"
_HERE: Final = f"{sys.platform}-{_chip()}"
_LIBC: Final = f"{_HERE}-musl" if _MUSL else _HERE
_COPILOT: Final = f"copilot-{_HERE.replace('linux', 'linuxmusl') if _MUSL else _HERE}"

CLAUDE: Final = Installation(
    "Claude Code",
    "MEMFS_CLAUDE_BIN",
    f"@anthropic-ai/claude-code-{_LIBC}@2.1.328",
    f"@anthropic-ai/claude-code-{_LIBC}/claude",
)
CODEX: Final = Installation(
    "Codex",
    "MEMFS_CODEX_BIN",
    f"@openai/codex-{_HERE}@npm:@openai/codex@0.169.0-{_HERE}",
    f"@openai/codex-{_HERE}/vendor/*/bin/codex",
)
GEMINI: Final = Installation(
    "Gemini CLI",
    "MEMFS_GEMINI_BIN",
    "@google/gemini-cli@0.61.0",
    "@google/gemini-cli/bundle/gemini.js",
)
COPILOT: Final = Installation(
    "Copilot CLI", "MEMFS_COPILOT_BIN", f"@github/{_COPILOT}@1.0.102", f"@github/{_COPILOT}/copilot"
)
OPENCODE: Final = Installation(
    "opencode", "MEMFS_OPENCODE_BIN", f"opencode-{_LIBC}@1.18.33", f"opencode-{_LIBC}/bin/opencode"
)
INSPECTOR: Final = Installation(  # no assistant: it looks at MCP servers
    "The MCP inspector",
    "MEMFS_INSPECTOR_BIN",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
)
SKILLS: Final = Installation(  # puts skills into the folders of many; newer ones need Node 22
    "The program skills", "MEMFS_SKILLS_BIN", "skills@1.5.18", "skills/bin/cli.mjs"
)
_PREBUILT: Final = {"darwin-arm64": "mac-arm64-metal", "darwin-x64": "mac-x64"}.get(_HERE, _HERE)
LLAMA: Final = Installation(  # no assistant: it runs the model of tests/agent/test_small_model.py
    "node-llama-cpp",
    "MEMFS_LLAMA_JS",
    f"node-llama-cpp@3.22.1 @node-llama-cpp/{_PREBUILT}@3.22.1",
    "node-llama-cpp/dist/index.js",
)
ALL: Final = (CLAUDE, CODEX, GEMINI, COPILOT, OPENCODE, INSPECTOR, LLAMA, SKILLS)


if __name__ == "__main__":
    sys.stdout.write(" ".join(each.package for each in ALL) + "\n")
