"""Letta Code: agents whose memory is a folder of Markdown, and the conversations beside them.

Three places are known: one such folder, the folder with those of the agents of its cloud
(`agents/ID/memory`), and that of its local backend (`agents`, `memfs/ID/memory`, `conversations`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from memfs.core import frontmatter
from memfs.core.block import Block
from memfs.core.records import Message
from memfs.files import outside
from memfs.hosts.jsonl import arguments, cap, flatten_content, remove_elements, text_of
from memfs.importers import foreign_files, text_files
from memfs.importers.readers import json_files, letta
from memfs.importers.readers.field_values import (
    Fields,
    get_object,
    list_objects,
    parse_object,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, OmittedItem, ToolBlock, ToolSession, UnreadItem
from memfs.store import blocks

NAME = "letta-code"
_MOST_LOOKED_AT = 20  # files, to recognise a folder
_SUFFIX = ".md"
_INDEX = "MEMORY.md"  # of a folder in the second layout
_SKILLS = "skills/"
_INVENTED = "2026-01-01"  # the day that its local backend begins to count at
_FOLDER = re.compile(r"\*\*Current working directory\*\*: ([^\n]{1,1000})")


def find(home: str, environment: Mapping[str, str]) -> list[str]:
    """List the folders of its local backend and of the agents of its cloud."""
    local = environment.get("LETTA_LOCAL_BACKEND_DIR") or f"{home}/.letta/lc-local-backend"
    return [path for path in (local, f"{home}/.letta/agents") if sniff(path)]


def sniff(path: str) -> bool:
    """Tell whether a folder is one of the three by what is in it."""
    try:
        return any(map(_is_memory, _find_memories(path).values()))
    except OSError:
        return False


def read(path: str) -> Iterator[AnyItem]:
    """Yield the files as blocks, and conversations as sessions."""
    memories = {agent: each for agent, each in _find_memories(path).items() if _is_memory(each)}
    names = _read_names(path)
    found: list[tuple[str, ToolBlock]] = []
    for agent, folder in memories.items():
        name = names.get(agent, agent)
        for item in _read_memory(folder, name):
            if isinstance(item, ToolBlock):
                found.append((name, item))
            else:
                yield item
    yield from letta.name_blocks(found)
    top = f"{path}/conversations"
    for each in outside.list_names(top):
        yield from _read_conversation(f"{top}/{each}")


def _find_memories(path: str) -> dict[str, str]:
    """Return the folders that may be an agent's memory, by the agents' ids."""
    for top in (f"{path}/memfs", path):
        found = {name: f"{top}/{name}/memory" for name in outside.list_names(top)}
        found = {name: folder for name, folder in found.items() if os.path.isdir(folder)}
        if found:
            return found
    inside = f"{path}/memory"
    return {"": inside if _is_memory(inside) else path}


def _is_memory(folder: str) -> bool:
    """Tell whether a folder is laid out as a memory, in the first layout or the second."""
    if _is_second(folder):
        return True
    system = f"{folder}/{letta.PINNED}".rstrip("/")
    if not os.path.isdir(system):
        return False
    found = islice(foreign_files.walk_folder(system, (_SUFFIX,)), _MOST_LOOKED_AT)
    return any("description" in _parse_head(each) for each in found)


def _is_second(folder: str) -> bool:
    return set(_parse_head(f"{folder}/{_INDEX}")) == {"name", "description"}


def _parse_head(path: str) -> dict[str, object]:
    return _parse_block(path, json_files.read_head(path, 2 * frontmatter.MOST)).meta


def _parse_block(path: str, text: str) -> Block:
    """Parse a file, which has the form of a block of ours, also where its head is no YAML."""
    return blocks.make("", "", path, text)


def _read_names(path: str) -> dict[str, str]:
    """Return the names of the agents by their ids."""
    found = {}
    for name in outside.list_names(f"{path}/agents"):
        row = json_files.read_object(f"{path}/agents/{name}")
        ident = text_of(row.get("id"))
        found[ident] = text_of(row.get("name")).strip() or ident
    return found


def _read_memory(folder: str, agent: str) -> Iterator[AnyItem]:
    """Yield the files of one agent's memory; what is always in its prompt comes first."""
    second = _is_second(folder)
    paths = [
        path[len(folder) + 1 :].replace(os.sep, "/")
        for path in foreign_files.walk_folder(folder, ("",))
    ]
    known = set(paths)
    memory = [name for name in paths if _is_part(name, known, second=second)]
    for name in sorted(memory, key=lambda name: (not _is_pinned(name, second=second), name)):
        yield _read_item(folder, name, agent, second=second)
    skills = [name for name in paths if name.startswith(_SKILLS)]
    others = len(paths) - len(memory) - len(skills)
    count = sum(name.endswith("/SKILL.md") for name in skills)
    for noun, number in (("skill", count), ("file", others)):
        if number:
            yield OmittedItem(noun, letta.NO_MEMORY, number)


