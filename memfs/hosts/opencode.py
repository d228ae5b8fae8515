"""opencode: hook events, replies, where its settings and sessions are. Hot path.

It runs no commands as hooks: `hooks/opencode/memfs.js` is a plugin of it that runs ours.
"""

import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.files.account import find_named_folder, is_of_project
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "opencode"
TITLE = "opencode"
WINDOW = 200_000
READS = (("agents", "claude"),)
ADDS = 320
IS_SILENT = False
COMMAND = "opencode"
HOME = ".config/opencode"
PLUGIN_VERB = ""  # its plugins are files, and ours is written like its settings
RESTARTS = True
IGNORES: tuple[str, ...] = ()
VARIABLES = ("OPENCODE",)
FOLDERS = ("OPENCODE_DB",)
IS_IMITATED = True
TELLS, ASKS = events.AFTER, False
TESTED = ""

TOOLS = payloads.ToolNames(
    ("write", "edit", "multiedit", "patch", "apply_patch"), ("read",), ("bash",)
)


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn the payload of our plugin into an event; None for one that is not for us."""
    found = payloads.event(NAME, payloads.CLAUDE_KINDS, TOOLS, payload)
    if found and found.kind in (events.STOP, events.END) and not found.transcript:
        bases = list_databases(os.path.expanduser("~"))
        found.transcript = next((path for path in bases if os.path.exists(path)), "")
    return found


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.format_nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; opencode has no settings that are not committed."""
    return list_wiring(NAME, scope, home, top)


def list_wiring(
    name: str, scope: str, home: str, top: str
) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a program: opencode, or a fork with folders of its name."""
    if scope == "local":
        return []
    settings = f"{find_named_folder('XDG_CONFIG_HOME') or f'{home}/.config'}/{name}"
    plugins = f"{settings}/plugins"
    if scope == "project":
        settings, plugins = top, f"{top}/.{name}/plugins"
    return [
        (f"{plugins}/memfs.js", ("opencode/memfs.js",)),
        (select_config(settings, name), ("opencode/tools.json",)),
    ]


def select_config(folder: str, name: str) -> str:
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


def list_plugin_settings(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List none: opencode runs every plugin file, without a setting."""
    return []


def list_databases(home: str) -> list[str]:
    """List the possible paths of its database, that of an opencode started here first."""
    from memfs.hosts import transcript_files

    data = find_named_folder("XDG_DATA_HOME")
    folders = [
        f"{root}/opencode" for root in transcript_files.list_roots(data, f"{home}/.local/share")
    ]
    named = os.environ.get("OPENCODE_DB", "")
    path = os.path.join(folders[0], named)
    own = named not in ("", ":memory:") and not is_of_project(path, os.getcwd())
    first = [path] if own else []
    return list(dict.fromkeys([*first, *(f"{folder}/opencode.db" for folder in folders)]))
