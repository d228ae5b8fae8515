"""opencode-agent-memory: blocks and a journal, each a Markdown file with front matter.

The blocks of `~/.config/opencode/memory` are its user's, those of `.opencode/memory` a project's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial

from memfs.importers import text_files
from memfs.importers.readers import note_files
from memfs.importers.readers.field_values import join_sections, parse_time
from memfs.importers.readers.items import AnyItem, OmittedItem
from memfs.importers.readers.note_files import NoteFile

NAME = "opencode-memory"
_FOLDERS = ("memory", "journal")
_ENTRY = re.compile(r"\d{8}-\d{6}-\d{3}\.md")  # the name of an entry in the journal
_BLOCK = {"label", "limit", "read_only"}


def find(home: str, environment: Mapping[str, str]) -> list[str]:  # noqa: ARG001 - it reads none
    """List its folders in the home, and that of the project in the current folder."""
    found = [f"{home}/.config/opencode/{name}" for name in _FOLDERS]
    return list(filter(_is_memory, [*found, os.path.abspath(".opencode/memory")]))


def sniff(path: str) -> bool:
    """Tell whether a folder is, or has, one of blocks or of a journal."""
    return any(map(_is_memory, _list_folders(path)))


def _list_folders(path: str) -> list[str]:
    inside = [f"{path}/{name}" for name in _FOLDERS]
    return list(filter(os.path.isdir, inside)) or [path]


def _is_memory(folder: str) -> bool:
    return any(
        (meta.keys() >= _BLOCK and "permalink" not in meta)
        or bool(_ENTRY.fullmatch(name) and "title" in meta)
        for name, meta in note_files.list_heads(folder)
    )


def read(path: str) -> Iterator[AnyItem]:
    """Yield a block, or a text of the journal, for each file."""
    for folder in filter(_is_memory, _list_folders(path)):
        private = os.path.basename(os.path.dirname(folder)) == "opencode"
        yield from note_files.read_notes(folder, partial(_make_item, private))


def _make_item(private: bool, note: NoteFile) -> AnyItem:
    if not note.body.strip():
        return OmittedItem("file", "without a text")
    if _ENTRY.fullmatch(os.path.basename(note.name)):
        return note.make_text(
            note.stem,
            "journal entry",
            text=join_sections(f"# {note.text('title')}", note.body),
            at=parse_time(note.text("created")) or note.at,
            tags=tuple(text_files.list_tags(note.meta, "journal")),
            project=note.text("project"),
        )
    return note.make_block(note.text("label") or note.stem, "block", private=private)
