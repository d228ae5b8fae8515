"""Folders of text files in which tools keep notes, with or without front matter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from memfs.core import frontmatter
from memfs.core.errors import MemfsError
from memfs.hosts.jsonl import replace_surrogates
from memfs.importers import foreign_files, text_files
from memfs.importers.readers import json_files
from memfs.importers.readers.items import UnreadItem

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


def iter_notes(folder: str, ends: tuple[str, ...] = MARKDOWN) -> Iterator[NoteFile | UnreadItem]:
    """Yield the files below a folder whose names end so, and what of them cannot be read."""
    for path in foreign_files.walk_folder(folder, ends):
        name = replace_surrogates(os.path.relpath(path, folder).replace(os.sep, "/"))
        problem = foreign_files.find_problem(path, folder)
        try:
            raw = "" if problem else text_files.read_text(path, name)
        except MemfsError as error:
            problem = error.message
        if problem:
            yield UnreadItem(name, problem)
            continue
        head, body = text_files.split_note(raw)
        meta = text_files.parse_meta(frontmatter.strip_fences(head))
        yield NoteFile(name, meta, body.strip("\n"), text_files.get_modified_at(path), head)


def list_heads(folder: str) -> list[tuple[str, dict[str, object]]]:
    """Return (name, front matter) of the first Markdown files below a folder."""
    return [
        (os.path.basename(path), _read_meta(path))
        for path in list_first_files(folder)
        if path.endswith(MARKDOWN)
    ]


def list_first_files(folder: str) -> list[str]:
    """List the first files below a folder, whatever they are; none of what is no folder."""
    if not os.path.isdir(folder):
        return []
    return list(islice(foreign_files.walk_folder(folder, ("",)), _PEEKED))


def _read_meta(path: str) -> dict[str, object]:
    head, _ = frontmatter.split(json_files.read_head(path, _HEAD))
    return text_files.parse_meta(frontmatter.strip_fences(head))
