"""An assistant as the tests meet it: what it needs, and what it calls our tools."""

from pathlib import Path
from typing import Final, NamedTuple

from tests.hosts.installed import Installation
from tests.hosts.program import Program
from tests.hosts.project import BIN, Project
from tests.hosts.scripted_model import ScriptedModel, ToolUse

HEAD: Final = "# Core memory (always available)"


class Assistant(NamedTuple):
    """An assistant: what a headless run needs for hooks and tools, how its tools are named.

    `verb` is how it takes a plugin. `trust` is what has it run hooks: Codex asks its user first.
    `compact` is the prompt that has a conversation compacted. `silent` is why its hooks tell the
    model nothing. One that no test shows whole (`is_complete`) is in no table.
    """

    name: str
    installation: Installation
    program: type[Program]
    args: tuple[str, ...]
    tool: str
    verb: str = ""
    trust: tuple[str, ...] = ()
    compact: str = ""
    silent: str = ""
    is_complete: bool = True

    def call(self, **arguments: object) -> ToolUse:
        """Return the call of our tool that appends to a block."""
        if self.name == "grok":  # it has a tool for those of all servers
            return ToolUse("use_tool", {"tool_name": self.tool, "tool_input": arguments})
        return ToolUse(self.tool, arguments)

    def start(self, project: Project, model: ScriptedModel, path: str = "") -> Program:
        """Return its program in a project; commands are found in `path` first."""
        known = f"{BIN}:/usr/local/bin:/usr/bin:/bin"
        path = f"{path}:{known}" if path else known
        return self.program(project.home, project.repo, model.url, path=path)

    def install(
        self, project: Project, *words: str, cwd: Path | None = None, found: bool = False
    ) -> None:
        """Wire it as `memfs install` does, in one's own settings if nothing else is said.

        Codex is `found` in any case: it is asked which of our hooks it runs.
        """
        if self.trust or found:
            link = project.home / "bin" / self.name
            link.parent.mkdir(exist_ok=True)
            if not link.exists():
                link.symlink_to(self.installation.require())
        project.memfs("install", self.name, *words, *self.trust, cwd=cwd)
