"""basic-memory: projects are folders of Markdown notes. Its index, `memory.db`, is derived of them.

A note has front matter, free text, observations (`- [category] text #tag`) and relations
(`- type [[Note]]`); both stay in the text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial

from memfs.core import headings, yaml_edit
from memfs.files import outside
from memfs.hosts.jsonl import text_of
from memfs.importers import text_files
from memfs.importers.readers import json_files, note_files
from memfs.importers.readers.field_values import join_sections, parse_object, parse_time
from memfs.importers.readers.items import AnyItem, OmittedItem, UnreadItem
from memfs.importers.readers.note_files import NoteFile
from memfs.importers.writers.basic_memory import BLOCK, KEYS, PASSAGE
from memfs.importers.writers.contents import CONVERSATION

NAME = "basic-memory"
_CONFIG = "config.json"
_DECISIONS = ("decision", "decisions")  # the type of a note, or the name of its folder
_ITEM = re.compile(r"\s*[-*] (?:\[([^\]\[()]{1,60})\] )?(?=\S)")
_TASKS = (" ", "x", "X", "-")  # in the place of a category
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")


def find(home: str, environment: Mapping[str, str]) -> list[str]:
    """List its configuration, which names the folders of its projects."""
    folder = environment.get("BASIC_MEMORY_CONFIG_DIR") or f"{home}/.basic-memory"
    path = f"{folder}/{_CONFIG}"
    return [path] if any(map(os.path.isdir, _list_projects(path).values())) else []


def sniff(path: str) -> bool:
    """Tell whether a path is its configuration, or a folder of its notes."""
    path = outside.find_inside(path, _CONFIG)
    if os.path.isdir(path):
        return any(_is_note(meta) for _, meta in note_files.list_heads(path))
    return '"default_project"' in json_files.read_head(path, json_files.SETTINGS) and bool(
        _list_projects(path)
    )


def _is_note(meta: Mapping[str, object]) -> bool:
    """Tell notes by their keys; the permalink of a web page begins with a slash."""
    permalink = text_of(meta.get("permalink"))
    return bool(meta.get("title")) and bool(permalink or meta.get("type")) and permalink[:1] != "/"


def _list_projects(path: str) -> dict[str, str]:
    """Return the folders of the projects in a configuration, by their names."""
    found = parse_object(json_files.read_object(path).get("projects"))
    folders = {
        name: text_of(each) or text_of(parse_object(each).get("path"))
        for name, each in found.items()
    }
    return {name: os.path.expanduser(folder) for name, folder in folders.items() if folder}


def read(path: str) -> Iterator[AnyItem]:
    """Yield the notes of a folder, or of all projects of a configuration."""
    path = outside.find_inside(path, _CONFIG)
    if os.path.isdir(path):
        yield from note_files.read_notes(path, partial(_make_item, ""))
        return
    projects = _list_projects(path)
    for name, folder in projects.items():
        if os.path.isdir(folder):  # one alone holds what is of any project
            project = name if len(projects) > 1 else ""
            yield from note_files.read_notes(folder, partial(_make_item, project))
        else:
            yield UnreadItem(f"the project {name}", f"there is no folder {folder}")


def _make_item(project: str, note: NoteFile) -> AnyItem:
    kind = note.text("type").lower()
    if kind == CONVERSATION:
        return OmittedItem(CONVERSATION, "transcripts in prose")
    if not (note.body.strip() or kind == BLOCK):
        return OmittedItem("note", "without a text")
    title = note.text("title") or os.path.basename(note.stem)
    is_exported = kind in (BLOCK, PASSAGE)  # as `memfs export` wrote it
    found = () if is_exported else _list_categories(note.body)
    common = {
        "at": parse_time(note.text("created", "created_at"), note.text("modified")) or note.at,
        "tags": tuple(dict.fromkeys([*text_files.list_tags(note.meta), *found])),
        "project": project,
        "head": yaml_edit.write(note.head, dict.fromkeys(KEYS), "\n") if is_exported else note.head,
    }
    folder = os.path.basename(os.path.dirname(note.name)).lower()
    if kind == BLOCK or kind in _DECISIONS or folder in _DECISIONS:
        return note.make_block(
            note.text("label") or note.stem,
            BLOCK if kind == BLOCK else "decision",
            description=note.text("description") or ("" if kind == BLOCK else title),
            own=kind == BLOCK,
            **common,
        )
    titled = kind == PASSAGE or headings.find_heading(note.body) == title
    return note.make_text(
        note.text("permalink") or note.stem,
        "note",
        text=note.body if titled else join_sections(f"# {title}", note.body),
        importance=note.importance,
        document=kind != PASSAGE,
        own=kind == PASSAGE,
        **common,
    )


def _list_categories(body: str) -> Iterator[str]:
    """Yield the categories of the observations in a text, and the tags on its list items."""
    for line in headings.plain_lines(body):
        item = _ITEM.match(line)
        if item and item.group(1) not in _TASKS:
            yield from filter(None, [(item.group(1) or "").strip().lower()])
            yield from (tag.lower() for tag in _TAG.findall(line, item.end()))
