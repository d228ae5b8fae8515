"""Devin CLI: hook events, replies, where its settings are. Hot path.

Written from its documentation (docs.devin.ai/cli/extensibility/hooks, November 2026): it was not
run. Its hooks are like those of Claude Code, whose settings it runs as well.
"""

import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "devin"
TITLE = "Devin CLI"
WINDOW = 200_000
READS = (("agents",),)
ADDS = 0
IS_SILENT = False
COMMAND = "devin"
HOME = ".config/devin"
PLUGIN_VERB = ""
RESTARTS = False
IGNORES: tuple[str, ...] = ()
VARIABLES = ("DEVIN_PROJECT_DIR",)
FOLDERS: tuple[str, ...] = ()
IS_IMITATED = False
TELLS, ASKS = events.AFTER, False
TESTED = "not run: from its documentation, docs.devin.ai/cli/extensibility/hooks"

TOOLS = payloads.ToolNames(("edit", "write"), ("read",), ("exec",))


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn a hook's stdin into an event; None for one that is not for us or has no session.

    It names no folder, and its transcripts are not documented.
    """
    folder = payload.get("cwd") or os.environ.get("DEVIN_PROJECT_DIR")
    found = {**payload, "cwd": folder, "transcript_path": ""}
    return payloads.event(NAME, payloads.CLAUDE_KINDS, TOOLS, found)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.format_nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope: Devin has one for each."""
    from memfs.files.account import find_named_folder
    from memfs.hosts import entries

    names = {"project": f"{top}/.devin/config.json", "local": f"{top}/.devin/config.local.json"}
    config = find_named_folder("XDG_CONFIG_HOME") or f"{home}/.config"
    path = names.get(scope, f"{config}/devin/config.json")
    kinds = {name: kind for name, kind in payloads.CLAUDE_KINDS.items() if name != "PreCompact"}
    return [(path, (entries.make_hooks(kinds, TOOLS, TELLS), entries.make_tools()))]


def list_plugin_settings(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List none: its plugins are not ours."""
    return []
