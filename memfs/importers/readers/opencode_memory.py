"""opencode-agent-memory: blocks and a journal, each a Markdown file with front matter.

The blocks of `~/.config/opencode/memory` are its user's, those of `.opencode/memory` a project's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from memfs.importers import text_files
from memfs.importers.readers import note_files
from memfs.importers.readers.field_values import join_sections, parse_time
from memfs.importers.readers.items import AnyItem, OmittedItem, ToolBlock, ToolText, UnreadItem
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
        for note in note_files.iter_notes(folder):
            if isinstance(note, UnreadItem):
                yield note
            elif not note.body.strip():
                yield OmittedItem("file", "without a text")
            elif _ENTRY.fullmatch(os.path.basename(note.name)):
                yield _make_entry(note)
            else:
                yield _make_block(note, private=os.path.basename(os.path.dirname(folder)))


def _make_entry(note: NoteFile) -> ToolText:
    return ToolText(
        ident=note.stem,
        noun="journal entry",
        text=join_sections(f"# {note.text('title')}", note.body),
        at=parse_time(note.text("created")) or note.at,
        tags=tuple(text_files.list_tags(note.meta, "journal")),
        project=note.text("project"),
        head=note.head,
    )


def _make_block(note: NoteFile, private: str) -> ToolBlock:
    return ToolBlock(
        label=note.text("label") or note.stem,
        noun="block",
        text=note.body,
        description=note.text("description"),
        limit=note.limit,
        read_only=note.meta.get("read_only") is True,
        pinned=note.meta.get("pinned") is True,
        tags=tuple(text_files.list_tags(note.meta)),
        private=private == "opencode",
        at=note.at,
        head=note.head,
    )
