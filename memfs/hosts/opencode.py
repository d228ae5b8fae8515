"""opencode. Hot path.

It runs no commands as hooks: `hooks/opencode/memfs.js` is a plugin of it that runs ours.
"""

import os

from memfs.core import events
from memfs.core.events import Event
from memfs.files.account import find_named_folder, is_of_project
from memfs.hosts.base import Host, ToolNames, Wiring


class OpenCode(Host):
    """The program, or a fork of it with folders of its name."""

    NAME = TITLE = "opencode"
    READS = (("agents", "claude"),)
    ADDS = 320
    COMMAND = "opencode"
    HOME = ".config/opencode"
    RESTARTS = True
    VARIABLES = ("OPENCODE",)
    FOLDERS: tuple[str, ...] = ("OPENCODE_DB",)
    IS_IMITATED = True
    TOOLS = ToolNames(("write", "edit", "multiedit", "patch", "apply_patch"), ("read",), ("bash",))

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        found = super().parse_event(payload)
        if found and found.kind in (events.STOP, events.END) and not found.transcript:
            bases = self.list_databases(os.path.expanduser("~"))
            found.transcript = next((path for path in bases if os.path.exists(path)), "")
        return found

    def wiring(self, scope: str, home: str, top: str) -> Wiring:
        if scope == "local":
            return []
        folder = f"{find_named_folder('XDG_CONFIG_HOME') or f'{home}/.config'}/{self.NAME}"
        plugins = f"{folder}/plugins"
        if scope == "project":
            folder, plugins = top, f"{top}/.{self.NAME}/plugins"
        return [
            (f"{plugins}/memfs.js", ("opencode/memfs.js",)),
            (_select_config(folder, self.NAME), ("opencode/tools.json",)),
        ]

    def list_databases(self, home: str) -> list[str]:
        """List the possible paths of its database, that of an opencode started here first."""
        from memfs.hosts import transcript_files

        data = find_named_folder("XDG_DATA_HOME")
        roots = transcript_files.list_roots(data, f"{home}/.local/share")
        folders = [f"{root}/opencode" for root in roots]
        named = os.environ.get("OPENCODE_DB", "")
        path = os.path.join(folders[0], named)
        own = named not in ("", ":memory:") and not is_of_project(path, os.getcwd())
        first = [path] if own else []
        return list(dict.fromkeys([*first, *(f"{folder}/opencode.db" for folder in folders)]))


def _select_config(folder: str, name: str) -> str:
    """Return the settings file of a folder: the one with our server, else the preferred one."""
    found = [f"{folder}/{name}{suffix}" for suffix in (".jsonc", ".json")]
    found = [path for path in found if os.path.exists(path)] or found[1:]
    return next((path for path in found if _has_server(path)), found[0])


def _has_server(path: str) -> bool:
    try:
        with open(path, "rb") as handle:
            return b'"memfs"' in handle.read()
    except OSError:
        return False


HOST = OpenCode()
