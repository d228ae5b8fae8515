"""Grok Build. Hot path.

Its hooks tell the model nothing at a start or at a prompt (its guide, 10-hooks.md): there it has
our tools, what their server says of them, and a section of `AGENTS.md`.
"""

from memfs.core import events
from memfs.core.events import Event
from memfs.hosts.base import Entries, Host, ToolNames, get_text

_SILENT = (events.START, events.PROMPT)  # what is said there is lost: it must not count as said


class _Grok(Host):
    NAME = "grok"
    TITLE = "Grok Build"
    WINDOW = 256_000
    READS = (("agents",), ("claude",))
    ADDS = 140
    IS_SILENT = True
    COMMAND = "grok"
    HOME = ".grok"
    IGNORES = ("a byte order mark", "a comment", "a trailing comma")
    VARIABLES = ("GROK_SESSION_ID", "GROK_AGENT")
    FOLDERS = ("GROK_HOME",)
    TOOLS = ToolNames(
        ("write", "search_replace"), ("read_file",), ("run_terminal_command", "run_terminal_cmd")
    )
    TELLS = events.BEFORE
    ASKS = True

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        found = super().parse_event(payload)
        if found is None or found.kind in _SILENT:
            return None
        found.again = payload.get("stopHookActive") is True
        found.answer = get_text(payload, "lastAssistantMessage")
        return found

    def list_entries(self) -> list[tuple[Entries, ...]]:
        hooks = self.make_hooks(*_SILENT)
        return [("hooks/memfs.json", hooks), ("config.toml", "grok/tools.toml")]


HOST = _Grok()
