"""Kilo: hook events, replies, where its settings and sessions are. Hot path.

It is a fork of opencode, and runs the same plugin (tried by hand with 7.7.9). Its sessions are not
read: an index of its database is one that a reader of foreign files may not trust.
"""

from memfs.core import events
from memfs.core.events import Event
from memfs.hosts import opencode
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Entries

NAME = "kilo"
TITLE = "Kilo"
WINDOW = 200_000
READS = (("agents", "claude"),)
ADDS = 320
IS_SILENT = False
COMMAND = "kilo"
HOME = ".config/kilo"
PLUGIN_VERB = ""  # its plugins are files, and ours is written like its settings
RESTARTS = True
IGNORES: tuple[str, ...] = ()
VARIABLES = ("KILO",)
FOLDERS: tuple[str, ...] = ()
IS_IMITATED = False
TELLS, ASKS = events.AFTER, False
TESTED = "by hand, 7.7.9 (kilo.ai/docs)"


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn the payload of our plugin into an event; None for one that is not for us."""
    return payloads.event(NAME, payloads.CLAUDE_KINDS, opencode.TOOLS, payload)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[Entries, ...]]]":
    """List the files that wire us in a scope; Kilo has no settings that are not committed."""
    return opencode.list_wiring(NAME, scope, home, top)


format_reply = opencode.format_reply
list_plugin_settings = opencode.list_plugin_settings
