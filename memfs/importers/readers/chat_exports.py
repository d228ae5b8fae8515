"""ChatGPT and Claude.ai: an export as its owner has it. All goes to their own store."""

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, TypeAlias

from memfs.core.errors import MemfsError, StoreError
from memfs.core.records import Identity, Message
from memfs.files import outside
from memfs.hosts.jsonl import arguments, cap, flatten_content, text_of
from memfs.importers import export_format
from memfs.importers.export_format import MeteredStream, UnpackMeter
from memfs.importers.readers import json_files
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
from memfs.importers.readers.items import AnyItem, Importer, ToolSession, ToolText, UnreadItem

_Open: TypeAlias = Callable[[], BinaryIO | MeteredStream]

_MOST_BYTES = 64 << 30  # unpacked; they are read in pieces


def list_files(path: str, names: re.Pattern[str]) -> Iterator[tuple[str, _Open]]:
    """Yield each file of an export (a zip, a folder or one file) by its name, and what opens it.

    Of a zip or folder those that are called by one of `names`, in order. A zip is foreign: nothing
    is unpacked onto the disk, no header is believed.
    """
    if os.path.isdir(path):
        tops = outside.list_names(path)
        inside = [f"{top}/{each}" for top in tops for each in outside.list_names(f"{path}/{top}")]
        for name in sorted(name for name in (*tops, *inside) if names.search(name)):
            yield name, partial(outside.open_stream, f"{path}/{name}")
        return
    with outside.open_stream(path) as handle:
        if handle.read(2) != b"PK":
            yield os.path.basename(path), partial(outside.open_stream, path)
            return
        meter = UnpackMeter(os.fstat(handle.fileno()).st_size, _MOST_BYTES)
        archive = zipfile.ZipFile(handle)
        found = {}
        for info in archive.infolist():
            meter.count_file()
            if names.search(info.orig_filename) and not export_format.find_zip_problem(info):
                found[info.orig_filename] = info
        for name, info in sorted(found.items()):
            yield name, partial(lambda info: MeteredStream(archive.open(info), meter), info)


def _sniff(names: re.Pattern[str], keys: tuple[str, ...], path: str) -> bool:
    """Tell whether an export holds a list whose first object has one of these keys."""
    with suppress(*export_format.DAMAGE, OSError, MemfsError):
        for name, opener in list_files(path, names):
            with opener() as stream:
                first = next(json_files.iter_elements(stream, name), None)
            if isinstance(first, dict) and any(key in first for key in keys):
                return True
    return False


def _iter_objects(path: str, names: re.Pattern[str]) -> Iterator[dict[str, object] | UnreadItem]:
    """Yield the objects in the files of an export, and what could not be read of each.

    Raises `OSError`, and `StoreError` for a zip that is damaged as a whole.
    """
    try:
        for name, opener in list_files(path, names):
            yield from _iter_elements(name, opener)
    except export_format.DAMAGE as error:
        why = export_format.describe_error(error)
        raise StoreError(
            f"{path} is damaged and cannot be read ({why})", "export the data again"
        ) from None


def _iter_elements(name: str, opener: _Open) -> Iterator[dict[str, object] | UnreadItem]:
    try:
        with opener() as stream:
            for element in json_files.iter_elements(stream, name):
                odd = UnreadItem(name, "one of its items is not a JSON object")
                yield element if isinstance(element, dict) else odd
    except StoreError as error:
        yield UnreadItem(name, error.message)
    except (*export_format.DAMAGE, OSError) as error:
        yield UnreadItem(name, export_format.describe_error(error))


