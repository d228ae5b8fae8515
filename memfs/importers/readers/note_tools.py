"""Tools that keep notes in folders of text files, with or without front matter."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from memfs.core import frontmatter, headings, yaml_edit
from memfs.files import outside
from memfs.hosts.jsonl import replace_surrogates, text_of
from memfs.importers import foreign_files, text_files
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import join_sections, parse_object, parse_time
from memfs.importers.readers.items import (
    AnyItem,
    Importer,
    OmittedItem,
    ToolBlock,
    ToolText,
    UnreadItem,
)
from memfs.importers.writers import BLOCK, CONVERSATION, NOTE_KEYS, PASSAGE
from memfs.store import store_paths

_PEEKED = 500  # files of a folder that are looked at to tell whose it is
_HEAD = 8192  # bytes of one


class _Note(NamedTuple):
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
        return replace(
            ToolText(ident, noun, self.body, self.at, head=self.head),
            **({"tags": tuple(text_files.list_tags(self.meta))} | more),
        )

    def make_block(self, label: str, noun: str, **more: Any) -> ToolBlock:
        flags = self.meta.get("read_only") is True, self.meta.get("pinned") is True
        about = label, noun, self.body, self.text("description"), self.limit, *flags
        tags = tuple(text_files.list_tags(self.meta))
        return replace(ToolBlock(*about, tags, at=self.at, head=self.head), **more)


def _read_notes(
    folder: str, make_item: Callable[[_Note], AnyItem], ending: str = ".md"
) -> Iterator[AnyItem]:
    """Yield an item for each file below a folder whose name ends so, and what cannot be read."""
    for path in foreign_files.walk_folder(folder, (ending,)):
        name = replace_surrogates(os.path.relpath(path, folder).replace(os.sep, "/"))
        raw, problem = text_files.read_below(path, folder, name)
        if problem:
            yield UnreadItem(name, problem)
            continue
        head, body = text_files.split_note(raw)
        meta = text_files.parse_meta(frontmatter.strip_fences(head))
        at = text_files.get_modified_at(path)
        yield make_item(_Note(name, meta, body.strip("\n"), at, head))


def _list_heads(folder: str) -> list[tuple[str, dict[str, object]]]:
    found = []
    for path in _list_first_files(folder):
        if path.endswith(".md"):
            head, _ = frontmatter.split(json_files.read_head(path, _HEAD))
            meta = text_files.parse_meta(frontmatter.strip_fences(head))
            found.append((os.path.basename(path), meta))
    return found


def _list_first_files(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    return list(islice(foreign_files.walk_folder(folder, ("",)), _PEEKED))


# basic-memory: projects are folders of notes. Its index, `memory.db`, is derived of them.
# A note has front matter, free text, observations (`- [category] text #tag`) and relations
# (`- type [[Note]]`); both stay in the text.
_CONFIG = "config.json"
_DECISIONS = ("decision", "decisions")  # the type of a note, or the name of its folder
_ITEM = re.compile(r"\s*[-*] (?:\[([^\]\[()]{1,60})\] )?(?=\S)")
_TASKS = (" ", "x", "X", "-")  # in the place of a category
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")


def _find_basic_memory(home: str, environment: Mapping[str, str]) -> list[str]:
    folder = environment.get("BASIC_MEMORY_CONFIG_DIR") or f"{home}/.basic-memory"
    path = f"{folder}/{_CONFIG}"
    return [path] if any(map(os.path.isdir, _list_projects(path).values())) else []


def _sniff_basic_memory(path: str) -> bool:
    path = outside.find_inside(path, _CONFIG)
    if os.path.isdir(path):
        return any(_is_note(meta) for _, meta in _list_heads(path))
    return '"default_project"' in json_files.read_head(path, json_files.SETTINGS) and bool(
        _list_projects(path)
    )


def _is_note(meta: Mapping[str, object]) -> bool:
    """Tell notes by their keys; the permalink of a web page begins with a slash."""
    permalink = text_of(meta.get("permalink"))
    return bool(meta.get("title")) and bool(permalink or meta.get("type")) and permalink[:1] != "/"


def _list_projects(path: str) -> dict[str, str]:
    found = parse_object(json_files.read_object(path).get("projects"))
    folders = {
        name: text_of(each) or text_of(parse_object(each).get("path"))
        for name, each in found.items()
    }
    return {name: os.path.expanduser(folder) for name, folder in folders.items() if folder}


def _read_basic_memory(path: str) -> Iterator[AnyItem]:
    path = outside.find_inside(path, _CONFIG)
    if os.path.isdir(path):
        yield from _read_notes(path, partial(_make_note, ""))
        return
    projects = _list_projects(path)
    for name, folder in projects.items():
        if os.path.isdir(folder):  # one alone holds what is of any project
            project = name if len(projects) > 1 else ""
            yield from _read_notes(folder, partial(_make_note, project))
        else:
            yield UnreadItem(f"the project {name}", f"there is no folder {folder}")


def _make_note(project: str, note: _Note) -> AnyItem:
    kind = note.text("type").lower()
    if kind == CONVERSATION:
        return OmittedItem(CONVERSATION, "written as prose, not as messages")
    if not (note.body.strip() or kind == BLOCK):
        return OmittedItem("note", "without text")
    title = note.text("title") or os.path.basename(note.stem)
    is_exported = kind in (BLOCK, PASSAGE)  # as `memfs export` wrote it
    found = () if is_exported else _list_categories(note.body)
    head = yaml_edit.write(note.head, dict.fromkeys(NOTE_KEYS), "\n") if is_exported else note.head
    common = {
        "at": parse_time(note.text("created", "created_at"), note.text("modified")) or note.at,
        "tags": tuple(dict.fromkeys([*text_files.list_tags(note.meta), *found])),
        "project": project,
        "head": head,
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
    for line in headings.plain_lines(body):
        item = _ITEM.match(line)
        if item and item.group(1) not in _TASKS:
            yield from filter(None, [(item.group(1) or "").strip().lower()])
            yield from (tag.lower() for tag in _TAG.findall(line, item.end()))


BASIC_MEMORY = Importer("basic-memory", _sniff_basic_memory, _read_basic_memory, _find_basic_memory)

# opencode-agent-memory: the blocks of `~/.config/opencode/memory` are its user's, those of
# `.opencode/memory` a project's.
_FOLDERS = ("memory", "journal")
_ENTRY = re.compile(r"\d{8}-\d{6}-\d{3}\.md")  # the name of an entry in the journal
_BLOCK = {"label", "limit", "read_only"}


def _find_opencode(home: str, environment: Mapping[str, str]) -> list[str]:  # noqa: ARG001 - it reads none
    found = [f"{home}/.config/opencode/{name}" for name in _FOLDERS]
    return list(filter(_is_memory, [*found, os.path.abspath(".opencode/memory")]))


def _list_folders(path: str) -> list[str]:
    inside = [f"{path}/{name}" for name in _FOLDERS]
    return list(filter(os.path.isdir, inside)) or [path]


def _is_memory(folder: str) -> bool:
    return any(
        (meta.keys() >= _BLOCK and "permalink" not in meta)
        or bool(_ENTRY.fullmatch(name) and "title" in meta)
        for name, meta in _list_heads(folder)
    )


def _read_opencode(path: str) -> Iterator[AnyItem]:
    for folder in filter(_is_memory, _list_folders(path)):
        private = os.path.basename(os.path.dirname(folder)) == "opencode"
        yield from _read_notes(folder, partial(_make_opencode, private))


def _make_opencode(private: bool, note: _Note) -> AnyItem:
    if not note.body.strip():
        return OmittedItem("file", "without text")
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


OPENCODE_MEMORY = Importer(
    "opencode-memory",
    lambda path: any(map(_is_memory, _list_folders(path))),
    _read_opencode,
    _find_opencode,
)

# A folder of text files, as Anthropic's memory tool serves one as `/memories`: its files have any
# names and no metadata. What `memfs export --to markdown` wrote is taken as what it was.
_ENDS = (".md", ".markdown", ".txt", ".xml", ".json", ".yaml", ".yml", ".csv", ".org", ".rst", "")
_SHOWN = (
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".canvas", ".base", ".excalidraw",
)  # fmt: skip
_PASSAGE_KEYS = ("created_at", "importance")  # which no block has


def _sniff_memory_folder(path: str) -> bool:
    """Tell whether a folder holds text files, and at most what texts show: it is named later."""
    names = _list_first_files(path)
    texts = [name for name in names if os.path.splitext(name)[1].lower() in _ENDS]
    shown = [name for name in names if os.path.splitext(name)[1].lower() in _SHOWN]
    return (
        bool(texts)
        and len(texts) + len(shown) == len(names)
        and not any(os.path.lexists(f"{path}/{name}") for name in (".git", store_paths.NAME))
        and not store_paths.is_store(os.path.realpath(path))
        and not foreign_files.is_kept_by_tool(path, texts)
    )


def _make_file(note: _Note) -> AnyItem:
    if note.text("type") == CONVERSATION:
        return OmittedItem(CONVERSATION, "written as prose, not as messages")
    if not (note.body.strip() or note.limit):
        return OmittedItem("file", "without text")
    if any(key in note.meta for key in _PASSAGE_KEYS):
        at = parse_time(note.text("created_at"))
        return note.make_text(note.name, "passage", at=at, importance=note.importance, own=True)
    return note.make_block(note.stem, "file", own="limit" in note.meta)


MEMORY_FOLDER = Importer(
    "memory-folder", _sniff_memory_folder, lambda path: _read_notes(path, _make_file, "")
)
