"""Kilo: hook events, replies, where its settings and sessions are. Hot path.

It is a fork of opencode, and runs the same plugin (tried by hand with 7.7.9). Its sessions are not
read: an index of its database is one that a reader of foreign files may not trust.
"""

from memfs.core.events import Event, Reply
from memfs.files.account import find_named_folder
from memfs.hosts import opencode
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "kilo"
TITLE = "Kilo"
WINDOW = 200_000
COMMAND = "kilo"
HOME = ".config/kilo"
PLUGIN_VERB = ""  # its plugins are files, and ours is written like its settings
RESTARTS = True
IGNORES: tuple[str, ...] = ()
CALLS_TOOLS = ""
VARIABLES = ("KILO",)
FOLDERS: tuple[str, ...] = ()
IS_IMITATED = False
TESTED = "by hand, 7.7.9 (kilo.ai/docs)"


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn the payload of our plugin into an event; None for one that is not for us."""
    return payloads.event(NAME, payloads.CLAUDE_KINDS, opencode.WRITERS, payload)


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.format_nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Kilo has no settings that are not committed."""
    if scope == "local":
        return []
    settings = f"{find_named_folder('XDG_CONFIG_HOME') or f'{home}/.config'}/kilo"
    plugins = f"{settings}/plugins"
    if scope == "project":
        settings, plugins = top, f"{top}/.kilo/plugins"
    return [
        (f"{plugins}/memfs.js", ("opencode/memfs.js",)),
        (opencode.select_config(settings, NAME), ("opencode/tools.json",)),
    ]


def list_plugin_settings(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List none: Kilo runs every plugin file, without a setting."""
    return []
