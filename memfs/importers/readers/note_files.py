"""Folders of text files in which tools keep notes, with or without front matter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from memfs.core import frontmatter
from memfs.hosts.jsonl import replace_surrogates
from memfs.importers import foreign_files, text_files
from memfs.importers.readers import json_files
from memfs.importers.readers.items import AnyItem, ToolBlock, ToolText, UnreadItem

MARKDOWN = (".md",)
_PEEKED = 500  # files of a folder that are looked at to tell whose it is
_HEAD = 8192  # bytes of one


class NoteFile(NamedTuple):
    """A text file: its name below its folder, front matter, body, and when it was written.

    `head` is the front matter as it stands there.
    """

    name: str
    meta: dict[str, object]
    body: str
    at: str
    head: str = ""

    @property
    def stem(self) -> str:
        return os.path.splitext(self.name)[0]

    @property
    def limit(self) -> int:
        """The limit that its front matter names; 0 for none, or what is no limit."""
        found = self.meta.get("limit")
        return found if type(found) is int and found > 0 else 0

    @property
    def importance(self) -> int:
        found = self.meta.get("importance")
        return found if type(found) is int else 5

    def text(self, *keys: str) -> str:
        """Return the first of these keys of the front matter that holds a word, on one line."""
        words = (" ".join(str(self.meta.get(key) or "").split()) for key in keys)
        return next(filter(None, words), "")

    def make_text(self, ident: str, noun: str, **more: Any) -> ToolText:
        """Make a text of its body and front matter, and `more` fields."""
        return replace(
            ToolText(ident, noun, self.body, self.at, head=self.head),
            **({"tags": tuple(text_files.list_tags(self.meta))} | more),
        )

    def make_block(self, label: str, noun: str, **more: Any) -> ToolBlock:
        """Make a block of its body and front matter, and `more` fields."""
        block = ToolBlock(
            label=label,
            noun=noun,
            text=self.body,
            description=self.text("description"),
            limit=self.limit,
            read_only=self.meta.get("read_only") is True,
            pinned=self.meta.get("pinned") is True,
            tags=tuple(text_files.list_tags(self.meta)),
            at=self.at,
            head=self.head,
        )
        return replace(block, **more)


def read_notes(
    folder: str, make_item: Callable[[NoteFile], AnyItem], ends: tuple[str, ...] = MARKDOWN
) -> Iterator[AnyItem]:
    """Yield an item for each file below a folder whose name ends so, and what cannot be read."""
    for path in foreign_files.walk_folder(folder, ends):
        name = replace_surrogates(os.path.relpath(path, folder).replace(os.sep, "/"))
        raw, problem = text_files.read_below(path, folder, name)
        if problem:
            yield UnreadItem(name, problem)
            continue
        head, body = text_files.split_note(raw)
        meta = text_files.parse_meta(frontmatter.strip_fences(head))
        at = text_files.get_modified_at(path)
        yield make_item(NoteFile(name, meta, body.strip("\n"), at, head))


def list_heads(folder: str) -> list[tuple[str, dict[str, object]]]:
    """Return (name, front matter) of the first Markdown files below a folder."""
    found = []
    for path in list_first_files(folder):
        if path.endswith(MARKDOWN):
            head, _ = frontmatter.split(json_files.read_head(path, _HEAD))
            meta = text_files.parse_meta(frontmatter.strip_fences(head))
            found.append((os.path.basename(path), meta))
    return found


def list_first_files(folder: str) -> list[str]:
    """List the first files below a folder, whatever they are; none of what is no folder."""
    if not os.path.isdir(folder):
        return []
    return list(islice(foreign_files.walk_folder(folder, ("",)), _PEEKED))
