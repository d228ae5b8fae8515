"""A folder of text files, as Anthropic's memory tool serves one as `/memories`.

Its files have any names and no metadata. One becomes a block, or passages if it is too long; what
`memfs export --to markdown` wrote is taken as the block or passage that it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from memfs.importers import foreign_files, readers
from memfs.importers.readers import note_files
from memfs.importers.readers.field_values import parse_time
from memfs.importers.readers.items import AnyItem, OmittedItem, find_nowhere
from memfs.importers.readers.note_files import NoteFile
from memfs.importers.writers.contents import CONVERSATION
from memfs.store import store_paths

NAME = "memory-folder"
_ENDS = (".md", ".markdown", ".txt", ".xml", ".json", ".yaml", ".yml", ".csv", ".org", ".rst", "")
_SHOWN = (
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".canvas", ".base", ".excalidraw",
)  # fmt: skip
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
    return note_files.read_notes(path, _make_item, ("",))


def _make_item(note: NoteFile) -> AnyItem:
    if note.text("type") == CONVERSATION:
        return OmittedItem(CONVERSATION, "transcripts in prose")
    if not (note.body.strip() or note.limit):
        return OmittedItem("file", "without a text")
    if any(key in note.meta for key in _PASSAGE):
        at = parse_time(note.text("created_at"))
        return note.make_text(note.name, "passage", at=at, importance=note.importance, own=True)
    return note.make_block(note.stem, "file", own="limit" in note.meta)