# ChatGPT: the conversations as the person saw them. A conversation is a tree, in which an edited
# prompt begins a branch: `current_node` is where the person was. Left out are hidden and system
# messages, and what the model thought. Custom instructions and saved memories stand in messages of
# their own, those that held last in the newest.
_CHATGPT = re.compile(r"(^|/)conversations(-\d+)?\.json$")
_LEFT = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
_CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201|\u3010\\d+[^\u3010\u3011\n]{0,200}\u3011")
_FENCED = re.compile(r"```(.*)```", re.DOTALL)
_MEMORY = re.compile(r"^\d+\.\s*\[(\d{4}-\d\d-\d\d)\]\.?\s*(?=\S)", re.MULTILINE)
_CONTEXT = (("user_profile", "about_user_message"), ("user_instructions", "about_model_message"))
_ABOUT = ("About the user", "How to answer")


@dataclass
class _Context:
    """What held for all conversations at the latest time: instructions, and memories by day."""

    instructions: tuple[str, str] = "", ""
    memories: tuple[str, str] = "", ""


def _read_chatgpt(path: str) -> Iterator[AnyItem]:
    context = _Context()
    for number, each in enumerate(_iter_objects(path, _CHATGPT), 1):
        made = each if isinstance(each, UnreadItem) else _make_session(each, number, context)
        if isinstance(made, UnreadItem) or made.messages:
            yield made
    yield from _make_texts(context)


def _make_session(conversation: Fields, number: int, context: _Context) -> ToolSession | UnreadItem:
    ident = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    nodes = get_object(conversation, "mapping")
    if not ident or not nodes:
        return UnreadItem(
            f"conversation {ident or number}", "it has no messages" if ident else "it has no id"
        )
    parents = {name: text_of(get_object(nodes, name).get("parent")) for name in nodes}
    current = text_of(conversation.get("current_node")) or _find_last(nodes, parents)
    created = get_time(conversation, "create_time", "update_time")
    identity, messages = Identity(ident, ""), []
    at = created
    for name in list_branch(parents, current):
        message = get_object(get_object(nodes, name), "message")
        at = get_time(message, "create_time") or at
        _note_context(message, at, context)
        if made := _make_message(message, identity, name, at):
            messages.append(made)
    return ToolSession(ident, "conversation", tuple(messages), private=True)


def _find_last(nodes: Fields, parents: Mapping[str, str]) -> str:
    above = set(parents.values())
    ends = [name for name in nodes if name not in above]
    times = {
        name: parse_time(get_object(get_object(nodes, name), "message").get("create_time"))
        for name in ends
    }
    return max(reversed(ends), key=lambda name: times[name], default="")


def _make_message(message: Fields, identity: Identity, name: str, at: str) -> Message | None:
    author, content = get_object(message, "author"), get_object(message, "content")
    metadata = get_object(message, "metadata")
    role, kind = text_of(author.get("role")), text_of(content.get("content_type"))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if hidden or role not in ("user", "assistant", "tool") or kind in _LEFT:
        return None
    text = _format_content(content)
    recipient = text_of(message.get("recipient"))
    ident = text_of(message.get("id")) or name
    if role == "tool":
        return identity.make_message("chatgpt", ident, at, "tool", cap(text), "result")
    if role == "assistant" and recipient not in ("", "all"):
        return identity.make_message("chatgpt", ident, at, "tool", arguments(text), recipient)
    if kind == "code" and text:
        text = f"```{text_of(content.get('language')).replace('unknown', '')}\n{text}\n```"
    return identity.make_message("chatgpt", ident, at, role, _CITATION.sub("", text).strip())


def _format_content(content: Fields) -> str:
    """Return the text of a message; pictures and sounds are left out, what was spoken is not."""
    parts = content.get("parts")
    texts = [
        text_of(part.get("text")) if isinstance(part, dict) else text_of(part)
        for part in (parts if isinstance(parts, list) else [])
    ]
    texts = [text for text in texts if text.strip()]
    names = ("text", "result", "summary")
    other = next((text for key in names if (text := text_of(content.get(key)))), "")
    return "\n".join(texts) or other.strip()


