"""GitHub Copilot CLI: hook events, replies, where its settings and transcripts are. Hot path."""

import json
import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "copilot"
TITLE = "Copilot CLI"
WINDOW = 128_000
READS = (("agents",), ("claude",), ("gemini",), ("copilot",))
ADDS = 0
IS_SILENT = False
COMMAND = "copilot"
HOME = ".copilot"
PLUGIN_VERB = "install"
RESTARTS = False
IGNORES = ("a byte order mark", "a comment", "a trailing comma")
VARIABLES = ("COPILOT_AGENT_SESSION_ID",)
FOLDERS = ("COPILOT_HOME",)
IS_IMITATED = True
TELLS, ASKS = events.BEFORE, True
TESTED = ""

# Hooks that are named as Claude Code names them are sent its names of tools, too.
TOOLS = payloads.ToolNames(
    ("create", "edit", "apply_patch", "Write", "Edit"), ("view", "Read"), ("bash", "Bash")
)


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session."""
    found = payloads.event(NAME, payloads.CLAUDE_KINDS, TOOLS, payload)
    if found and found.kind == events.END and not found.transcript:  # it names it at a stop alone,
        folder = f"{_find_home(os.path.expanduser('~'))}/session-state"  # and writes it after that
        found.transcript = f"{folder}/{os.path.basename(found.session)}/events.jsonl"
    return found


def _find_home(home: str) -> str:
    from memfs.files.account import find_named_folder

    return find_named_folder("COPILOT_HOME") or f"{home}/.copilot"


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply: its keys stand at the top, unlike with Claude Code."""
    made: dict[str, object] = {}
    if reply.refusal and event.kind == events.BEFORE:
        decision = "ask" if reply.asks else "deny"
        made = {"permissionDecision": decision, "permissionDecisionReason": reply.refusal}
    elif event.kind == events.STOP:
        return payloads.format_stop(reply)
    elif event.kind in payloads.WITH_CONTEXT:
        made = {"systemMessage": reply.notice} if reply.notice else {}
        made |= {"additionalContext": reply.context} if reply.context else {}
    return json.dumps(made) + "\n" if made else ""


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Copilot has no settings that are not committed."""
    if scope == "project":  # it reads the servers that Claude Code does
        hooks, tools = f"{top}/.github/hooks/memfs.json", f"{top}/.mcp.json"
        return [(hooks, ("copilot/hooks.json",)), (tools, ("claude/tools.json",))]
    if scope == "local":
        return []
    folder = _find_home(home)
    hooks, tools = f"{folder}/hooks/memfs.json", f"{folder}/mcp-config.json"
    return [(hooks, ("copilot/hooks.json",)), (tools, ("copilot/tools.json",))]


def list_plugin_settings(home: str, top: str) -> "list[str]":
    """List the settings files that can enable our plugin; `top` is the project, or ""."""
    folder = _find_home(home)
    return [f"{folder}/settings.json", *([f"{top}/.github/copilot/settings.json"] if top else [])]
