"""GitHub Copilot CLI. Hot path."""

import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts.base import WITH_CONTEXT, Host, ToolNames, Wiring, dump_reply


class _Copilot(Host):
    NAME = "copilot"
    TITLE = "Copilot CLI"
    WINDOW = 128_000
    READS = (("agents",), ("claude",), ("gemini",), ("copilot",))
    COMMAND = "copilot"
    HOME = ".copilot"
    PLUGIN_VERB = "install"
    IGNORES = ("a byte order mark", "a comment", "a trailing comma")
    VARIABLES = ("COPILOT_AGENT_SESSION_ID",)
    FOLDERS = ("COPILOT_HOME",)
    IS_IMITATED = True
    # Hooks that are named as Claude Code names them are sent its names of tools, too.
    TOOLS = ToolNames(
        ("create", "edit", "apply_patch", "Write", "Edit"), ("view", "Read"), ("bash", "Bash")
    )
    TELLS = events.BEFORE
    ASKS = True

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        found = super().parse_event(payload)
        if found and found.kind == events.END and not found.transcript:
            # It names the transcript at a stop alone, and writes it after that.
            folder = f"{self.find_folder(os.path.expanduser('~'))}/session-state"
            found.transcript = f"{folder}/{os.path.basename(found.session)}/events.jsonl"
        return found

    def format_reply(self, event: Event, reply: Reply) -> str:
        """Return the JSON of a reply: its keys stand at the top, unlike with Claude Code."""
        if reply.refusal and event.kind == events.BEFORE:
            decision = "ask" if reply.asks else "deny"
            told = {"permissionDecision": decision, "permissionDecisionReason": reply.refusal}
            return dump_reply({**told})
        if event.kind not in WITH_CONTEXT:
            return super().format_reply(event, reply)
        made: dict[str, object] = {"systemMessage": reply.notice} if reply.notice else {}
        return dump_reply(made | ({"additionalContext": reply.context} if reply.context else {}))

    def wiring(self, scope: str, home: str, top: str) -> Wiring:
        if scope == "local":
            return []
        folder = self.find_folder(home)
        hooks, tools = f"{folder}/hooks/memfs.json", (f"{folder}/mcp-config.json", "copilot")
        if scope == "project":  # it reads the servers that Claude Code does
            hooks, tools = f"{top}/.github/hooks/memfs.json", (f"{top}/.mcp.json", "claude")
        return [(hooks, ("copilot/hooks.json",)), (tools[0], (f"{tools[1]}/tools.json",))]

    def list_plugin_settings(self, home: str, top: str) -> list[str]:
        shared = [f"{top}/.github/copilot/settings.json"] if top else []
        return [f"{self.find_folder(home)}/settings.json", *shared]


HOST = _Copilot()
