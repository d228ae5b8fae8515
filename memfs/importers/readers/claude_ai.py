"""Claude.ai: the conversations, projects and memory of an export. All goes to its owner's store.

Left out is what the model thought. A short attachment is part of its message, a long one a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfs.core.records import Identity, Message
from memfs.hosts.jsonl import arguments, cap, flatten_content, text_of
from memfs.importers.readers import export_files
from memfs.importers.readers.field_values import (
    Fields,
    get_object,
    get_text,
    get_time,
    join_sections,
    list_branch,
    list_objects,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, ToolSession, ToolText, UnreadItem, find_nowhere

NAME = "claude-ai"
_FILES = re.compile(r"(^|/)(conversations(-\d+)?|(projects|memories)(-\d+|/[^/]+)?)\.json$")
_KEYS = ("chat_messages", "prompt_template", "conversations_memory")
_LONG = 2000  # characters of an attachment that is a text of its own
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}

find = find_nowhere


def sniff(path: str) -> bool:
    """Tell whether a path is an export, a folder of one, or one of its files."""
    return export_files.find_element(path, _FILES, _KEYS)


def read(path: str) -> Iterator[AnyItem]:
    """Yield conversations as sessions; instructions, documents, attachments, memory as texts."""
    for number, each in enumerate(export_files.iter_objects(path, _FILES), 1):
        if isinstance(each, UnreadItem):
            yield each
        elif "chat_messages" in each:
            yield from _read_conversation(each, number)
        elif "conversations_memory" in each or "project_memories" in each:
            yield from _read_memory(each)
        elif "prompt_template" in each or "docs" in each:
            yield from _read_project(each)
        else:
            yield UnreadItem(f"element {number}", "it is no conversation and no project")


def _read_conversation(conversation: Fields, number: int) -> Iterator[AnyItem]:
    ident = get_text(conversation, "uuid")
    if not ident:
        yield UnreadItem(f"conversation {number}", "it has no id")
        return
    identity, messages = Identity(ident, ""), []
    at = get_time(conversation, "created_at", "updated_at")
    for place, message in enumerate(_list_messages(conversation)):
        at = get_time(message, "created_at") or at
        name = get_text(message, "uuid") or f"@{place}"
        role = _ROLES.get(get_text(message, "sender"), "")
        if not role:
            continue
        attachments = [
            (get_text(each, "file_name"), get_text(each, "extracted_content"))
            for each in list_objects(message, "attachments")
        ]
        messages += _make_messages(
            message, identity.make_message(NAME, name, at, role, ""), attachments
        )
        for index, (file, text) in enumerate(attachments):
            if len(text) > _LONG:
                heading = f"# {file}" if file else ""
                source = f"attachment {file} of {name}.{index}"
                whole = join_sections(heading, text)
                yield ToolText(source, "attachment", whole, at, ("attachment",), private=True)
    if messages:
        yield ToolSession(ident, "conversation", tuple(messages), private=True)


def _list_messages(conversation: Fields) -> list[Fields]:
    """Return the messages in their order; where a leaf is named, those on the way to it."""
    messages = list_objects(conversation, "chat_messages")
    by_name = {get_text(message, "uuid"): message for message in messages}
    parents = {name: get_text(each, "parent_message_uuid") for name, each in by_name.items()}
    branch = list_branch(parents, get_text(conversation, "current_leaf_message_uuid"))
    return [by_name[name] for name in branch] or messages


def _make_messages(
    message: Fields, base: Message, attachments: list[tuple[str, str]]
) -> list[Message]:
    """Return what was said in a message, and the calls and results of tools, in their order."""
    found: list[Message] = []
    for place, block in enumerate(list_objects(message, "content")):
        kind = block.get("type")
        part = base._replace(id=f"{base.id}.{place}" if found else base.id)
        if kind in ("text", "voice_note"):
            _add_said(found, part, text_of(block.get("text")))
        elif kind == "tool_use":
            text = arguments(block.get("input"))
            found.append(
                part._replace(role="tool", text=text, tool=get_text(block, "name") or "tool")
            )
        elif kind == "tool_result":
            text = cap(flatten_content(block.get("content")).strip())
            found.append(part._replace(role="tool", text=text, tool="result"))
    if not found:
        _add_said(found, base, text_of(message.get("text")))
    for number, (file, text) in enumerate(attachments):
        shown = text if len(text) <= _LONG else ""
        part = base._replace(id=f"{base.id}.attachment{number}" if found else base.id)
        _add_said(found, part, f"[attachment: {file or 'pasted text'}]\n{shown}")
    return found


def _add_said(found: list[Message], part: Message, text: str) -> None:
    """Add what was said to the message before it, or as one of its own."""
    if not text.strip():
        return
    if found and found[-1].role == part.role:
        found[-1] = found[-1]._replace(text=join_sections(found[-1].text, text).strip())
    else:
        found.append(part._replace(text=text.strip()))


def _read_project(project: Fields) -> Iterator[AnyItem]:
    if project.get("is_starter_project") is True:  # what Anthropic put there
        return
    ident, name = get_text(project, "uuid"), get_text(project, "name")
    instructions = get_text(project, "prompt_template")
    if instructions:
        description = get_text(project, "description")
        yield ToolText(
            f"instructions of {ident}",
            "instruction",
            join_sections(f"# {name}", description, instructions),
            get_time(project, "updated_at", "created_at"),
            ("project-instructions",),
            project=name,
            private=True,
        )
    for document in list_objects(project, "docs"):
        file = get_text(document, "filename")
        if text := get_text(document, "content"):
            yield ToolText(
                f"document {get_text(document, 'uuid') or file}",
                "document",
                join_sections(f"# {file}", text),
                parse_time(document.get("created_at"), project.get("created_at")),
                ("document",),
                project=name,
                private=True,
            )


def _read_memory(memory: Fields) -> Iterator[AnyItem]:
    """Yield what Claude.ai remembers of its user, and of each project."""
    parts = {"": get_text(memory, "conversations_memory")}
    of_projects = get_object(memory, "project_memories")
    parts |= {name: get_text(of_projects, name) for name in of_projects}
    for project, text in parts.items():
        if text:
            ident = f"memory of project {project}" if project else "memory"
            yield ToolText(ident, "memory", text, tags=("memory",), private=True)
