"""The five assistants as the tests meet them: what each needs, and what it calls our tools."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from tests.hosts.claude_code import ClaudeCode
from tests.hosts.codex_cli import CodexCli
from tests.hosts.copilot_cli import CopilotCli
from tests.hosts.gemini_cli import GeminiCli
from tests.hosts.installed import CLAUDE as CLAUDE_PROGRAM
from tests.hosts.installed import CODEX as CODEX_PROGRAM
from tests.hosts.opencode_cli import OpencodeCli
from tests.hosts.program import Program
from tests.hosts.project import BIN, Project
from tests.hosts.scripted_model import ScriptedModel

HEAD: Final = "# Core memory (always available)"


class Assistant(NamedTuple):
    """An assistant: what a headless run needs for hooks and tools, how its tools are named.

    `verb` is how it takes a plugin. `trust` is what has it run hooks: Codex asks its user first.
    """

    name: str
    program: type[Program]
    args: tuple[str, ...]
    tool: str
    verb: str = ""
    trust: tuple[str, ...] = ()

    def start(self, project: Project, model: ScriptedModel, path: str = "") -> Program:
        """Return its program in a project; commands are found in `path` first."""
        known = f"{BIN}:/usr/local/bin:/usr/bin:/bin"
        path = f"{path}:{known}" if path else known
        return self.program(project.home, project.repo, model.url, path=path, timeout=120)

    def install(
        self, project: Project, *words: str, cwd: Path | None = None, found: bool = False
    ) -> None:
        """Wire it as `memfs install` does, in one's own settings if nothing else is said.

        Codex is `found` in any case: it is asked which of our hooks it runs.
        """
        if self.trust or found:
            program = {"claude": CLAUDE_PROGRAM, "codex": CODEX_PROGRAM}[self.name]
            link = project.home / "bin" / self.name
            link.parent.mkdir(exist_ok=True)
            if not link.exists():
                link.symlink_to(program.require())
        project.memfs("install", self.name, *words, *self.trust, cwd=cwd)


CLAUDE: Final = Assistant(
    "claude", ClaudeCode, ("--allowedTools", "mcp__memfs"), "mcp__memfs__core_memory_append"
)
# A server that takes more than a second to start is left out of the first request, by default.
CODEX: Final = Assistant(
    "codex",
    CodexCli,
    ("-c", "mcp_optional_startup_grace_ms=20000"),
    "mcp__memfs__core_memory_append",
    "add",
    ("--trust",),
)
GEMINI: Final = Assistant("gemini", GeminiCli, (), "mcp_memfs_core_memory_append")
COPILOT: Final = Assistant(
    "copilot", CopilotCli, ("--allow-all-tools",), "memfs-core_memory_append", "install"
)
OPENCODE: Final = Assistant("opencode", OpencodeCli, (), "memfs_core_memory_append")
ALL: Final = (CLAUDE, CODEX, GEMINI, COPILOT, OPENCODE)
