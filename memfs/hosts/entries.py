"""Our entries for the settings of hosts whose shapes are alike, with marks for what is filled in.

`ops.install` fills `{hook}` and `{python}`; the entries of other hosts are files below `hooks/`.
"""

from __future__ import annotations

from memfs.core import events
from memfs.hosts.payload import TOOL_EVENTS, ToolNames
from memfs.hosts.settings_merge import SERVER, Json

_SLOW = (events.STOP, events.COMPACT)  # they read the transcript
_SECONDS, _SLOW_SECONDS = 10, 30


def make_hooks(kinds: dict[str, str], tools: ToolNames, tells: str) -> Json:
    """Return hooks in groups, as Claude Code has them, for events by the host's names.

    `tells` is the event of a tool at which the model is told something. Timeouts are in seconds.
    """
    groups: Json = {}
    for name, kind in kinds.items():
        timeout = _SLOW_SECONDS if kind in _SLOW else _SECONDS
        hook = {"type": "command", "command": "{hook}", "timeout": timeout}
        wired = tools.list_wired(kind, tells) if kind in TOOL_EVENTS else ()
        groups[name] = [{**({"matcher": "|".join(wired)} if wired else {}), "hooks": [hook]}]
    return {"hooks": groups}


def make_tools(**more: object) -> Json:
    """Return the entry of our MCP server, with what a host wants beside the command."""
    server = {"command": "{python}", "args": ["-P", "-c", "import memfs.__main__", "mcp"], **more}
    return {"mcpServers": {SERVER: server}}