def _is_part(name: str, names: set[str], *, second: bool) -> bool:
    """Tell whether a file is memory: in the second layout, where each folder has its index."""
    if not name.endswith(_SUFFIX) or name.startswith(_SKILLS):
        return False
    if not second:
        return name != f"{letta.DERIVED}{_SUFFIX}"
    folders = name.split("/")[:-1]
    tops = ["/".join(folders[: at + 1]) for at in range(len(folders))]
    return all(f"{top}/{_INDEX}" in names for top in tops)


def _is_pinned(name: str, *, second: bool) -> bool:
    return "/" not in name if second else name.startswith(letta.PINNED)


def _read_item(folder: str, name: str, agent: str, *, second: bool) -> ToolBlock | UnreadItem:
    """Make a block of a file."""
    path = f"{folder}/{name}"
    text, wrong = text_files.read_below(path, folder, name)
    if wrong:
        return UnreadItem(f"{agent}/{name}" if agent else name, wrong)
    file = _parse_block(path, text)
    label = name.removesuffix(_SUFFIX)
    return letta.make_block(
        label if second else label.removeprefix(letta.PINNED),
        file.body.removesuffix("\n"),
        pinned=_is_pinned(name, second=second),
        limit=file.meta.get("limit"),
        read_only=file.read_only,
        description=file.description or text_of(file.meta.get("name")),
        tags=file.tags,
    )


def _read_conversation(folder: str) -> Iterator[AnyItem]:
    """Yield the messages of one conversation, without what the program put into them."""
    head = json_files.read_object(f"{folder}/conversation.json")
    ident = "-".join(filter(None, (text_of(head.get(name)) for name in ("agent_id", "id"))))
    path = f"{folder}/messages.jsonl"
    if outside.status(path) is None:
        return
    ident = ident or os.path.basename(folder)
    rows: dict[str, Fields] = {}
    project, odd = "", 0
    for _, line in json_files.iter_lines(path):
        row = parse_object(line)
        if row.get("type") == "session":
            project = text_of(row.get("cwd")) or project
            continue
        row = get_object(row, "message") or row
        name = text_of(row.get("id"))
        if not name or not text_of(row.get("role")):
            odd += 1
            continue
        rows[name] = row  # a later line is how the message is now
        found = _FOLDER.search(flatten_content(_get_content(row)))
        project = project or (found[1].strip() if found else "")
    messages = [each for row in rows.values() for each in _list_messages(row, ident, project)]
    if messages:
        yield ToolSession(ident, "session", tuple(messages), project)
    if odd:
        yield UnreadItem(f"a line of {ident}", "it is no message", odd)


def _get_content(row: Fields) -> object:
    return row.get("content") or row.get("parts")  # as it was called at first


def _list_messages(row: Fields, session: str, project: str) -> Iterator[Message]:
    role, content = text_of(row.get("role")), _get_content(row)
    noted = get_object(row, "metadata")
    if noted.get("compaction"):  # it repeats what was said
        return
    at = parse_time(noted.get("created_at"), row.get("timestamp"))
    at = "" if at.startswith(_INVENTED) else at
    listed = content if isinstance(content, list) else [{"text": content}]
    texts = [flatten_content([part]) for part in listed]
    said = [remove_elements(letta.INJECTED, text) for text in texts]
    text, ident = "\n".join(filter(None, said)), f"{session}:{text_of(row.get('id'))}"
    common = ident, session, NAME, project, "", at
    if role in ("user", "assistant") and text:
        yield Message(*common, role, text)
    elif role == "toolResult" and text:
        yield Message(*common, "tool", cap(text), text_of(row.get("toolName")))
    calls = [each for each in list_objects({"": content}, "") if each.get("type") == "toolCall"]
    for number, call in enumerate(calls):
        given = arguments(call.get("arguments"))
        name = text_of(call.get("name"))
        yield Message(f"{ident}.{number}", session, NAME, project, "", at, "tool", given, name)
