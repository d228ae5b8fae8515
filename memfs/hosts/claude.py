"""Claude Code. Hot path."""

from memfs.core import events
from memfs.hosts.base import WITH_AGENTS, Host, ToolNames, Wiring


class _Claude(Host):
    NAME = "claude"
    TITLE = "Claude Code"
    READS = (("claude",),)
    COMMAND = "claude"
    HOME = ".claude"
    PLUGIN_VERB = "install"
    RESTARTS = True  # a session start comes after each compaction
    IGNORES = ("a comment", "a trailing comma")
    VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CLAUDECODE")
    FOLDERS = ("CLAUDE_CONFIG_DIR",)
    IS_IMITATED = True
    KINDS = WITH_AGENTS
    TOOLS = ToolNames(("Write", "Edit", "MultiEdit", "NotebookEdit"), ("Read",), ("Bash",))
    TELLS = events.BEFORE
    ASKS = True

    def list_plugin_settings(self, home: str, top: str) -> list[str]:
        names = ("settings.json", "settings.local.json") if top else ()
        found = [f"{self.find_folder(home)}/settings.json"]
        return found + [f"{top}/.claude/{name}" for name in names]

    def wiring(self, scope: str, home: str, top: str) -> Wiring:
        from memfs.files.account import find_named_folder

        account = f"{find_named_folder('CLAUDE_CONFIG_DIR') or home}/.claude.json"
        names = ("hooks", "allow", "line", "memory_off")
        inside = tuple([f"claude/{name}.json" for name in names])
        if scope == "user":
            path = f"{self.find_folder(home)}/settings.json"
            return [(path, inside), (account, ("claude/tools.json",))]
        if scope == "local":  # a folder for one project, which no committed file can name
            path = f"{top}/.claude/settings.local.json"
            here = (*inside, "claude/memory_here.json")
            return [(path, here), (account, ("claude/tools_here.json",))]
        shared = (*inside[:3], "claude/approve.json")
        tools = (f"{top}/.mcp.json", ("claude/tools.json",))
        return [(f"{top}/.claude/settings.json", shared), tools]


HOST = _Claude()