def _note_context(message: Fields, at: str, context: _Context) -> None:
    content = get_object(message, "content")
    given = get_object(get_object(message, "metadata"), "user_context_message_data")
    parts = []
    for key, plain in _CONTEXT:
        text = text_of(content.get(key))
        fenced = _FENCED.search(text)  # as ChatGPT puts a person's words
        parts.append(text_of(given.get(plain)).strip() or (fenced[1] if fenced else text).strip())
    said = [f"{about}: {part}" for about, part in zip(_ABOUT, parts, strict=True) if part]
    if said and at >= context.instructions[0]:
        context.instructions = at, join_sections(*said)
    memories = text_of(content.get("model_set_context"))
    if memories.strip() and at >= context.memories[0]:
        context.memories = at, memories


def _make_texts(context: _Context) -> Iterator[ToolText]:
    at, instructions = context.instructions
    if instructions:
        text, tags = (
            join_sections("# Custom instructions of ChatGPT", instructions),
            ("custom-instructions",),
        )
        ident, noun = "custom instructions", "custom instruction"
        yield ToolText(ident, noun, text, at, tags, importance=7, private=True)
    at, memories = context.memories
    before, *found = _MEMORY.split(memories)
    days = [(before, "")] if not found else zip(found[1::2], found[::2], strict=True)
    for text, day in days:
        if text.strip():
            ident, said = f"memory {' '.join(text.split())[:200]}", parse_time(day) or at
            yield ToolText(ident, "memory", text.strip(), said, ("saved-memory",), private=True)


CHATGPT = Importer("chatgpt", partial(_sniff, _CHATGPT, ("mapping",)), _read_chatgpt)

# Claude.ai: its conversations, projects and memory, without what the model thought. A short
# attachment is part of its message, a long one a text.
_CLAUDE_AI = re.compile(r"(^|/)(conversations(-\d+)?|(projects|memories)(-\d+|/[^/]+)?)\.json$")
_LONG = 2000  # characters of an attachment that is a text of its own
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def _read_claude_ai(path: str) -> Iterator[AnyItem]:
    for number, each in enumerate(_iter_objects(path, _CLAUDE_AI), 1):
        if isinstance(each, UnreadItem):
            yield each
        elif "chat_messages" in each:
            yield from _read_conversation(each, number)
        elif "conversations_memory" in each or "project_memories" in each:
            yield from _read_memory(each)
        elif "prompt_template" in each or "docs" in each:
            yield from _read_project(each)
        else:
            yield UnreadItem(f"element {number}", "it is neither a conversation nor a project")


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
            message, identity.make_message("claude-ai", name, at, role, ""), attachments
        )
        for index, (file, text) in enumerate(attachments):
            if len(text) > _LONG:
                source = f"attachment {file} of {name}.{index}"
                whole = join_sections(f"# {file}" if file else "", text)
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
        text = join_sections(f"# {name}", get_text(project, "description"), instructions)
        at, tags = get_time(project, "updated_at", "created_at"), ("project-instructions",)
        source = f"instructions of {ident}"
        yield ToolText(source, "instruction", text, at, tags, project=name, private=True)
    for document in list_objects(project, "docs"):
        file = get_text(document, "filename")
        if text := get_text(document, "content"):
            at = parse_time(document.get("created_at"), project.get("created_at"))
            source, tags = f"document {get_text(document, 'uuid') or file}", ("document",)
            whole = join_sections(f"# {file}", text)
            yield ToolText(source, "document", whole, at, tags, project=name, private=True)


def _read_memory(memory: Fields) -> Iterator[AnyItem]:
    parts = {"": get_text(memory, "conversations_memory")}
    of_projects = get_object(memory, "project_memories")
    parts |= {name: get_text(of_projects, name) for name in of_projects}
    for project, text in parts.items():
        if text:
            ident = f"memory of project {project}" if project else "memory"
            yield ToolText(ident, "memory", text, tags=("memory",), private=True)


_KEYS = ("chat_messages", "prompt_template", "conversations_memory")
CLAUDE_AI = Importer("claude-ai", partial(_sniff, _CLAUDE_AI, _KEYS), _read_claude_ai)
