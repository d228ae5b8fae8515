"""What is handed over to another tool: blocks, texts and conversations of one store."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from memfs.core import frontmatter, headings, yaml_edit
from memfs.core.block import MANAGED, Block
from memfs.core.privacy import storable
from memfs.core.records import Message, Passage
from memfs.store import archive, blocks

CONVERSATION = "conversation"  # the type of a note that is a session
_TITLE = 60  # characters


@dataclass(frozen=True)
class MemoryContents:
    """The memory of one store. `passages` are also facts and static entries.

    `heads` are the front matter of passages, by their ids; `sessions` are messages by (host,
    session).
    """

    name: str
    blocks: tuple[Block, ...]
    passages: tuple[Passage, ...]
    sessions: Mapping[tuple[str, str], tuple[Message, ...]]
    heads: Mapping[str, str] = field(default_factory=dict)


class Exporter(Protocol):
    """Writes the files that one tool reads."""

    NAME: str  # the word in `memfs export --to NAME`
    FOLDER: bool  # whether it is a folder of files; else one file, with others beside it
    SESSIONS: bool  # whether it has a place for conversations
    KEYS: tuple[str, ...]  # of front matter, which it writes itself: others' have no place

    def make_files(self, memory: MemoryContents) -> dict[str, bytes]:
        """Return the bytes of each file, by its name in the folder.

        Of one file the name is "", and that of another one is what follows the first one's stem.
        """


def make_title(passage: Passage) -> str:
    """Return what a passage is about, on one line: its first heading, or its beginning."""
    text = storable(passage.text)  # a part of a secret would not be found
    first = headings.find_heading(text) or next(filter(str.strip, text.split("\n")), "")
    line = " ".join(first.strip("#*->` \t").split())
    return (line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "…") or passage.id


def make_name(passage: Passage) -> str:
    """Return a name for the file of a passage: words of its title, and a hash that no other has."""
    title = unicodedata.normalize("NFKD", make_title(passage)).encode("ascii", "ignore").decode()
    slug = re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
    whole = f"{passage.id}\0{passage.text}".encode("utf-8", "replace")
    return "-".join(filter(None, (slug, hashlib.sha256(whole).hexdigest()[:12])))


def get_date(passage: Passage) -> str | None:
    """Return when a passage was made, None if that is unknown."""
    return passage.created_at if passage.created_at not in ("", archive.UNKNOWN) else None


def write_note(head: dict[str, object], body: str, own: str = "") -> bytes:
    """Return a Markdown file with front matter: that of its `own`, and keys that have a value.

    What memfs sets by itself is left out.
    """
    found = {key: value for key, value in head.items() if value not in (None, "", [], ())}
    first = dict.fromkeys(MANAGED) if own else {}
    written = yaml_edit.write(own.removeprefix(frontmatter.BOM), first | found, "\n")
    text = body.strip("\n")
    return f"{written}\n{text}\n".encode("utf-8", "replace")


def list_other_keys(head: str, *known: str) -> dict[str, object]:
    """Return the keys of front matter that memfs does not set by itself, without the known ones."""
    found = blocks.front_matter(head)
    return {key: value for key, value in found.items() if key not in (*MANAGED, *known)}


def write_conversation(host: str, session: str, messages: tuple[Message, ...]) -> bytes:
    """Return a session as a note of its own type: what was said, and by whom."""
    said = [each for each in messages if each.role != "tool"]
    head: dict[str, object] = {
        "title": f"{host} {session}",
        "type": CONVERSATION,
        "created": next((each.at for each in messages if each.at), None),
    }
    parts = [
        f"### {each.who.capitalize()} {each.at}".rstrip() + f"\n\n{each.text}" for each in said
    ]
    return write_note(head, "\n\n".join(parts))
