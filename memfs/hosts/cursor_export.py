"""Chats that were exported from Cursor as Markdown."""

from __future__ import annotations

import re

from memfs.core.records import Identity, Transcript
from memfs.hosts import markdown
from memfs.hosts.markdown import MarkdownTurn

HOST = "cursor"
_EXPORTED = re.compile(  # a title may have several lines
    rb"(?:\xef\xbb\xbf)?# (?:[^\n]{1,500}\n){1,9}?_Exported on [^\n]{1,200} from Cursor \("
)
_SPEAKERS = {"**User**": MarkdownTurn("user"), "**Cursor**": MarkdownTurn("assistant")}


def sessions(
    path: str,
    head: bytes,
    project: str,  # noqa: ARG001 - it names none
    session: str = "",  # noqa: ARG001 - no hook names one
) -> list[Identity]:
    """Return the one session of an export; none are in another file.

    It is named by its title and first turn: a later export of the same chat is the same session.
    """
    if not _EXPORTED.match(head.replace(b"\r\n", b"\n")):
        return []
    lines = markdown.lines_of(path)
    first = next((turn.text for turn in _parse_turns(lines)), "")
    name = f"export-{markdown.compile_marks([lines[0], first])[:16]}"
    return [Identity(name, "", whole=True, mark=markdown.compile_marks(lines))]


def read_session(path: str, identity: Identity) -> Transcript:
    """Read an export."""
    return markdown.build_transcript(_parse_turns(markdown.lines_of(path)), HOST, identity)


def _parse_turns(lines: list[str]) -> list[MarkdownTurn]:
    return markdown.turns(lines, _SPEAKERS.get)
