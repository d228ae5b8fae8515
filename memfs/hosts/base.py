"""What a host module must offer. Adding a host is one such module, a name, recorded fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.core.events import Event, Reply
    from memfs.core.records import Identity, Transcript


class Host(Protocol):
    """One assistant.

    `COMMAND` (on PATH) and `HOME` (in the home folder) show that it is installed. `SETTINGS` is
    its settings file, relative to the project or to the home folder; `MANIFEST` the shipped file
    (in `hooks/`) with our entries for it.
    """

    NAME: str
    TITLE: str
    COMMAND: str
    HOME: str
    SETTINGS: str
    MANIFEST: str

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        """Turn a hook's stdin into an event; None for one that is not for us."""

    def format_reply(self, event: Event, reply: Reply) -> str:
        """Return what to print so that a reply gets to the model and the person; "" for nothing."""

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:
        """Tell whose session a transcript is from its first lines; None: not this host's."""

    def read_transcript(self, data: bytes, identity: Identity, *, start: int) -> Transcript:
        """Read the messages of `data`, which begins at byte `start` of the file."""

    def transcripts(self, home: str, project: str) -> Iterable[str]:
        """List the transcripts that the host keeps for a project, oldest first."""
