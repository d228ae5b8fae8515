"""A folder of text files, as Anthropic's memory tool serves one as `/memories`.

Its files have any names and no metadata. One becomes a block, or passages if it is too long; what
`memfs export --to markdown` wrote is taken as the block or passage that it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from memfs.importers import foreign_files, readers, text_files
from memfs.importers.readers import note_files
from memfs.importers.readers.field_values import parse_time
from memfs.importers.readers.items import (
    AnyItem,
    OmittedItem,
    ToolBlock,
    ToolText,
    UnreadItem,
    find_nowhere,
)
from memfs.importers.readers.note_files import NoteFile
from memfs.importers.writers.contents import CONVERSATION
from memfs.store import store_paths

NAME = "memory-folder"
_ENDS = (".md", ".markdown", ".txt", ".xml", ".json", ".yaml", ".yml", ".csv", ".org", ".rst", "")
_SHOWN = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".webp",
    ".pdf",
    ".canvas",
    ".base",
    ".excalidraw",
)
_PASSAGE = ("created_at", "importance")  # what the front matter of a passage has, and no block's
find = find_nowhere


def sniff(path: str) -> bool:
    """Tell whether a folder holds text files, and at most what texts show, of no other tool.

    Pictures and the like are named when it is read.
    """
    names = note_files.list_first_files(path)
    texts = [name for name in names if os.path.splitext(name)[1].lower() in _ENDS]
    shown = [name for name in names if os.path.splitext(name)[1].lower() in _SHOWN]
    return (
        bool(texts)
        and len(texts) + len(shown) == len(names)
        and not any(os.path.lexists(f"{path}/{name}") for name in (".git", store_paths.NAME))
        and not store_paths.is_store(os.path.realpath(path))
        and not foreign_files.is_kept_by_tool(path, texts)
        and not any(readers.get(name).sniff(path) for name in readers.NAMES if name != NAME)
    )


def read(path: str) -> Iterator[AnyItem]:
    """Yield a block for each file, and a text for what was a passage."""
    for note in note_files.iter_notes(path, ("",)):
        if isinstance(note, UnreadItem):
            yield note
        elif note.text("type") == CONVERSATION:
            yield OmittedItem(CONVERSATION, "transcripts in prose")
        elif not (note.body.strip() or note.limit):
            yield OmittedItem("file", "without a text")
        elif any(key in note.meta for key in _PASSAGE):
            yield _make_text(note)
        else:
            yield _make_block(note)


def _make_text(note: NoteFile) -> ToolText:
    return ToolText(
        ident=note.name,
        noun="passage",
        text=note.body,
        at=parse_time(note.text("created_at")),
        tags=tuple(text_files.list_tags(note.meta)),
        importance=note.importance,
        head=note.head,
        own=True,
    )


def _make_block(note: NoteFile) -> ToolBlock:
    return ToolBlock(
        label=note.stem,
        noun="file",
        text=note.body,
        description=note.text("description"),
        limit=note.limit,
        read_only=note.meta.get("read_only") is True,
        pinned=note.meta.get("pinned") is True,
        tags=tuple(text_files.list_tags(note.meta)),
        at=note.at,
        head=note.head,
        own="limit" in note.meta,
    )
