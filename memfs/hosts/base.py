"""The interface of a host module: a new host is one such module, and a folder of fixtures.

It is found by its `COMMAND`. Where its sessions can be read, `NAME_transcript` beside it is the
`Reader`, which hooks need not load; `NAME_sessions` is a `Collection`, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from memfs.core.events import Event, Reply
from memfs.core.records import Identity, Transcript
from memfs.hosts.payload import ToolNames

BEFORE = 256 << 10
Entries: TypeAlias = "str | dict[str, object]"  # a shipped file below `hooks/`, or made here


class Reader(Protocol):
    """Finds and reads the transcripts of a host, of one session each."""

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        """Return the session of a transcript by its first lines; None: not this host's."""

    def read_transcript(
        self, data: bytes, identity: Identity, *, start: int, before: bytes = b""
    ) -> Transcript:
        """Read the messages of `data`, which begins at byte `start` of the file.

        `before` are the bytes before it, up to `BEFORE`.
        """

    def list_transcripts(self, home: str, project: str) -> Iterable[str]:
        """List the transcripts that the host keeps for a project ("": for all), oldest first.

        They are looked for in the host's default folders, and in those of its variables.
        """

    def list_folders(self, home: str, project: str) -> list[str]:
        """List the folders below which transcripts of a project may come to be."""


class Host(Protocol):
    """One assistant.

    `WINDOW` is the context of its usual model, in tokens. `READS` are groups of instruction files,
    by their names in `marked_section.TARGETS`: of each group it sends one with our section. `ADDS`
    are the tokens of its own texts and tools in a request where our server is. `IS_SILENT`: it
    sends neither the brief nor the definitions of tools.
    `COMMAND` (on PATH) and `HOME` (in the home folder) show that it is installed. `RESTARTS`: it
    tells of a session start after it compacted its context. `IGNORES`: it ignores a whole settings
    file for one of these, named as by `jsonc_edit.list_extras`. `PLUGIN_VERB` is the word of its
    `plugin` command that takes one from a marketplace ("": it has none).
    `VARIABLES` are what it sets for programs that it starts, the session's id (`…_SESSION_ID`) or
    only a mark, `FOLDERS` those by which its user moves its folders. `IS_IMITATED`: other
    assistants run the hooks in its settings, too. `TOOLS` names its own tools, `TELLS` is the event
    of a tool at which context reaches the model (before it or after), and `ASKS`: a hook before a
    tool can have the person asked. `TESTED` says how it was, where the host tests do
    not run it. One of `hosts.BORROWERS` has a name, events and replies alone.
    """

    NAME: str
    TITLE: str
    WINDOW: int
    READS: tuple[tuple[str, ...], ...]
    ADDS: int
    IS_SILENT: bool
    COMMAND: str
    HOME: str
    PLUGIN_VERB: str
    RESTARTS: bool
    IGNORES: tuple[str, ...]
    VARIABLES: tuple[str, ...]
    FOLDERS: tuple[str, ...]
    IS_IMITATED: bool
    TOOLS: ToolNames
    TELLS: str
    ASKS: bool
    TESTED: str

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        """Turn a hook's stdin into an event; None for one that is not for us."""

    def format_reply(self, event: Event, reply: Reply) -> str:
        """Return the text to print for a reply to the model and the person; "" for nothing."""

    def wiring(self, scope: str, home: str, top: str) -> list[tuple[str, tuple[Entries, ...]]]:
        """List (settings file, what of ours goes into it).

        `scope` is user, project or local (in the project `top`, not committed). The first file is
        the one with our hooks.
        """

    def list_plugin_settings(self, home: str, top: str) -> list[str]:
        """List the settings files that can enable our plugin; `top` is the project, or ""."""


class Collection(Protocol):
    """Reads files that hold several sessions, such as a database."""

    def sessions(self, path: str, head: bytes, project: str, session: str = "") -> list[Identity]:
        """List the sessions in a file, each with a `mark`, those of a project ("": all).

        With `session`, only it and its subagents.

        Returns none for a file of another program, by its first bytes. Raises `OSError`.
        """

    def read_session(self, path: str, identity: Identity) -> Transcript:
        """Read the messages of one session, whole. Raises `OSError`."""
