"""opencode: hook events, replies, where its settings and sessions are. Hot path.

It runs no commands as hooks: `hooks/opencode/memfs.js` is a plugin of it that runs ours.
"""

import os

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import payload as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.core.records import Identity, Transcript

NAME = "opencode"
TITLE = "opencode"
COMMAND = "opencode"
HOME = ".config/opencode"
PLUGIN_VERB = ""  # its plugins are files, and ours is written like its settings
RESTARTS = True
CALLS_TOOLS = ""

_KINDS = {
    "SessionStart": events.START,
    "UserPromptSubmit": events.PROMPT,
    "Stop": events.STOP,
    "SessionEnd": events.END,
    "PreToolUse": events.WRITE,
    "PostToolUse": events.WRITTEN,
}
_WRITERS = ("write", "edit", "multiedit", "patch", "apply_patch")


def parse_event(payload: dict[str, object]) -> Event | None:
    """Turn what a plugin sends into an event; None for one that is not for us."""
    found = payloads.event(NAME, _KINDS, _WRITERS, payload)
    if found and found.kind in (events.STOP, events.END) and not found.transcript:
        bases = _databases(os.path.expanduser("~"))
        found.transcript = next((path for path in bases if os.path.exists(path)), "")
    return found


def format_reply(event: Event, reply: Reply) -> str:
    """Return the JSON of a reply."""
    return payloads.nested(event, reply)


def wiring(scope: str, home: str, top: str) -> "list[tuple[str, tuple[str, ...]]]":
    """List the files that wire us in a scope; opencode has no settings that are not committed."""
    from memfs.files.account import named_folder

    if scope == "local":
        return []
    settings = f"{named_folder('XDG_CONFIG_HOME') or f'{home}/.config'}/opencode"
    plugins = f"{settings}/plugins"
    if scope == "project":
        settings, plugins = top, f"{top}/.opencode/plugins"
    return [
        (f"{plugins}/memfs.js", ("opencode/memfs.js",)),
        (_config(settings), ("opencode/tools.json",)),
    ]


def _config(folder: str) -> str:
    """Return the settings file of a folder: of two, the one with our server, else as opencode."""
    found = [f"{folder}/{name}" for name in ("opencode.jsonc", "opencode.json")]
    found = [path for path in found if os.path.exists(path)] or found[1:]
    return next((path for path in found if _names_us(path)), found[0])


def _names_us(path: str) -> bool:
    try:
        with open(path, "rb") as handle:
            return b'"memfs"' in handle.read()
    except OSError:
        return False


def plugged(home: str, top: str) -> "list[str]":  # noqa: ARG001 - as every host
    """List the settings files that can enable our plugin: none, what is there runs."""
    return []


def identify(lines: "Iterable[bytes]", path: str) -> "Identity | None":
    """Tell whose session an export is from its first lines; None: not opencode's."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.identify(lines, path)


def read_transcript(
    data: bytes,
    identity: "Identity",
    *,
    start: int,
    before: bytes = b"",  # noqa: ARG001 - it is read whole
) -> "Transcript":
    """Read the messages of an export."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.read(data, identity, start=start)


def sessions(path: str, head: bytes, project: str, session: str = "") -> "list[Identity]":
    """List the sessions in a database, those of a project or all, or one with its subagents."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.listed(path, head, project, session)


def read_session(path: str, identity: "Identity") -> "Transcript":
    """Read one session of a database."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.of_database(path, identity)


def folders(home: str, project: str) -> list[str]:  # noqa: ARG001 - the plugin tells of news
    """List no folder: of what is new in its database, our plugin tells."""
    return []


def transcripts(home: str, project: str) -> "Iterable[str]":
    """List the databases that have sessions of a project ("": any) or the folders below it."""
    from memfs.hosts import opencode_sessions

    return opencode_sessions.found(_databases(home), project)


def _databases(home: str) -> list[str]:
    """List where its database can be, that of an opencode which is started here first."""
    from memfs.files.account import is_of_project, named_folder
    from memfs.hosts import kept

    told = named_folder("XDG_DATA_HOME")
    folders = [f"{root}/opencode" for root in kept.roots(told, f"{home}/.local/share")]
    named = os.environ.get("OPENCODE_DB", "")
    path = os.path.join(folders[0], named)
    own = named not in ("", ":memory:") and not is_of_project(path, os.getcwd())
    first = [path] if own else []
    return list(dict.fromkeys([*first, *(f"{folder}/opencode.db" for folder in folders)]))
