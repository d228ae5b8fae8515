"""Qwen Code: a fork of Gemini CLI, with hooks like those of Claude Code. Hot path."""

from memfs.core import events
from memfs.core.events import Event
from memfs.hosts.base import Entries, Host, ToolNames, make_server


class _Qwen(Host):
    NAME = "qwen"
    TITLE = "Qwen Code"
    WINDOW = 262_144
    COMMAND = "qwen"
    HOME = ".qwen"
    RESTARTS = True
    IGNORES = ("a trailing comma",)
    VARIABLES = ("QWEN_CODE_SESSION_ID", "QWEN_CODE")
    FOLDERS = ("QWEN_HOME",)
    TOOLS = ToolNames(
        ("write_file", "edit", "notebook_edit"), ("read_file",), ("run_shell_command",)
    )
    ASKS = True
    TESTED = "with each change, except compaction"

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        found = super().parse_event(payload)
        if found and found.kind == events.PROMPT and not found.prompt:  # a tool answered
            return None
        return found

    def list_entries(self) -> list[tuple[Entries, ...]]:
        tools = make_server(trust=True, alwaysLoadTools=True)
        return [("settings.json", self.make_hooks(), tools)]


HOST = _Qwen()
