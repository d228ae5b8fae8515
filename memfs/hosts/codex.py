"""Codex. Hot path."""

from memfs.core import events
from memfs.hosts.base import WITH_AGENTS, Entries, Host, ToolNames


class _Codex(Host):
    NAME = "codex"
    TITLE = "Codex"
    WINDOW = 272_000
    ADDS = 410
    COMMAND = "codex"
    HOME = ".codex"
    PLUGIN_VERB = "add"
    RESTARTS = True
    IGNORES = ("a byte order mark", "a comment", "a trailing comma")
    VARIABLES = ("CODEX_SESSION_ID",)
    FOLDERS = ("CODEX_HOME",)
    IS_IMITATED = True
    KINDS = WITH_AGENTS
    TOOLS = ToolNames(("apply_patch",), (), ("Bash",))  # it reads files in its shell
    TELLS = events.BEFORE

    def list_entries(self) -> list[tuple[Entries, ...]]:
        return [("hooks.json", "codex/hooks.json"), ("config.toml", "codex/tools.toml")]

    def list_plugin_settings(self, home: str, top: str) -> list[str]:
        folders = [self.find_folder(home), *([f"{top}/.codex"] if top else [])]
        return [f"{folder}/config.toml" for folder in folders]


HOST = _Codex()
