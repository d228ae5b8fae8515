"""Devin CLI. Hot path.

Written from its documentation (docs.devin.ai/cli/extensibility/hooks, November 2026): it was not
run. Its hooks are like those of Claude Code, whose settings it runs as well.
"""

import os

from memfs.core import events
from memfs.core.events import Event
from memfs.hosts.base import Host, ToolNames, Wiring, make_server


class _Devin(Host):
    NAME = "devin"
    TITLE = "Devin CLI"
    COMMAND = "devin"
    HOME = ".config/devin"
    VARIABLES = ("DEVIN_PROJECT_DIR",)
    TOOLS = ToolNames(("edit", "write"), ("read",), ("exec",))
    TESTED = "not tested, based on docs.devin.ai/cli/extensibility/hooks"

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        """Turn a hook's stdin into an event: no folder is named, nor a documented transcript."""
        folder = payload.get("cwd") or os.environ.get("DEVIN_PROJECT_DIR")
        return super().parse_event({**payload, "cwd": folder, "transcript_path": ""})

    def wiring(self, scope: str, home: str, top: str) -> Wiring:
        """List the one file of each scope."""
        from memfs.files.account import find_named_folder

        names = {"project": f"{top}/.devin/config.json", "local": f"{top}/.devin/config.local.json"}
        config = find_named_folder("XDG_CONFIG_HOME") or f"{home}/.config"
        path = names.get(scope, f"{config}/devin/config.json")
        return [(path, (self.make_hooks(events.COMPACT), make_server()))]


HOST = _Devin()
